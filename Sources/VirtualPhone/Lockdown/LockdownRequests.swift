import Transport
import Wire

extension LockdownConnection {
  /// Answers one request; the name is always echoed, as are the keys that say what it was about.
  func answer(_ name: String, _ request: Plist) -> LockdownAnswer {
    var answer: LockdownAnswer
    do throws(LockdownError) {
      let service = name == "StartService" ? request["Service"]?.string : nil
      if let token = takeError(for: name) ?? service.flatMap(takeError) {
        answer = LockdownAnswer(body: ["Error": .string(token)])
      } else {
        answer = try outcome(name, request)
      }
    } catch {
      answer = LockdownAnswer(body: ["Error": .string(error.rawValue)])
    }
    answer.body["Request"] = .string(name)
    for key in ["Domain", "Key", "Service"] {
      if let value = request[key]?.string { answer.body[key] = .string(value) }
    }
    return answer
  }

  /// The error that somebody has put in the way of this request, or of this service's start.
  private func takeError(for name: String) -> String? { phone.state.with { $0.takeError(for: name) } }

  private func outcome(_ name: String, _ request: Plist) throws(LockdownError) -> LockdownAnswer {
    switch name {
    case "QueryType": return LockdownAnswer(body: ["Type": "com.apple.mobile.lockdown"])
    case "GetValue": return try getValue(request)
    case "SetValue": return try setValue(request)
    case "RemoveValue": return try removeValue(request)
    case _ where socket == nil && Self.pairingVerbs.contains(name): throw .pairingProhibited
    case "Pair": return try pair(request)
    case "ValidatePair": return try validatePair(request)
    case "Unpair": return try unpair(request)
    case "StartSession": return try startSession(request)
    case "StopSession": return try stopSession(request)
    case "StartService": return try startService(request)
    case "Goodbye": return LockdownAnswer(body: ["Result": "Success"], next: .close)
    // Nothing of ours sends a phone there, and a virtual one would not come back.
    case "EnterRecovery": throw !isTrusted ? .sessionInactive : .serviceProhibited
    default: throw .invalidRequest
    }
  }

  /// Through a tunnel nobody is paired.
  private static let pairingVerbs: Set = ["Pair", "ValidatePair", "Unpair"]

  // MARK: - Sessions

  private func startSession(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    guard !isTrusted else { throw .sessionActive }
    guard let hostID = request["HostID"]?.string else { throw .missingHostID }
    let state = phone.state.with { $0 }
    if !state.unlockedSinceBoot {
      switch state.beforeFirstUnlock {
      case .passwordProtected: throw .passwordProtected
      case .invalidHostID: throw .invalidHostID
      case .sessionOnly: break
      }
    }
    guard let pairing = state.pairings[hostID] else { throw .invalidHostID }
    let session = Session(id: Fresh.uuid(), hostID: hostID, pairing: pairing)
    return LockdownAnswer(
      body: ["SessionID": .string(session.id), "EnableSessionSSL": true], next: .startTLS(session))
  }

  private func stopSession(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    guard let session else { throw .sessionInactive }
    guard let id = request["SessionID"]?.string else { throw .missingSessionID }
    guard id == session.id else { throw .invalidSessionID }
    return LockdownAnswer(body: ["Result": "Success"], next: .endTLS)
  }
}
