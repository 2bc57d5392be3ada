import Transport

/// A ping by Debian's curl. The address goes in through its standard input, so that no list of processes shows it.
enum CurlPing {
  /// - Returns: why it failed; nil where it was answered with a 2xx.
  static func send(_ url: String, environment: [String: String], by deadline: Deadline) -> String? {
    let seconds = max(1, deadline.remaining.components.seconds)
    let words = ["curl", "--silent", "--fail", "--output", "/dev/null", "--max-time", "\(seconds)", "--config", "-"]
    let address = url.filter { $0 != "\"" && $0 != "\\" && !$0.isNewline }
    let child = ChildProcess(words, environment: environment, input: Array("url = \"\(address)\"\n".utf8))
    switch child.ending(by: deadline, isStopped: { false }) {
    case .exited(0), .stopped: return nil
    case .exited(let code): return "curl ends with code \(code)"
    case .killed(let signal): return "curl was ended by signal \(signal)"
    case .timedOut: return "no answer in time"
    case .notStarted(let why): return "curl can't be started: \(why)"
    }
  }
}
