/// Something wrong that lockdownd does in place of its right answer, because somebody asked for it.
struct LockdownFault: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// Ends the connection.
    case close
    /// Takes what comes and says nothing more.
    case hang
    /// A frame that holds no property list; then the end.
    case garbage
    /// Bytes that are no frame; then the end.
    case noise
    /// The end in the middle of the answer's length.
    case half
    /// The end in the middle of the answer.
    case halfBody = "half-body"
    /// Half of the answer, and silence.
    case stall
    /// A frame of no bytes.
    case empty
    /// Names another request than the one it answers.
    case echo
    /// Names no request.
    case mute
    /// Numbers and booleans as text.
    case mistyped
    /// Claims 4 GiB, and goes on with the answer.
    case oversized
    /// A property list as deep as somebody wishes.
    case deep
    /// A property list as long as somebody wishes.
    case huge
    /// The answer byte by byte.
    case drip
  }

  enum Effect: Equatable, Sendable {
    /// This token as `Error`.
    case error(String)
    case fault(Kind)
  }

  static let anyRequest = "all"
  static let tls = "TLS"

  let effect: Effect
  /// The request's name, `TLS` for the handshake after StartSession, or `all`.
  let request: String
  /// `close` and `hang`: only once the request is done and answered.
  var isLate = false
  /// `huge`: bytes; `deep`: levels.
  var size: Int?
  /// `drip`: phone time between two bytes.
  var pause: Duration = .milliseconds(100)
  /// So many times more; nil until it is taken away.
  var left: Int?
}

extension PhoneState {
  /// The fault in the way of this request, counted down. An error stays for `takeError`.
  mutating func takeFault(for request: String) -> (kind: LockdownFault.Kind, fault: LockdownFault)? {
    guard let index = index(of: request), case .fault(let kind) = lockdownFaults[index].effect else { return nil }
    return (kind, take(index))
  }

  /// The error to answer this request with, counted down.
  mutating func takeError(for request: String) -> String? {
    guard let index = index(of: request), case .error(let token) = lockdownFaults[index].effect else { return nil }
    _ = take(index)
    return token
  }

  private func index(of request: String) -> Int? {
    // QueryType is how a host finds lockdownd at all; it stays unless it is named.
    lockdownFaults.firstIndex {
      $0.request == request
        || ($0.request == LockdownFault.anyRequest && request != "QueryType" && request != LockdownFault.tls)
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
