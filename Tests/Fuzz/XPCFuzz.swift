/// libFuzzer target: what a stream of RemoteXPC may bring. The first byte says in which pieces the rest arrives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzXPC(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let piece = bytes.first else { return 0 }
  let whole = messages(bytes.dropFirst(), piece: .max)
  let parts = messages(bytes.dropFirst(), piece: max(1, Int(piece)))
  // A message must not depend on how the frames cut it.
  guard whole?.map(\.bytes) == parts?.map(\.bytes) else { fuzzFailure("pieces") }
  for message in whole ?? [] {
    var reader = XPCMessageReader()
    guard (try? reader.feed(message.bytes))?.map(\.bytes) == [message.bytes] else { fuzzFailure("written again") }
  }
  return 0
}

private func messages(_ bytes: ArraySlice<UInt8>, piece: Int) -> [XPCMessage]? {
  var reader = XPCMessageReader(limit: 1 << 20)
  var messages: [XPCMessage] = []
  var rest = bytes
  while !rest.isEmpty {
    let part = rest.prefix(piece)
    rest = rest.dropFirst(part.count)
    guard let more = try? reader.feed(part) else { return nil }
    messages += more
  }
  return messages
}
