/// libFuzzer target: the packets of a tunnel. The first byte says in which pieces the rest arrives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPackets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let piece = bytes.first else { return 0 }
  let whole = packets(bytes.dropFirst(), piece: .max)
  guard whole == packets(bytes.dropFirst(), piece: max(1, Int(piece))) else { fuzzFailure("pieces") }
  // Nothing is lost, and nothing comes in another order.
  guard bytes.dropFirst().starts(with: (whole ?? []).joined()) else { fuzzFailure("order") }
  for packet in whole ?? [] {
    guard let header = packet.withUnsafeBytes(IPv6Header.init), header.payloadSize + IPv6Header.size == packet.count,
      IPv6Address(header.source.description) == header.source
    else { fuzzFailure("header") }
  }
  return 0
}

private func packets(_ bytes: ArraySlice<UInt8>, piece: Int) -> [[UInt8]]? {
  var splitter = IPv6PacketSplitter(limit: 1 << 14)
  var packets: [[UInt8]] = []
  var rest = bytes
  while !rest.isEmpty {
    let part = rest.prefix(piece)
    rest = rest.dropFirst(part.count)
    guard let more = try? splitter.feed(Array(part)) else { return nil }
    packets += more
  }
  return packets
}
