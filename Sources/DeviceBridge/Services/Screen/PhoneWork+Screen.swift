import Wire

extension PhoneWork {
  /// A picture of the screen, by whichever service the phone offers.
  func screen() throws(PhoneError) -> Picture {
    let step = "taking a picture of its screen"
    switch try developerWay(to: .screenCapture, step) {
    case .classic(let version): return try classicScreen(version, step)
    case .tunnel(let client):
      let output: XPCValue
      switch try client.call(.captureScreenshot, step, ScreenshotInput().body) {
      case .output(let value): output = value
      case .error(let chain): throw meaning(of: chain, step)
      }
      let image = try client.read(step) { () throws(ShapeError) in try ScreenshotOutput(output).image }
      guard let picture = Picture(image) else {
        throw .badReply(udid, step: step, detail: "no picture of a known form")
      }
      return picture
    }
  }

  /// By screenshotr, which speaks DeviceLink: lists in property lists. iOS 16 and older.
  private func classicScreen(_ version: SystemVersion, _ step: String) throws(PhoneError) -> Picture {
    let name = "com.apple.mobile.screenshotr"
    let found = try patiently(name, step, isDue: { () throws(PhoneError) in try hasDeveloperImage() }) {
      () throws(PhoneError) in try start(name)
    }
    guard let started = found else { throw try missingDeveloperService(version.major, step) }
    let channel = try ServiceChannel(started, context)
    // An uncompressed picture of a tablet's screen has 23 MB.
    channel.messageLimit = 48 << 20
    guard let offer = try channel.receivePlist().array, offer.first == "DLMessageVersionExchange" else {
      throw .badReply(udid, step: step, detail: "it does not begin with its version")
    }
    try channel.send(["DLMessageVersionExchange", "DLVersionsOk", offer.count > 1 ? offer[1] : 300], binary: true)
    guard try channel.receivePlist().array?.first == "DLMessageDeviceReady" else {
      throw .badReply(udid, step: step, detail: "it is not ready")
    }
    try channel.send(["DLMessageProcessMessage", ["MessageType": "ScreenShotRequest"]], binary: true)
    let reply = try channel.receivePlist().array ?? []
    guard reply.count >= 2, reply[0] == "DLMessageProcessMessage", let message = reply[1].dictionary else {
      throw .badReply(udid, step: step, detail: "no message came")
    }
    guard message["MessageType"]?.string == "ScreenShotReply", let bytes = message["ScreenShotData"]?.bytes else {
      let token = message["MessageType"]?.string ?? "an answer without a picture"
      throw .lockdown(udid, step: step, token: PhoneText.clean(token), code: 0)
    }
    // A farewell only.
    try? channel.send(["DLMessageDisconnect", "___EmptyParameterString___"], binary: true)
    guard let picture = Picture(bytes) else { throw .badReply(udid, step: step, detail: "no picture of a known form") }
    return picture
  }
}
