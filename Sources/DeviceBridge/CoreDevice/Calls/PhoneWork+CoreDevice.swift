import Transport
import Wire

/// What asking for a service in the phone's tunnel comes to.
enum CoreDeviceOpening {
  case client(CoreDeviceClient)
  /// The phone's list does not have the service: mostly for want of a developer image.
  case notListed
  /// The phone has no tunnel over the cable, as before iOS 17.4.
  case noTunnel
}

extension PhoneWork {
  /// How long a tunnel that was kept may take to show that it lives, and a question may that has other answers.
  static let probeTime = Duration.seconds(3)

  /// A connection to one of the services in the phone's tunnel: the tunnel that is kept, or a new one.
  ///
  /// A kept one may have died with nobody noticing, and so may what it listed; both are then found out anew.
  func opening(of service: CoreDeviceService, _ step: String) throws(PhoneError) -> CoreDeviceOpening {
    if let kept = shelf.take() {
      defer { shelf.rest() }
      let soon = min(context.deadline, .after(Self.probeTime))
      do throws(PhoneError) {
        // An image may have been mounted since the list was read, where none was then.
        if kept.service(service) == nil, kept.service(.apps) == nil { try readServices(kept, by: soon) }
        return try client(kept, service, step, by: soon).map { .client($0) } ?? .notListed
      } catch {
        shelf.drop()
        guard error.isOfConnection, context.ended == nil else { throw error }
      }
    }
    guard let tunnel = try openTunnel() else { return .noTunnel }
    shelf.put(tunnel)
    defer { shelf.rest() }
    do throws(PhoneError) {
      return try client(tunnel, service, step, by: context.deadline).map { .client($0) } ?? .notListed
    } catch {
      shelf.drop()
      throw error
    }
  }

  private func client(
    _ tunnel: PhoneTunnel, _ service: CoreDeviceService, _ step: String, by deadline: Deadline
  ) throws(PhoneError) -> CoreDeviceClient? {
    guard let entry = tunnel.service(service) else { return nil }
    let connection = try inTunnel(tunnel, step) { () throws(TunnelFailure) in
      try tunnel.open(entry.port, by: deadline)
    }
    return CoreDeviceClient(self, tunnel, connection, entry)
  }

  /// A client of the service, for a call that has to be possible.
  ///
  /// - Returns: nil when the phone has no tunnel.
  /// - Throws: why the service is not there, or what kept it from being reached.
  func client(of service: CoreDeviceService, _ step: String) throws(PhoneError) -> CoreDeviceClient? {
    var last = CoreDeviceOpening.noTunnel
    let found = try patiently(
      service.rawValue, step, isDue: { () throws(PhoneError) in try isDue(last) }
    ) { () throws(PhoneError) in
      last = try opening(of: service, step)
      if case .client(let client) = last { return client }
      return nil
    }
    guard found == nil, case .notListed = last else { return found }
    throw try absence(of: service, step)
  }

  /// Whether what is missing may come yet.
  private func isDue(_ opening: CoreDeviceOpening) throws(PhoneError) -> Bool {
    switch opening {
    case .client: false
    case .noTunnel: try systemVersion().hasTunnel
    case .notListed: try hasDeveloperImage()
    }
  }

  /// Why a service of the developer image is not in the phone's list.
  private func absence(of service: CoreDeviceService, _ step: String) throws(PhoneError) -> PhoneError {
    let detail = "\(step): \(service.rawValue) is not listed"
    if try isDeveloperModeOff(17) { return .launchRefused(udid, .developerModeOff, detail: detail) }
    guard try developerImage().isMounted else { return .launchRefused(udid, .noDeveloperImage, detail: detail) }
    return .launchRefused(udid, .failed, detail: "\(detail), though a developer image is mounted")
  }

  /// How developer services are reached on this phone.
  enum DeveloperWay {
    /// Started by lockdown: iOS 16 and older.
    case classic(SystemVersion)
    /// In the tunnel, by this client of the service that was wanted.
    case tunnel(CoreDeviceClient)
  }

  /// The way went from lockdown into the tunnel with iOS 17; whether there is a tunnel over the cable the phone says.
  ///
  /// - Throws: `.launchRefused(.notOnThisIOS)` for a phone that offers neither.
  func developerWay(to service: CoreDeviceService, _ step: String) throws(PhoneError) -> DeveloperWay {
    // Where a tunnel is open nothing else needs to be asked.
    if shelf.isEmpty {
      let version = try systemVersion()
      if version.major < 17 { return .classic(version) }
    }
    if let client = try client(of: service, step) { return .tunnel(client) }
    throw .launchRefused(udid, .notOnThisIOS, detail: "\(step), iOS \(try systemVersion().text)")
  }
}
