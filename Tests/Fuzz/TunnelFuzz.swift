/// libFuzzer target: the handshake of a tunnel, from either end. The first byte says in which pieces the rest arrives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTunnel(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let piece = bytes.first else { return 0 }
  var reader = TunnelFrameReader()
  var rest = bytes.dropFirst()
  while !rest.isEmpty {
    let part = rest.prefix(max(1, Int(piece)))
    rest = rest.dropFirst(part.count)
    let outcome: (body: JSON, rest: [UInt8])?
    do { outcome = try reader.feed(part) } catch { return 0 }
    guard let (body, behind) = outcome else { continue }
    guard behind.count < part.count || behind.isEmpty else { fuzzFailure("what follows") }
    if let offer = try? TunnelOffer(body) {
      guard (try? TunnelOffer(offer.body)) == offer else { fuzzFailure("offer") }
    }
    if let request = try? TunnelRequest(body) {
      guard (try? TunnelRequest(request.body)) == request else { fuzzFailure("request") }
    }
    return 0
  }
  return 0
}
