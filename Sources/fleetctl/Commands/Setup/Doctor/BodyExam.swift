import DeviceBridge
import Fleet
import Transport
import Wire

/// What one phone needs to be supervised, in the order in which one thing builds on another.
struct BodyExam: Sendable {
  /// For all that is asked of one phone.
  private static let limit = Duration.seconds(8)

  let body: Body
  let mux: MuxAddress
  /// Who holds it.
  let holder: Holder?

  func findings() async -> [Finding] { await exam().map { $0.of(body) } }

  private func exam() async -> [Finding] {
    if let out = body.outOfService, out.holds(on: .today()) {
      return [.ok("service", "out of service: \(out.reason)")]
    }
    let lane: PhoneLane
    do throws(PhoneError) { lane = try body.lane(mux) } catch {
      return [Finding("cable", .notOK, sentence: error.sentence)]
    }
    defer { lane.close() }
    let deadline = Deadline.after(Self.limit)
    var findings = [Finding.ok("cable", "attached")]
    if let holder { findings.append(.ok("held", "by \(holder.text)")) }
    let facts = await lane.facts(by: deadline)
    findings.append(trust(facts))
    guard facts.trust == .trusted else {
      return findings + ["lock", "app", "developer image", "door"].map { .unknown($0, "Not without trust.") }
    }
    findings.append(lock(facts.lock))
    findings.append(await app(lane, deadline))
    if body.app.launcher == .auto { findings += await launching(facts, lane, deadline) }
    findings.append(await door(lane, deadline))
    return findings
  }

  private func trust(_ facts: PhoneFacts) -> Finding {
    switch facts.trust {
    case .trusted: return .ok("trust", "trusted")
    case .untrusted, .denied, .stale, .pending:
      if let error = facts.error { return Finding("trust", .notOK, sentence: error.sentence) }
      return .notOK("trust", "This host is not trusted: \(facts.trust.rawValue).", next: "fleetctl pair \(body.title)")
    case .lockedBeforeFirstUnlock:
      return .notOK("trust", "It has not been unlocked since it started.", next: "unlock it once by hand")
    case .unknown:
      let sentence = facts.error?.sentence ?? "It can't be told. The phone did not say. See: fleetctl devices"
      return Finding("trust", .unknown, sentence: sentence)
    }
  }

  private func lock(_ reading: LockReading) -> Finding {
    switch reading.state {
    case .unlocked: .ok("lock", "unlocked")
    case .locked:
      .notOK(
        "lock", "It is locked (\(reading.why)); nothing is launched past a passcode.",
        next: "unlock it, and set Auto-Lock to Never in Settings, Display & Brightness")
    case .unknown: .unknown("lock", "It can't be told: \(reading.why).", next: "fleetctl lock-state \(body.title)")
    }
  }

  private func app(_ lane: PhoneLane, _ deadline: Deadline) async -> Finding {
    guard let bundle = body.app.bundle else {
      return .unknown("app", "No app is named.", next: "fleetctl init --app BUNDLE")
    }
    do throws(PhoneError) {
      guard let app = try await lane.app(bundle, by: deadline) else {
        return .notOK("app", "\(bundle) is not installed.", next: "fleetctl install \(body.title) FILE.ipa")
      }
      return .ok("app", "\(bundle) \(app.version ?? "?") (\(app.build ?? "?"))")
    } catch {
      return Finding("app", .unknown, sentence: error.sentence)
    }
  }

  private func launching(_ facts: PhoneFacts, _ lane: PhoneLane, _ deadline: Deadline) async -> [Finding] {
    if let version = facts.ios, Self.isBetween(version) {
      return [
        .notOK("iOS", "iOS \(version) starts no app for this host.", next: "update it to 17.4 or later, by hand")
      ]
    }
    let found = await lane.launchConditions("", images: nil, by: deadline)
    return [developerMode(found), image(found)]
  }

  private func developerMode(_ found: LaunchConditions) -> Finding {
    switch found.developerMode {
    case true?: .ok("developer mode", "on, or not asked for by this iOS")
    case false?:
      .notOK(
        "developer mode", "It is off, and nothing is launched without it.",
        next: "on the phone: Settings, Privacy & Security, Developer Mode; it restarts")
    case nil: .unknown("developer mode", "The phone did not say.", next: "fleetctl mount \(body.title)")
    }
  }

  private func image(_ found: LaunchConditions) -> Finding {
    switch found.hasImage {
    case true?: .ok("developer image", "mounted")
    case false?:
      .notOK(
        "developer image", "None is mounted, and apps are launched through it.",
        next: "fleetctl mount \(body.title), or images: {mount: auto} in fleet.yaml")
    case nil: .unknown("developer image", "The phone did not say.", next: "fleetctl mount \(body.title)")
    }
  }

  /// iOS 17.0 to 17.3 have neither the old way of launching nor the new one.
  private static func isBetween(_ version: String) -> Bool {
    let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
    return numbers.first == 17 && (numbers.count < 2 || numbers[1] < 4)
  }

  private func door(_ lane: PhoneLane, _ deadline: Deadline) async -> Finding {
    let call = body.door.call(.hello)
    let token: Secret?
    do throws(Problem) { token = try body.door.token() } catch {
      return .notOK(
        "door", "Its token file \(error.description.printable).", next: "ls -l \(body.door.tokenFile ?? "")")
    }
    let answer = await lane.request(
      DoorRequest(
        port: body.door.port, method: call.line.method, target: call.line.target, token: token?.value,
        deadline: deadline))
    switch answer.ending {
    case .response(let message) where message.status == 401 || message.status == 403:
      return .notOK(
        "door", "It answers \(message.status): the token is not the app's.", next: "compare door: {token-file: …}")
    case .response(let message): return .ok("door", "answers with \(message.status) on port \(body.door.port)")
    case .refused, .silent, .badReply:
      return .notOK(
        "door", "It does not answer on port \(body.door.port).",
        next: "fleetctl revive \(body.title), then: fleetctl hello \(body.title)")
    case .unreachable(let error): return Finding("door", .unknown, sentence: error.sentence)
    }
  }
}
