import CPlist

/// Why bytes are no property list that we take.
public enum PlistError: Error, Equatable, Sendable {
  case malformed
  case tooDeep
  case tooLarge

  public var sentence: String {
    switch self {
    case .malformed: "the bytes are no property list"
    case .tooDeep: "the property list is nested more than \(PlistGuard.maximumDepth) levels deep"
    case .tooLarge: "the property list is larger than any phone sends"
    }
  }
}

extension Plist {
  /// Reads the XML or the binary form.
  ///
  /// - Throws: `PlistError`; no input crashes or takes unbounded memory (`PlistGuard`).
  public init(parsing bytes: [UInt8]) throws(PlistError) {
    let outcome: Result<Plist, PlistError> = bytes.withUnsafeBytes { raw in
      if let refusal = PlistGuard.refusal(of: raw) { return .failure(refusal) }
      var root: plist_t?
      plist_from_memory(raw.bindMemory(to: CChar.self).baseAddress, UInt32(raw.count), &root)
      guard let root else { return .failure(.malformed) }
      defer { plist_free(root) }
      return .success(Plist(copying: root))
    }
    self = try outcome.get()
  }

  /// The XML form, with its header, as usbmux demands.
  public var xml: [UInt8] { serialised(by: plist_to_xml) }

  /// The binary form (`bplist00`).
  public var binary: [UInt8] { serialised(by: plist_to_bin) }

  private func serialised(
    by write: (plist_t?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, UnsafeMutablePointer<UInt32>?) -> Void
  ) -> [UInt8] {
    let root = makeTree()
    defer { plist_free(root) }
    var text: UnsafeMutablePointer<CChar>?
    var length: UInt32 = 0
    write(root, &text, &length)
    guard let text else { return [] }
    defer { plist_to_xml_free(text) }
    return [UInt8](UnsafeRawBufferPointer(start: text, count: Int(length)))
  }
}

// MARK: - Trees of the C library

extension Plist {
  /// Copies a C tree; the caller keeps and frees it.
  public init(copying node: plist_t) {
    switch plist_get_node_type(node) {
    case PLIST_BOOLEAN:
      var value: UInt8 = 0
      plist_get_bool_val(node, &value)
      self = .boolean(value != 0)
    case PLIST_UINT:
      var value: UInt64 = 0
      plist_get_uint_val(node, &value)
      // 2.2.0 tells a negative number from a huge one by nothing: phones send small negatives, never 2^63.
      self = .integer(Int64(bitPattern: value))
    case PLIST_REAL:
      var value = 0.0
      plist_get_real_val(node, &value)
      self = .real(value)
    case PLIST_STRING, PLIST_KEY:
      self = .string(Self.text(of: node))
    case PLIST_DATA:
      var length: UInt64 = 0
      let start = plist_get_data_ptr(node, &length)
      self = .data([UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(length))))
    case PLIST_DATE:
      var seconds: Int32 = 0
      var micros: Int32 = 0
      plist_get_date_val(node, &seconds, &micros)
      self = .date(Double(seconds) + Double(micros) / 1e6)
    case PLIST_UID:
      var value: UInt64 = 0
      plist_get_uid_val(node, &value)
      self = .uid(value)
    case PLIST_ARRAY:
      self = .array(
        (0..<plist_array_get_size(node)).compactMap { plist_array_get_item(node, $0).map(Plist.init(copying:)) })
    case PLIST_DICT:
      self = .dictionary(Self.entries(of: node))
    default:
      self = .string("")
    }
  }

  private static func text(of node: plist_t) -> String {
    var copy: UnsafeMutablePointer<CChar>?
    if plist_get_node_type(node) == PLIST_KEY {
      plist_get_key_val(node, &copy)
    } else {
      plist_get_string_val(node, &copy)
    }
    guard let copy else { return "" }
    defer { plist_to_xml_free(copy) }
    return String(cString: copy)
  }

  private static func entries(of node: plist_t) -> [String: Plist] {
    var entries: [String: Plist] = [:]
    var iterator: plist_dict_iter?
    plist_dict_new_iter(node, &iterator)
    defer { plist_to_xml_free(iterator?.assumingMemoryBound(to: CChar.self)) }
    while true {
      var key: UnsafeMutablePointer<CChar>?
      var value: plist_t?
      plist_dict_next_item(node, iterator, &key, &value)
      guard let key else { return entries }
      defer { plist_to_xml_free(key) }
      if let value { entries[String(cString: key)] = Plist(copying: value) }
    }
  }

  /// A C tree of this value; the caller frees it with `plist_free`.
  public func makeTree() -> plist_t? {
    switch self {
    case .string(let value): plist_new_string(value)
    case .integer(let value): plist_new_uint(UInt64(bitPattern: value))
    case .unsigned(let value): plist_new_uint(value)
    case .real(let value): plist_new_real(value)
    case .boolean(let value): plist_new_bool(value ? 1 : 0)
    case .data(let bytes):
      bytes.withUnsafeBytes {
        plist_new_data($0.bindMemory(to: CChar.self).baseAddress, UInt64($0.count))
      }
    case .date(let seconds):
      plist_new_date(
        Int32(clamping: Int(seconds.rounded(.down))), Int32((seconds - seconds.rounded(.down)) * 1e6))
    case .uid(let value): plist_new_uid(value)
    case .array(let values):
      {
        let node = plist_new_array()
        for value in values { plist_array_append_item(node, value.makeTree()) }
        return node
      }()
    case .dictionary(let entries):
      {
        let node = plist_new_dict()
        // Sorted, so that the same value always gives the same bytes.
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
          plist_dict_set_item(node, key, value.makeTree())
        }
        return node
      }()
    }
  }
}
