/// libFuzzer target: what debugserver may send.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGDB(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  var whole = GDBPacket.Decoder()
  var single = GDBPacket.Decoder()
  let items = try? whole.feed(bytes)
  let singles = try? bytes.flatMap { try single.feed([$0]) }
  guard items == singles else { fuzzFailure("pieces") }
  return 0
}
