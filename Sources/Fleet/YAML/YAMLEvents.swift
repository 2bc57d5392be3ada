import CYaml

/// libyaml's events, one after another.
final class YAMLEvents {
  /// Where something stands; both counted from 1.
  struct Mark: Equatable {
    var line: Int
    var column: Int
  }

  enum Event: Equatable {
    case streamStart, streamEnd, documentEnd
    case documentStart
    case alias(String)
    case scalar(String, plain: Bool)
    case sequenceStart(flow: Bool)
    case mappingStart(flow: Bool)
    case sequenceEnd, mappingEnd
  }

  struct Item {
    var event: Event
    var mark: Mark
    var anchor: String?
    /// An explicit tag such as `!!str`.
    var tag: String?
  }

  struct Failure: Error, Equatable {
    var mark: Mark
    var sentence: String
  }

  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  init(_ content: [UInt8]) {
    // The library keeps the pointer, so the bytes stay where they are until the end.
    // Never of no length: the library refuses a null pointer.
    bytes = .allocate(capacity: max(content.count, 1))
    _ = bytes.initialize(from: content)
    parser = .allocate(capacity: 1)
    parser.initialize(to: yaml_parser_t())
    yaml_parser_initialize(parser)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, content.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    bytes.deallocate()
  }

  func next() throws(Failure) -> Item {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
    defer { yaml_event_delete(&event) }
    let mark = Self.mark(event.start_mark)
    let data = event.data
    switch event.type {
    case YAML_STREAM_START_EVENT: return Item(event: .streamStart, mark: mark)
    case YAML_DOCUMENT_START_EVENT: return Item(event: .documentStart, mark: mark)
    case YAML_DOCUMENT_END_EVENT: return Item(event: .documentEnd, mark: mark)
    case YAML_ALIAS_EVENT: return Item(event: .alias(Self.text(data.alias.anchor) ?? ""), mark: mark)
    case YAML_SCALAR_EVENT:
      let scalar = data.scalar
      let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      return Item(
        event: .scalar(text, plain: scalar.style == YAML_PLAIN_SCALAR_STYLE), mark: mark,
        anchor: Self.text(scalar.anchor), tag: Self.text(scalar.tag))
    case YAML_SEQUENCE_START_EVENT:
      let start = data.sequence_start
      return Item(
        event: .sequenceStart(flow: start.style == YAML_FLOW_SEQUENCE_STYLE), mark: mark,
        anchor: Self.text(start.anchor), tag: Self.text(start.tag))
    case YAML_MAPPING_START_EVENT:
      let start = data.mapping_start
      return Item(
        event: .mappingStart(flow: start.style == YAML_FLOW_MAPPING_STYLE), mark: mark,
        anchor: Self.text(start.anchor), tag: Self.text(start.tag))
    case YAML_SEQUENCE_END_EVENT: return Item(event: .sequenceEnd, mark: mark)
    case YAML_MAPPING_END_EVENT: return Item(event: .mappingEnd, mark: mark)
    default: return Item(event: .streamEnd, mark: mark)
    }
  }

  private var failure: Failure {
    let parser = parser.pointee
    let problem = parser.problem.map { String(cString: $0) } ?? "the YAML cannot be read"
    let context = parser.context.map { " " + String(cString: $0) } ?? ""
    let sentence = "not YAML\(context): \(problem)"
    // The reader's own failures come with an offset in place of a mark.
    guard parser.error == YAML_READER_ERROR else {
      return Failure(mark: Self.mark(parser.problem_mark), sentence: sentence)
    }
    let (line, column) = YAMLBytes.place(of: min(parser.problem_offset, bytes.count), in: Array(bytes))
    return Failure(mark: Mark(line: line, column: column), sentence: sentence)
  }

  private static func mark(_ mark: yaml_mark_t) -> Mark { Mark(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}
