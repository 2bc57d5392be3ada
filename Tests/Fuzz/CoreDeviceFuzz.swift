/// libFuzzer target: one object of RemoteXPC, read as each message that either end may expect.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCoreDevice(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let body = try? XPCValue(decoding: UnsafeBufferPointer(start: start, count: count)) else { return 0 }
  same(try? RSDHandshake(body), { $0.body }) { body throws(ShapeError) in try RSDHandshake(body) }
  same(try? LaunchInput(body), { $0.body }) { body throws(ShapeError) in try LaunchInput(body) }
  same(try? LaunchOutput(body), { $0.body }) { body throws(ShapeError) in try LaunchOutput(body) }
  same(try? ProcessList(body), { $0.body }) { body throws(ShapeError) in try ProcessList(body) }
  same(try? SignalInput(body), { $0.body }) { body throws(ShapeError) in try SignalInput(body) }
  same(try? LockStateOutput(body), { $0.body }) { body throws(ShapeError) in try LockStateOutput(body) }
  same(try? ScreenshotInput(body), { $0.body }) { body throws(ShapeError) in try ScreenshotInput(body) }
  same(try? ScreenshotOutput(body), { $0.body }) { body throws(ShapeError) in try ScreenshotOutput(body) }
  same(try? AppListInput(body), { $0.body }) { body throws(ShapeError) in try AppListInput(body) }
  same(try? AppEntry(body), { $0.body }) { body throws(ShapeError) in try AppEntry(body) }
  same(try? StreamInput(body), { $0.body }) { body throws(ShapeError) in try StreamInput(body) }
  if let request = try? CoreDeviceRequest(body) {
    same(request, { $0.body }) { body throws(ShapeError) in try CoreDeviceRequest(body) }
  }
  if let push = StreamPush(body), StreamPush(push.body) == nil { fuzzFailure("push") }
  if let reply = try? CoreDeviceReply(body) {
    guard (try? CoreDeviceReply(reply.body)) != nil else { fuzzFailure("reply") }
    if case .error(let chain) = reply { _ = (chain.deepestKnown, chain.words) }
  }
  return 0
}

/// What was read can be written, and is then read as the same.
private func same<Message>(
  _ message: Message?, _ write: (Message) -> XPCValue, _ read: (XPCValue) throws(ShapeError) -> Message
) {
  // By its bytes: what is no number is not equal to itself.
  guard let body = message.map(write) else { return }
  guard (try? read(body)).map({ write($0).encoded }) == body.encoded else { fuzzFailure("the same message") }
}
