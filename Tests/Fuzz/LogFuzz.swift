/// libFuzzer target: what syslog_relay may send.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLog(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  var (whole, single) = (LogSplitter(), LogSplitter())
  let records = whole.feed(bytes)
  guard records == bytes.flatMap({ single.feed([$0]) }) else { fuzzFailure("pieces") }
  guard records.allSatisfy({ !$0.text.isEmpty && !$0.text.utf8.contains(0x0A) && !$0.text.utf8.contains(0) })
  else { fuzzFailure("one line each") }
  return 0
}
