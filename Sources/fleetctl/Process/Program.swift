import Glibc
import Transport
import Wire
import Fleet

/// The process from its arguments to its exit code.
enum Program {
  static let version = "0.1.0"

  /// Runs on the main thread and holds it until the command has ended.
  ///
  /// - Returns: the exit code. The caller leaves without the library's exit handlers: threads of hung phones may still be
  ///   inside OpenSSL, whose own handler would take the ground from under them.
  static func main(_ arguments: [String]) -> Int32 {
    StandardDescriptors.secure()
    SignalPipe.open()
    let interruption = Interruption()
    let words = Array(arguments.dropFirst())
    Task.detached { interruption.finish(await run(words, environment: .process, interruption)) }
    return interruption.wait()
  }

  private static func run(
    _ words: [String], environment: Environment, _ interruption: Interruption
  ) async -> ExitCode {
    let parser = ArgumentParser(commands: Commands.all.map(\.spec), later: Commands.later)
    var output = Output()
    var code = ExitCode.done
    do {
      switch try parse(words, with: parser) {
      case .nothing:
        output.say(Help.overview(parser.commands))
        code = .usage
      case .help(let command):
        try output.result(command.map(Help.text) ?? Help.overview(parser.commands))
      case .version(let json):
        if json { try output.result(["version": .string(version)]) } else { try output.result("fleetctl \(version)") }
      case .run(let invocation):
        let style = Style(
          choice: invocation.value("color"), environment: environment, isTerminal: isatty(STDOUT_FILENO) == 1)
        output = Output(style: style, isVerbose: invocation.has("verbose"))
        guard let command = Commands.all.first(where: { $0.spec.name == invocation.command.name }) else { return .bug }
        code = try await command.run(
          Context(
            invocation: invocation, output: output, environment: environment, interruption: interruption))
      }
      try output.finish()
    } catch {
      if !error.sentence.isEmpty { output.complain(error.sentence) }
      // A failure that has been found outweighs the trouble of telling it.
      if code != .no { code = error.code }
    }
    return interruption.exitCode ?? code
  }

  private static func parse(_ words: [String], with parser: ArgumentParser) throws(Complaint) -> ArgumentParser.Request
  {
    do { return try parser.parse(words) } catch { throw Complaint(error) }
  }
}
