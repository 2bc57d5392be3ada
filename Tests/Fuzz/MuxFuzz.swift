/// libFuzzer target: what a mux may send. A frame's header decides the length, its payload is a property list.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMux(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let (frame, size) = try? MuxFrame.header(Array(bytes.prefix(MuxFrame.headerSize)), limit: 1 << 24),
    bytes.count >= MuxFrame.headerSize + size
  else { return 0 }
  let payload = Array(bytes[MuxFrame.headerSize..<(MuxFrame.headerSize + size)])
  // What was taken can be written again, and is then the same frame.
  var whole = frame
  whole.payload = payload
  guard whole.bytes == Array(bytes.prefix(MuxFrame.headerSize + size)) else { fuzzFailure("frame") }
  fuzzPlist(payload)
  return 0
}
