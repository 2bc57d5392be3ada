import Transport
import Wire

/// What the door answers to which request.
extension KioskApp {
  /// - Returns: nil when the process ended meanwhile: nobody is left to answer.
  func answer(_ request: HTTPMessage, of process: AppProcess) -> DoorReply? {
    let target = DoorTarget(request.target)
    let (token, broken) = model.with { ($0.door.token, $0.door.broken) }
    if let token, !broken.contains(.opensWithoutToken), !Self.carries(token, request) {
      return .refusal(401, "the bearer token is missing or wrong")
    }
    let method: String
    switch target.path {
    case "/hello", "/status": method = "GET"
    case "/photo", "/clip": method = "POST"
    default:
      return .refusal(404, "there is nothing at \(target.path); this door has /hello, /status, /photo and /clip")
    }
    guard request.method == method else {
      var reply = DoorReply.refusal(405, "\(target.path) takes \(method) only")
      reply.fields = ["Allow: \(method)"]
      return reply
    }
    switch target.path {
    case "/hello": return hello()
    case "/status": return status()
    case "/photo": return capture(CaptureOrder(.still, target.query), by: process)
    default:
      let seconds = target.query["seconds"].flatMap(Double.init) ?? .nan
      return capture(CaptureOrder(.clip(seconds: seconds), target.query), by: process)
    }
  }

  private static func carries(_ token: String, _ request: HTTPMessage) -> Bool {
    guard let field = request.header("Authorization") else { return false }
    let parts = field.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "bearer" && parts[1] == token
  }

  private var claimsToBeActive: Bool {
    isActive || model.with { $0.door.broken.contains(.alwaysActive) }
  }

  private func hello() -> DoorReply {
    let app = installed(settings.bundle)
    return .json([
      "ok": true, "name": .text(app?.name), "version": .text(app?.version), "active": .boolean(claimsToBeActive),
    ])
  }

  private func status() -> DoorReply {
    let active = claimsToBeActive
    return model.with { model -> DoorReply in
      let boasts = model.door.broken.contains(.boastsInStatus)
      return .json([
        "active": .boolean(active || boasts),
        "cameras": .array((CameraState.names + (boasts ? ["side"] : [])).map(JSON.string)),
        "grants": .object(model.camera.grants.mapValues { .string(boasts ? "authorized" : $0.rawValue) }),
        "capturing": .text(model.camera.claim?.camera),
        "by": .text(model.camera.claim?.by),
      ])
    }
  }
}
