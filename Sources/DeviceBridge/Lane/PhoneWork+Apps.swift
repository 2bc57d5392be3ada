import Wire

extension PhoneWork {
  /// - Returns: nil when the app is not installed.
  func app(_ bundle: String) throws(PhoneError) -> InstalledApp? {
    let channel = try open("com.apple.mobile.installation_proxy")
    try channel.send([
      "Command": "Lookup",
      "ClientOptions": ["ApplicationType": "Any", "BundleIDs": [.string(bundle)]],
    ])
    while true {
      let reply = try channel.receivePlist()
      if let token = reply["Error"]?.string {
        throw .lockdown(udid, step: "looking up \(bundle)", token: PhoneText.clean(token), code: 0)
      }
      if let found = reply["LookupResult"] {
        return found[bundle]?.dictionary.map { InstalledApp(bundle: bundle, info: $0) }
      }
      guard reply["Status"]?.string != nil, reply["Status"]?.string != "Complete" else {
        throw .badReply(udid, step: "looking up \(bundle)", detail: "no result")
      }
    }
  }

  /// All processes: number and executable's name.
  ///
  /// - Source: os_trace_relay, PidList: one byte, then a big-endian length and a property list.
  func processes() throws(PhoneError) -> [Int: String] {
    let channel = try open("com.apple.os_trace_relay")
    try channel.send(["Request": "PidList"])
    _ = try channel.receive(1)
    let reply = try channel.receivePlist()
    guard let payload = reply["Payload"]?.dictionary else {
      throw .badReply(udid, step: "listing processes", detail: "no list")
    }
    var processes: [Int: String] = [:]
    for (number, process) in payload {
      if let number = Int(number), let name = process["ProcessName"]?.string { processes[number] = name }
    }
    return processes
  }

  /// The numbers of the executable's processes.
  func processes(of executable: String) throws(PhoneError) -> [Int] {
    try processes().filter { Self.isName($0.value, of: executable) }.map(\.key).sorted()
  }

  /// Kernels cut a process's name at sixteen bytes (assumed for this list).
  static func isName(_ name: String, of executable: String) -> Bool {
    name == executable || name.utf8.count >= 15 && name.utf8.count <= 16 && executable.hasPrefix(name)
  }

  /// Starts a service that every phone has.
  func open(_ service: String) throws(PhoneError) -> ServiceChannel {
    guard let started = try start(service) else {
      throw .lockdown(udid, step: "starting \(service)", token: "InvalidService", code: -27)
    }
    return try ServiceChannel(started, context)
  }
}
