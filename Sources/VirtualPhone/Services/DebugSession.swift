import Transport
import Wire

/// One host's dialogue with debugserver.
final class DebugSession: Sendable {
  struct State: Sendable {
    /// Each packet is acknowledged until QStartNoAckMode.
    var acknowledges = true
    /// What `-` asks for again.
    var lastReply: [UInt8] = []
    var environment: [String: String] = [:]
    /// The process is let go, not killed, when the connection breaks.
    var detachesOnError = false
    var process: AppProcess?
    /// The process runs, so only an interrupt is served.
    var isRunning = false
    /// How the process ended while nobody waited to hear it.
    var unheardEnd: AppProcess.End?
    /// Why the last launch did not happen.
    var refusal: String?
    var hasLaunched = false
    /// Nothing is answered any more.
    var isMute = false
  }

  let phone: VirtualPhone
  private let outBox: OutBox
  let state = Guarded(State())

  init(phone: VirtualPhone, outBox: OutBox) {
    self.phone = phone
    self.outBox = outBox
  }

  /// - Returns: false when the connection is to end.
  func take(_ item: GDBPacket.Item) -> Bool {
    switch item {
    case .acknowledge: return true
    case .resend: outBox.send(state.with { $0.lastReply })
    case .corrupt: outBox.send(Array("-".utf8))
    case .interrupt: interrupt()
    case .packet(let payload):
      if state.with({ $0.acknowledges }) { outBox.send(Array("+".utf8)) }
      switch answer(String(decoding: payload, as: UTF8.self)) {
      case .reply(let text): reply(text)
      case .later: break
      case .close: return false
      }
    }
    return true
  }

  func reply(_ text: String) { outBox.send(encoded(text)) }

  /// From another thread than the connection's own.
  func push(_ text: String) { outBox.push(encoded(text)) }

  private func encoded(_ text: String) -> [UInt8] {
    let bytes = GDBPacket.encode(text)
    state.with { $0.lastReply = bytes }
    return bytes
  }

  /// The connection has gone: the process is let go where the host asked for it, otherwise killed.
  func end() {
    let (process, detaches) = state.with { state -> (AppProcess?, Bool) in
      defer { state.process = nil }
      return (state.process, state.detachesOnError)
    }
    if let process {
      if detaches {
        process.go(on: [.debugger])
      } else {
        phone.record(
          "app-killed", ["because": "the debugger's connection was lost", "bundle": .string(process.bundle)])
        phone.app.end(process, .signal(9))
      }
    }
    outBox.end()
  }

  // MARK: The process

  /// Takes a process over, stopped; its end is told when it comes.
  func adopt(_ process: AppProcess) {
    state.with {
      $0.process = process
      $0.isRunning = false
      $0.unheardEnd = nil
    }
    process.whenEnded { [weak self] in self?.processEnded(process, $0) }
  }

  private func processEnded(_ process: AppProcess, _ how: AppProcess.End) {
    let tells = state.with { state -> Bool in
      guard state.process === process else { return false }
      state.process = nil
      if !state.isRunning { state.unheardEnd = how }
      defer { state.isRunning = false }
      return state.isRunning
    }
    if tells { push(Self.text(of: how)) }
  }

  static func text(of end: AppProcess.End) -> String {
    switch end {
    case .exited(let code): "W" + Hex.encode([code], uppercase: false)
    case .signal(let number): "X" + Hex.encode([number], uppercase: false)
    }
  }

  /// What a stopped process looks like: one thread, SIGSTOP.
  static func stopReply(_ process: AppProcess) -> String {
    "T11thread:\(String(process.pid * 16 + 3, radix: 16));"
  }

  private func interrupt() {
    let process = state.with { state -> AppProcess? in
      guard state.isRunning, let process = state.process else { return nil }
      state.isRunning = false
      return process
    }
    guard let process else { return }
    process.stop(.debugger)
    reply(Self.stopReply(process))
  }
}
