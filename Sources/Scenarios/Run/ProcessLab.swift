import Transport

/// Lab commands as processes of this host (see `ChildProcess`).
public struct ProcessLab: LabMeans {
  private let environment: [String: String]

  /// - Parameter environment: what commands inherit, usually this process's own.
  public init(environment: [String: String]) { self.environment = environment }

  public func run(_ command: LabCommand, by deadline: Deadline) async -> LabOutcome {
    let isStopped = Guarded(false)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        _ = Worker(name: "lab-command") { [environment] in
          let child = ChildProcess(command.argv, environment: environment.merging(command.environment) { $1 })
          let ending = child.ending(by: deadline) { isStopped.with { $0 } }
          continuation.resume(returning: LabOutcome(ending: ending, output: child.text))
        }
      }
    } onCancel: {
      isStopped.with { $0 = true }
    }
  }
}
