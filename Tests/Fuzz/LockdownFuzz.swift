/// libFuzzer target: what lockdownd and plist services may send. Four bytes of length, then a property list.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLockdown(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let size = try? ServiceFrame.payloadSize(Array(bytes.prefix(ServiceFrame.headerSize)), limit: 1 << 24)
  else { return 0 }
  fuzzPlist(Array(bytes.dropFirst(ServiceFrame.headerSize).prefix(size)))
  return 0
}
