extension KeyedArchive {
  /// The archive of one root object, as a binary property list.
  public static func encode(_ root: Archived) -> [UInt8] {
    var encoder = ArchiveEncoder()
    let number = encoder.add(root)
    let plist: Plist = [
      "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(number)],
      "$objects": .array(encoder.objects),
    ]
    return plist.binary
  }
}

private struct ArchiveEncoder {
  private(set) var objects: [Plist] = ["$null"]
  private var classes: [String: UInt64] = [:]

  /// - Returns: the number by which the object is referred to.
  mutating func add(_ value: Archived) -> UInt64 {
    switch value {
    case .null: return 0
    case .string(let value): return append(.string(value))
    case .integer(let value): return append(.integer(value))
    case .real(let value): return append(.real(value))
    case .boolean(let value): return append(.boolean(value))
    case .data(let value): return append(.data(value))
    case .date(let seconds): return append(["NS.time": .real(seconds)], of: "NSDate")
    case .array(let values): return append(["NS.objects": .array(values.map { .uid(add($0)) })], of: "NSArray")
    case .dictionary(let entries):
      let sorted = entries.sorted { $0.key < $1.key }
      let keys = sorted.map { Plist.uid(add(.string($0.key))) }
      let values = sorted.map { Plist.uid(add($0.value)) }
      return append(["NS.keys": .array(keys), "NS.objects": .array(values)], of: "NSDictionary")
    case .error(let domain, let code, let userInfo):
      let info = userInfo.isEmpty ? 0 : add(.dictionary(userInfo))
      return append(
        ["NSDomain": .uid(add(.string(domain))), "NSCode": .integer(code), "NSUserInfo": .uid(info)], of: "NSError")
    case .other(let name): return append([:], of: name)
    }
  }

  private mutating func append(_ object: Plist) -> UInt64 {
    objects.append(object)
    return UInt64(objects.count - 1)
  }

  private mutating func append(_ fields: [String: Plist], of name: String) -> UInt64 {
    var fields = fields
    fields["$class"] = .uid(number(of: name))
    return append(.dictionary(fields))
  }

  private mutating func number(of name: String) -> UInt64 {
    if let number = classes[name] { return number }
    let number = append(["$classname": .string(name), "$classes": .array([.string(name), "NSObject"])])
    classes[name] = number
    return number
  }
}
