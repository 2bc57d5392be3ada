import Transport

extension PhoneLane {
  /// A connection to a port of the phone's end of its tunnel, which stays open beside it as it does for other calls.
  ///
  /// - Throws: `.launchRefused(.notOnThisIOS)` for a phone without a tunnel.
  package func connectInTunnel(port: UInt16, by deadline: Deadline) async throws(PhoneError) -> TunnelStream {
    let step = "connecting to port \(port) in its tunnel"
    return try await call(step, by: deadline) { work throws(PhoneError) in
      let tunnel: PhoneTunnel
      if let kept = work.shelf.take() {
        tunnel = kept
      } else {
        guard let opened = try work.openTunnel() else { throw .launchRefused(work.udid, .notOnThisIOS, detail: step) }
        work.shelf.put(opened)
        tunnel = opened
      }
      defer { work.shelf.rest() }
      return try work.inTunnel(tunnel, step) { () throws(TunnelFailure) in try tunnel.connect(port, by: deadline) }
    }
  }
}
