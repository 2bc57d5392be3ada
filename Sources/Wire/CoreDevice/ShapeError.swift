/// A message came whole, but what it must hold is missing or of another kind.
public struct ShapeError: Error, Equatable, Sendable {
  /// The key that was looked for, such as `CoreDevice.output`.
  public var key: String

  public init(_ key: String) { self.key = key }

  public var sentence: String { "a message has no sensible \(key)" }
}

extension XPCValue {
  func text(_ key: String) throws(ShapeError) -> String {
    guard let text = self[key]?.string else { throw ShapeError(key) }
    return text
  }

  func integer(_ key: String) throws(ShapeError) -> Int64 {
    guard let number = self[key]?.int else { throw ShapeError(key) }
    return Int64(number)
  }

  func flag(_ key: String) throws(ShapeError) -> Bool {
    guard let flag = self[key]?.bool else { throw ShapeError(key) }
    return flag
  }

  func entries(_ key: String) throws(ShapeError) -> [String: XPCValue] {
    guard let entries = self[key]?.dictionary else { throw ShapeError(key) }
    return entries
  }
}
