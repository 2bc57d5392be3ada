import DeviceBridge
import Transport

/// Asks one attached phone everything that `fleetctl devices` shows.
struct DeviceVisit: Sendable {
  /// Longest for everything that is asked of one phone; a hung one holds up only its own line.
  static let limit = Duration.seconds(5)

  var phone: ListedPhone
  var body: String?
  /// nil where no configuration names the app.
  var bundle: String?
  /// The hello of this phone's door, by the visit's deadline.
  var hello: @Sendable (Deadline) -> DoorRequest

  func report(over link: any PhoneLink, by deadline: Deadline) async -> DeviceReport {
    guard phone.transport == .usb else {
      var facts = PhoneFacts()
      facts.error = .networkOnly(phone.udid)
      return DeviceReport(body: body, phone: phone, facts: facts)
    }
    async let answer = link.request(hello(deadline))
    let facts = await link.facts(by: deadline)
    var report = DeviceReport(body: body, phone: phone, facts: facts)
    await report.take(answer)
    if report.app == .unknown, facts.trust == .trusted, let bundle {
      report.app = await presence(of: bundle, over: link, by: deadline)
    }
    return report
  }

  /// Where the app is when its door says nothing.
  private func presence(of bundle: String, over link: any PhoneLink, by deadline: Deadline) async -> AppPresence {
    do throws(PhoneError) {
      guard let app = try await link.app(bundle, by: deadline) else { return .notInstalled }
      guard let executable = app.executable else { return .unknown }
      return try await link.isRunning(executable: executable, by: deadline) ? .running : .notRunning
    } catch {
      return .unknown
    }
  }
}

extension DeviceReport {
  /// Reads the hello's ending: any whole answer means that the app runs.
  mutating func take(_ answer: DoorAnswer) {
    switch answer.ending {
    case .response(let message):
      door = .answers
      hello = answer.took
      app = HelloAnswer(message).isActive ? .front : .running
    case .refused, .silent, .badReply: door = .silent
    case .unreachable: door = .unknown
    }
  }
}
