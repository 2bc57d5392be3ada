import Fleet
import Transport

/// A command of the lab that brings a phone into a state, ready to be run.
public struct LabCommand: Equatable, Sendable {
  /// The program, looked for in PATH, and its arguments.
  public var argv: [String]
  /// Laid over the environment of this process.
  public var environment: [String: String]

  public init(argv: [String], environment: [String: String]) {
    self.argv = argv
    self.environment = environment
  }
}

/// How a lab command ended.
public struct LabOutcome: Equatable, Sendable {
  /// `stopped`: the run was.
  public typealias Ending = ChildProcess.Ending
  public var ending: Ending
  /// Standard output and error together, of bounded length.
  public var output: String

  public init(ending: Ending, output: String) {
    self.ending = ending
    self.output = output
  }
}

/// What a lab can do to its phones beside the cable.
public protocol LabMeans: Sendable {
  /// Runs a command to its end. A cancelled task ends the command early.
  func run(_ command: LabCommand, by deadline: Deadline) async -> LabOutcome
}

/// The person who stands beside the phones in an attended run.
public protocol Operator: Sendable {
  /// Asks for something to be done, and waits.
  ///
  /// - Returns: whether the operator says that it is done; false for a refusal or no answer by the deadline.
  func ask(_ sentence: String, about body: Body, by deadline: Deadline) async -> Bool
}
