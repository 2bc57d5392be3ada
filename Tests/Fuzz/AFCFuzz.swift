/// libFuzzer target: what the phone's file service may send.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAFC(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let limit = 1 << 20
  if let header = try? AFCFrame.header(Array(bytes.prefix(AFCFrame.headerSize)), limit: limit) {
    guard header.dataSize >= 0, header.payloadSize >= 0,
      AFCFrame.headerSize + header.dataSize + header.payloadSize <= limit
    else { fuzzFailure("sizes within the limit") }
  }
  let texts = AFCFrame.texts(bytes)
  guard texts.allSatisfy({ !$0.utf8.contains(0) }) else { fuzzFailure("texts end at a NUL") }
  guard AFCFrame.pairs(bytes).count <= bytes.count else { fuzzFailure("no more pairs than bytes") }
  return 0
}
