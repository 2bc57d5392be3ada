import Fleet

/// A command: what it takes, and what it does.
struct Command: Sendable {
  var spec: CommandSpec
  /// - Throws: `Complaint` when it could not do its work; its sentence is printed and its code is the process's.
  var run: @Sendable (Context) async throws(Complaint) -> ExitCode
}

/// What a command is handed.
struct Context: Sendable {
  var invocation: Invocation
  var output: Output
  var environment: Environment
  var interruption: Interruption

  var wantsJSON: Bool { invocation.has("json") }

  /// Runs what reads the command line; a wrong one is exit code 2.
  func usage<R>(_ body: () throws(UsageError) -> R) throws(Complaint) -> R {
    do { return try body() } catch { throw Complaint(error) }
  }
}

enum Commands {
  /// In the order in which help lists them.
  static let all: [Command] = [
    DevicesCommand.command, LockStateCommand.command, LaunchCommand.command, HelloCommand.command,
    RequestCommand.command, InstallCommand.command, LogCommand.command, ForwardCommand.command,
    ReviveBodyCommand.command, SuperviseCommand.command, PairCommand.command, UnpairCommand.command,
    MountCommand.command, RunCommand.command,
    LintCommand.command, HoldCommand.command, StatusCommand.command, OutcomesCommand.command, WhyCommand.command,
    PauseCommand.command, ResumeCommand.command, RunsCommand.command, CompareCommand.command, InitCommand.command,
    DoctorCommand.command,
    ConfigShowCommand.command,
    VirtualCommand.command,
    VirtualDoCommand.command, VirtualJournalCommand.command, CompletionsCommand.command,
  ]

  /// Designed and not built yet, with what does it meanwhile.
  static let later: [String: String] = [:]
}
