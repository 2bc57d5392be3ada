/// What an NSKeyedArchiver archive holds, as far as errors of a phone need it.
public indirect enum Archived: Equatable, Sendable {
  case null
  case string(String)
  case integer(Int64)
  case real(Double)
  case boolean(Bool)
  case data([UInt8])
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case array([Archived])
  case dictionary([String: Archived])
  case error(domain: String, code: Int64, userInfo: [String: Archived])
  /// An object of a class that means nothing here, by its name.
  case other(String)
}

extension Archived {
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var array: [Archived]? { if case .array(let value) = self { value } else { nil } }
  public var dictionary: [String: Archived]? { if case .dictionary(let value) = self { value } else { nil } }
}

/// Why bytes are no archive that we take.
public enum ArchiveError: Error, Equatable, Sendable {
  case notAPlist(PlistError)
  /// A property list without an archive's parts.
  case notAnArchive
  /// A reference to an object that is not there.
  case badReference(UInt64)
  /// Objects that hold one another without an end, or more levels than any error has.
  case tooDeep
  /// More objects than any error has, counted as often as they are used.
  case tooManyObjects

  public var sentence: String {
    switch self {
    case .notAPlist(let error): error.sentence
    case .notAnArchive: "the property list is no archive of objects"
    case .badReference(let number): "the archive has no object \(number)"
    case .tooDeep: "the archive's objects are nested more than \(KeyedArchive.maximumDepth) levels deep"
    case .tooManyObjects: "the archive holds more than \(KeyedArchive.maximumObjects) objects"
    }
  }
}
