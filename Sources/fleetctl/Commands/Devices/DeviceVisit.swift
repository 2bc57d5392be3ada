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
  /// The sysfs path of its USB port, as the kernel has it.
  var usbPort: String?
  /// Whether somebody wants to know how warm the phone is, which takes a service of its own.
  var asksPower = false
  /// The hello of this phone's door, by the visit's deadline.
  var hello: @Sendable (Deadline) -> DoorRequest

  func report(over link: any PhoneLink & PhoneHealth, by deadline: Deadline) async -> DeviceReport {
    guard phone.transport == .usb else {
      var facts = PhoneFacts()
      facts.error = .networkOnly(phone.udid)
      return DeviceReport(body: body, phone: phone, facts: facts)
    }
    let answered = Guarded(false)
    async let asked = ask(link, by: deadline, answered)
    let facts = await link.facts(by: deadline)
    var report = DeviceReport(body: body, phone: phone, facts: facts, usbPort: usbPort)
    // A door that keeps silent does so to the end of the visit: the process list is not left until then. A door that
    // has answered makes that question needless.
    let mustLook = facts.trust == .trusted && !answered.with { $0 }
    async let looked = mustLook ? presence(over: link, by: deadline) : .unknown
    // What a phone does not tell of its battery is no trouble of the visit.
    if asksPower, facts.trust == .trusted { report.power = try? await link.power(by: deadline) }
    await report.take(asked)
    let presence = await looked
    if report.app == .unknown { report.app = presence }
    return report
  }

  private func ask(_ link: any PhoneLink, by deadline: Deadline, _ answered: Guarded<Bool>) async -> DoorAnswer {
    let answer = await link.request(hello(deadline))
    answered.with { $0 = answer.response != nil }
    return answer
  }

  /// Where the app is when its door says nothing.
  private func presence(over link: any PhoneLink, by deadline: Deadline) async -> AppPresence {
    guard let bundle else { return .unknown }
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
