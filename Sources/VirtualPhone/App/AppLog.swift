import Transport
import Wire

/// What the app itself writes into the phone's log; never a token, never what is in a picture.
extension KioskApp {
  func log(_ text: String, by process: AppProcess, level: SystemLog.Level = .notice) {
    surroundings.log.write(process.executable, process.pid, text, level: level)
  }

  /// Refusals are worth a line with their sentence; what went well is not.
  func logReply(_ reply: DoorReply, to method: String, _ path: String, by process: AppProcess) {
    guard reply.status >= 400 else { return }
    let sentence = JSON(parsing: reply.body)?["error"]?.string ?? ""
    log("door: refused \(method) \(path.prefix(64)) with \(reply.status): \(sentence)", by: process, level: .error)
  }

  /// A capture begins, or has ended in that way.
  func logCapture(_ order: CaptureOrder, _ what: String, by process: AppProcess) {
    log("camera: \(order.camera) \(order.kind == .still ? "photo" : "clip") \(what)", by: process)
  }
}
