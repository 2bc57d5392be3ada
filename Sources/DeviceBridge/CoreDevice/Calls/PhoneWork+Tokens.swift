import Transport
import Wire

/// Signals by the numbers that phones have for them.
enum PhoneSignal: Int {
  case kill = 9
  case stop = 17
  case `continue` = 19
}

extension PhoneWork {
  /// All processes, read through the tunnel.
  ///
  /// - Parameter client: a fresh connection to the app service.
  func tokens(_ client: CoreDeviceClient, _ step: String) throws(PhoneError) -> [ProcessToken] {
    // Where lists come in pieces, the plain one may stop the whole service.
    if client.names(.streamProcesses) {
      switch try client.stream(.streamProcesses, step) {
      case .elements(let elements):
        return try client.read(step) { () throws(ShapeError) in try ProcessList(elements: elements).processes }
      case .error(let chain): throw meaning(of: chain, step)
      }
    }
    switch try client.call(.listProcesses, step) {
    case .output(let output):
      return try client.read(step) { () throws(ShapeError) in try ProcessList(output).processes }
    case .error(let chain): throw meaning(of: chain, step)
    }
  }

  /// All processes, over a connection of its own: no phone is known to take two calls on one.
  func tokens(_ step: String) throws(PhoneError) -> [ProcessToken] {
    guard let client = try client(of: .apps, step) else { throw .lost(udid, step: step) }
    return try tokens(client, step)
  }

  /// The numbers of an executable's processes.
  func processes(at path: String, _ client: CoreDeviceClient, _ step: String) throws(PhoneError) -> [Int] {
    try tokens(client, step).filter { Self.isSame($0.path, path) }.map(\.pid).sorted()
  }

  /// - Returns: false when there is no such process any more.
  func signal(_ pid: Int, _ signal: PhoneSignal, _ step: String) throws(PhoneError) -> Bool {
    guard let client = try client(of: .apps, step) else { throw .lost(udid, step: step) }
    switch try client.call(.sendSignal, step, SignalInput(pid: pid, signal: signal.rawValue).body) {
    case .output: return true
    case .error(let chain):
      if try !tokens(step).contains(where: { $0.pid == pid }) { return false }
      throw meaning(of: chain, step)
    }
  }

  /// One of the two begins with a link that the other has followed.
  private static func isSame(_ left: String?, _ right: String) -> Bool {
    func bare(_ path: String) -> Substring {
      path.hasPrefix("/private/") ? path.dropFirst("/private".count) : path[...]
    }
    return left.map(bare) == bare(right)
  }
}
