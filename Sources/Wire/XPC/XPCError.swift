/// Why bytes are no XPC object or message that we take.
public enum XPCError: Error, Equatable, Sendable {
  /// The bytes end inside an object, or a length points past their end.
  case cutShort
  case wrongMagic(UInt32)
  case unknownVersion(UInt32)
  case unknownType(UInt32)
  /// A length and what it counts disagree, or bytes follow the object.
  case wrongLength
  case tooDeep
  case tooManyObjects
  case tooLarge(bytes: UInt64, limit: Int)

  public var sentence: String {
    switch self {
    case .cutShort: "an XPC object ends before its time"
    case .wrongMagic(let magic): "0x\(String(magic, radix: 16)) begins no XPC message"
    case .unknownVersion(let version): "XPC of version \(version) is not known"
    case .unknownType(let type): "an XPC object of the type 0x\(String(type, radix: 16)) is not known"
    case .wrongLength: "an XPC object has another length than it says"
    case .tooDeep: "XPC objects are nested more than \(XPCValue.maximumDepth) levels deep"
    case .tooManyObjects: "an XPC message holds more than \(XPCValue.maximumObjects) objects"
    case .tooLarge(let bytes, let limit): "an XPC message claims \(bytes) bytes; \(limit) are allowed"
    }
  }
}
