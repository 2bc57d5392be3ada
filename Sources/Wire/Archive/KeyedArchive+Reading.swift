/// Reads and writes NSKeyedArchiver's form: a table of objects that refer to one another by number.
public enum KeyedArchive {
  /// An error's chain has about four links of three levels each.
  public static let maximumDepth = 64
  public static let maximumObjects = 20_000

  /// The archive's root object.
  ///
  /// - Throws: `ArchiveError`; no input crashes, loops or takes unbounded memory.
  public static func decode(_ bytes: [UInt8]) throws(ArchiveError) -> Archived {
    let plist: Plist
    do { plist = try Plist(parsing: bytes) } catch { throw .notAPlist(error) }
    guard let objects = plist["$objects"]?.array, case .uid(let root)? = plist["$top"]?["root"] else {
      throw .notAnArchive
    }
    var decoder = ArchiveDecoder(objects: objects)
    return try decoder.object(root, depth: 1)
  }
}

private struct ArchiveDecoder {
  let objects: [Plist]
  private var visited = 0

  init(objects: [Plist]) { self.objects = objects }

  mutating func object(_ number: UInt64, depth: Int) throws(ArchiveError) -> Archived {
    // Objects may be shared, also in circles: what is counted is each visit, not each object.
    visited += 1
    guard depth <= KeyedArchive.maximumDepth else { throw .tooDeep }
    guard visited <= KeyedArchive.maximumObjects else { throw .tooManyObjects }
    guard let index = Int(exactly: number), objects.indices.contains(index) else { throw .badReference(number) }
    switch objects[index] {
    case .string("$null"): return .null
    case .string(let value): return .string(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .integer(Int64(bitPattern: value))
    case .real(let value): return .real(value)
    case .boolean(let value): return .boolean(value)
    case .data(let value): return .data(value)
    case .date(let value): return .date(value)
    case .uid(let value): return try object(value, depth: depth + 1)
    case .array: throw .notAnArchive
    case .dictionary(let fields): return try composed(fields, depth: depth)
    }
  }

  /// Told by its fields rather than by its class: subclasses and mutable variants have the same ones.
  private mutating func composed(_ fields: [String: Plist], depth: Int) throws(ArchiveError) -> Archived {
    if fields["NSDomain"] != nil || fields["NSCode"] != nil { return try error(fields, depth: depth) }
    if fields["NS.keys"] != nil {
      let keys = try list(fields["NS.keys"], depth: depth)
      let values = try list(fields["NS.objects"], depth: depth)
      guard keys.count == values.count else { throw .notAnArchive }
      // Keys of other kinds mean nothing to an error.
      let pairs = zip(keys, values).compactMap { key, value in key.string.map { ($0, value) } }
      return .dictionary(Dictionary(pairs, uniquingKeysWith: { _, last in last }))
    }
    if fields["NS.objects"] != nil { return .array(try list(fields["NS.objects"], depth: depth)) }
    for key in ["NS.string", "NS.relative", "NS.data", "NS.uuidbytes"] {
      if let value = fields[key] { return try inline(value, depth: depth) }
    }
    if case .real(let seconds)? = fields["NS.time"] { return .date(seconds) }
    return .other(className(fields))
  }

  private mutating func error(_ fields: [String: Plist], depth: Int) throws(ArchiveError) -> Archived {
    guard let domain = try fields["NSDomain"].map({ value throws(ArchiveError) in try inline(value, depth: depth) }),
      case .string(let domain) = domain, let code = fields["NSCode"]?.int
    else { throw .notAnArchive }
    var userInfo: [String: Archived] = [:]
    if let value = fields["NSUserInfo"], case .dictionary(let entries) = try inline(value, depth: depth) {
      userInfo = entries
    }
    return .error(domain: domain, code: Int64(code), userInfo: userInfo)
  }

  private mutating func list(_ field: Plist?, depth: Int) throws(ArchiveError) -> [Archived] {
    guard case .array(let values)? = field else { throw .notAnArchive }
    var list: [Archived] = []
    for value in values { list.append(try inline(value, depth: depth)) }
    return list
  }

  /// A field refers to its value, or is one.
  private mutating func inline(_ value: Plist, depth: Int) throws(ArchiveError) -> Archived {
    switch value {
    case .uid(let number): return try object(number, depth: depth + 1)
    case .string(let value): return .string(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .integer(Int64(bitPattern: value))
    case .real(let value): return .real(value)
    case .boolean(let value): return .boolean(value)
    case .data(let value): return .data(value)
    case .date(let value): return .date(value)
    case .array, .dictionary: throw .notAnArchive
    }
  }

  private func className(_ fields: [String: Plist]) -> String {
    guard case .uid(let number)? = fields["$class"], let index = Int(exactly: number), objects.indices.contains(index)
    else { return "" }
    return objects[index]["$classname"]?.string ?? ""
  }
}
