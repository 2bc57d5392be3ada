import Transport
import Wire

/// Talks to a running fleet's control socket: what `fleetctl virtual do` and `virtual journal` use.
public struct ControlClient: Sendable {
  private let path: String

  /// - Parameter path: the control socket, as `FLEETCTL_VIRTUAL` names it.
  public init(path: String) { self.path = path }

  /// One row of `virtual do --list`.
  public struct Action: Equatable, Sendable {
    public let name: String
    public let summary: String
    public let keys: [String]
  }

  /// One phone of the fleet.
  public struct Phone: Equatable, Sendable {
    public let number: Int
    public let name: String
    public let udid: String
    public let ios: String
    public let attached: Bool
    public let locked: Bool
  }

  /// Does one action to one phone; returns when it is done.
  public func perform(_ action: String, on phone: String, _ values: [String: String] = [:]) throws(ActionError) {
    throw unreachable
  }

  public func actions() throws(ActionError) -> [Action] { throw unreachable }

  public func phones() throws(ActionError) -> [Phone] { throw unreachable }

  /// The journal's lines, oldest first, each handed over as it comes.
  ///
  /// - Parameters:
  ///   - follow: go on with new lines until the fleet ends or `each` answers false.
  ///   - each: one entry; false ends the reading.
  public func journal(follow: Bool = false, _ each: (JSON) -> Bool) throws(ActionError) { throw unreachable }

  private var unreachable: ActionError {
    ActionError(
      "The virtual fleet at \(path) does not answer. It may have ended. Start one: fleetctl virtual.")
  }
}
