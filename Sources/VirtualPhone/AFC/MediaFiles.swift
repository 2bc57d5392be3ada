import Transport
import Wire

/// com.apple.afc: the media folder. Uploads of packages go through it.
struct MediaFiles: DeviceService {
  let names = ["com.apple.afc"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    AFCSession(connection, connection.phone.files.media).run()
  }
}

/// com.apple.crashreportcopymobile: the crash reports, for AFC.
struct CrashReportFiles: DeviceService {
  let names = ["com.apple.crashreportcopymobile"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    AFCSession(connection, connection.phone.files.crashReports).run()
  }
}

/// com.apple.crashreportmover: brings reports that stand elsewhere, and says so when it is done.
struct CrashReportMover: DeviceService {
  let names = ["com.apple.crashreportmover"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    let moved = connection.phone.files.moveReports()
    connection.phone.record("crash-reports-moved", ["count": .integer(Int64(moved))])
    guard connection.send(Array("ping".utf8) + [0]) else { return }
    // It is the host that hangs up.
    while let bytes = try? connection.stream.read(max: 64, by: .never), !bytes.isEmpty {}
  }
}
