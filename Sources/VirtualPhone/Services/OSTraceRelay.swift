import Wire

/// os_trace_relay, as far as the list of processes.
struct OSTraceRelay: DeviceService {
  let names = ["com.apple.os_trace_relay"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    while let request = connection.receive() {
      guard request["Request"]?.string == "PidList" else {
        connection.send(["Status": "RequestFailed"])
        return
      }
      let payload = connection.phone.processes.map {
        ("\($0.key)", Plist.dictionary(["ProcessName": .string($0.value)]))
      }
      let reply: Plist = [
        "Payload": .dictionary(Dictionary(payload, uniquingKeysWith: { _, last in last })),
        "Status": "RequestSuccessful",
      ]
      // A byte that means nothing to anybody stands before the length.
      connection.send([1] + ServiceFrame.bytes(reply.xml))
    }
  }
}

extension VirtualPhone {
  /// Everything that runs: the system's, the apps', and the hands' driver.
  var processes: [Int: String] {
    var all = [
      1: "launchd", 34: "SpringBoard", 38: "backboardd", 41: "lockdownd", 44: "usbmuxd", 51: "runningboardd",
      62: "installd", 77: "wifid", 90: "locationd",
    ]
    if hands.isRunning { all[391] = HandsDriver.executable }
    return all.merging(app.processes) { _, app in app }
  }
}
