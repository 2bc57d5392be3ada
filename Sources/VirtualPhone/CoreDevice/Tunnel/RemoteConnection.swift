import Transport
import Wire

/// One connection to a service in a tunnel, on its own thread.
struct RemoteConnection: Sendable {
  private static let patience = Duration.seconds(30)

  let phone: VirtualPhone
  let service: RemoteService

  /// Serves it to its end; the caller closes the stream.
  func serve(_ stream: TunnelStream) {
    phone.record("remote-service-connected", ["service": .string(service.name)])
    switch service.form {
    case .features(let features): answer(stream, features)
    case .shim(let service, let name):
      guard let connection = checkIn(stream, name) else { return }
      service.serve(connection)
    case .lockdown:
      guard let lockdown = phone.lockdown, checkIn(stream, service.name) != nil else { return }
      LockdownConnection(server: lockdown, tunnelled: stream).serve()
    }
  }

  // MARK: - Property lists

  /// The greeting before a service that lockdown could start as well. Without it the phone resets the connection.
  ///
  /// - Parameter name: under which lockdown knows it, and faults are put in its way.
  /// - Returns: nil when the service does not begin.
  private func checkIn(_ stream: TunnelStream, _ name: String) -> ServiceConnection? {
    let connection = ServiceConnection(phone: phone, service: name, stream: stream)
    guard connection.receive(by: .after(Self.patience))?["Request"] == "RSDCheckin" else {
      stream.reset()
      return nil
    }
    let fault = phone.state.with { $0.takeServiceFault(name) }
    let error = fault?.kind == .refuse ? fault?.error.rawValue : nil
    for reply in RSDCheckin.replies(error: error) where !connection.send(reply) { return nil }
    switch fault?.kind {
    case .refuse, .close, .noPort: return nil
    case .hang, .tlsHang:
      stream.drain()
      return nil
    case .garbage, .half, .drip:
      let spoilt = SpoiltStream(stream, on: nil, fault?.kind ?? .drip, clock: phone.clock)
      return ServiceConnection(phone: phone, service: name, stream: spoilt)
    case .clear, nil: return connection
    }
  }

  // MARK: - CoreDevice

  private func answer(_ stream: TunnelStream, _ features: any FeatureService) {
    do throws(RemoteXPCError) {
      let connection = try RemoteXPCConnection.accept(on: stream, by: .after(Self.patience))
      while let message = try connection.receive(by: .never) {
        guard message.flags.contains(.wantsReply), let body = message.body else { continue }
        let call = CoreDeviceFeature.shortName(of: body)
        let fault = phone.rules.with { $0.remote.takeFault(for: call) }
        if fault?.kind == .silent {
          phone.record("coredevice-fault", ["call": .string(call), "kind": "silent"])
          continue
        }
        try reply(features.answer(body, on: phone), to: message, SpoiltReply(connection, phone, fault))
      }
    } catch {
      phone.record(
        "remote-service-ended", ["service": .string(service.name), "because": .string(error.sentence)])
    }
  }

  private func reply(
    _ answer: FeatureAnswer, to request: XPCMessage, _ way: SpoiltReply
  ) throws(RemoteXPCError) {
    switch answer {
    case .reply(let reply): try way.send(reply.body, to: request)
    case .stream(let elements, let channel):
      // A few at a time, as phones do.
      for start in stride(from: 0, to: elements.count, by: Self.batch) {
        let part = Array(elements[start..<min(start + Self.batch, elements.count)])
        try way.push(StreamPush(.elements(part), channel: channel).body)
      }
      try way.push(StreamPush(.finished, channel: channel).body)
    case .silence: break
    case .close: throw .stream(.closed)
    }
  }

  /// Elements of one push.
  private static let batch = 4
}

extension CoreDeviceFeature {
  /// What a call asks for, as an action names it; empty for what is no call.
  static func shortName(of body: XPCValue) -> String {
    let name = body["CoreDevice.featureIdentifier"]?.string ?? ""
    return name.split(separator: ".").last.map { String($0.prefix(64)) } ?? ""
  }
}
