/// libFuzzer target: what a door may answer. The first byte says in which pieces the rest arrives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let piece = bytes.first else { return 0 }
  let whole = outcome(Array(bytes.dropFirst()), piece: .max)
  let parts = outcome(Array(bytes.dropFirst()), piece: max(1, Int(piece)))
  // An answer must not depend on how the network cut it.
  guard whole == parts else { fuzzFailure("pieces") }
  return 0
}

private func outcome(_ bytes: [UInt8], piece: Int) -> HTTPMessage? {
  let parser = HTTPParser(.response, bodyLimit: 1 << 20)
  var rest = bytes[...]
  do {
    while !rest.isEmpty {
      let part = rest.prefix(piece)
      try parser.feed(Array(part))
      rest = rest.dropFirst(part.count)
    }
    try parser.finish()
  } catch {
    return nil
  }
  return parser.message
}
