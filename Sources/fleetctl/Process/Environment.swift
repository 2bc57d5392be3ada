import FoundationEssentials

/// Environment variables by name, handed in so that tests can bring their own.
typealias Environment = [String: String]

extension Environment {
  /// This process's own.
  static var process: Environment { ProcessInfo.processInfo.environment }
}
