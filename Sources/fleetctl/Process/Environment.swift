import Glibc

/// The process's environment variables, handed in so that tests can bring their own.
struct Environment: Sendable {
  private let read: @Sendable (String) -> String?

  static let process = Environment { name in getenv(name).map { String(cString: $0) } }

  init(_ read: @escaping @Sendable (String) -> String?) { self.read = read }

  init(_ values: [String: String]) { read = { values[$0] } }

  subscript(name: String) -> String? { read(name) }
}
