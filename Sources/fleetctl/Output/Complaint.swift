import Fleet

/// Why a command ends without having done its work.
struct Complaint: Error, Equatable, Sendable {
  var code: ExitCode
  /// Three parts: what happened, the likely cause, the next command to type. Empty where there is nobody to tell.
  var sentence: String

  init(_ code: ExitCode, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  init(_ error: UsageError) { self.init(.usage, error.sentence) }
}
