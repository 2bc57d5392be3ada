/// Something wrong that lockdownd does in place of its right answer, because somebody asked for it.
struct LockdownFault: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// This token as `Error`.
    case error(String)
    /// Ends the connection without an answer.
    case close
    /// Takes what comes and never answers.
    case hang
    /// Answers with bytes that are no property list.
    case garbage
    /// Ends the connection in the middle of the answer's length.
    case half
  }

  static let anyRequest = "all"

  let kind: Kind
  /// The request's name, `TLS` for the handshake after StartSession, or `all`.
  let request: String
  /// So many times more; nil until it is taken away.
  var left: Int?
}

extension PhoneState {
  /// The fault in the way of this request, counted down. An error stays for `takeError`.
  mutating func takeFault(for request: String) -> LockdownFault? {
    guard let index = index(of: request), lockdownFaults[index].kind.isWordless else { return nil }
    return take(index)
  }

  /// The error to answer this request with, counted down.
  mutating func takeError(for request: String) -> String? {
    guard let index = index(of: request), case .error(let token) = lockdownFaults[index].kind else { return nil }
    _ = take(index)
    return token
  }

  private func index(of request: String) -> Int? {
    // QueryType is how a host finds lockdownd at all; it stays unless it is named.
    lockdownFaults.firstIndex {
      $0.request == request || ($0.request == LockdownFault.anyRequest && request != "QueryType" && request != "TLS")
    }
  }

  private mutating func take(_ index: Int) -> LockdownFault {
    let fault = lockdownFaults[index]
    if let left = fault.left {
      lockdownFaults[index].left = left - 1
      if left <= 1 { lockdownFaults.remove(at: index) }
    }
    return fault
  }
}

extension LockdownFault.Kind {
  fileprivate var isWordless: Bool {
    switch self {
    case .error: false
    case .close, .hang, .garbage, .half: true
    }
  }
}
