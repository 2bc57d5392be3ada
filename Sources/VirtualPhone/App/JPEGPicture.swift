import Wire

/// A small but whole baseline JPEG: one even colour, with EXIF.
///
/// The Huffman tables are chosen so that a block equal to the one before it is two zero bits: behind the first block,
/// the whole picture is zero bytes, and no encoder is needed.
///
/// - Source: ITU-T T.81, annexes B and K; the EXIF layout is CIPA DC-008's.
struct JPEGPicture: Sendable {
  /// As a phone's camera takes it.
  static let photo = (width: 4032, height: 3024)

  let camera: String
  /// For EXIF's Model; nil leaves EXIF out.
  let model: String?
  /// For EXIF's GPS part; nil leaves that out.
  let place: Place?
  var size = Self.photo

  var bytes: [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8]
    if let model {
      bytes += Self.segment(0xE1, Array("Exif".utf8) + [0, 0] + EXIF(model: model, size: size, place: place).bytes)
    }
    // Luminance in steps of 8, chrominance in steps of 4; only the mean of a block is ever coded.
    bytes += Self.segment(0xDB, [0] + [UInt8](repeating: 8, count: 64))
    bytes += Self.segment(0xDB, [1] + [UInt8](repeating: 4, count: 64))
    // Three components, the first in twice the resolution.
    bytes += Self.segment(
      0xC0,
      [8] + Self.word(size.height) + Self.word(size.width) + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
    // Codes: 0 is "no change", 10 is "seven bits follow"; for the rest of a block, 0 is "nothing more".
    bytes += Self.segment(0xC4, [0x00, 1, 1] + [UInt8](repeating: 0, count: 14) + [0, 7])
    bytes += Self.segment(0xC4, [0x10, 1, 1] + [UInt8](repeating: 0, count: 14) + [0x00, 0x01])
    bytes += Self.segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0])
    return bytes + scan + [0xFF, 0xD9]
  }

  /// Differences of the first block's means, in the tables' steps, each of 64...127 or its negative.
  private var tint: [Int] { camera == "front" ? [80, -70, 75] : [-75, 90, -80] }

  private var scan: [UInt8] {
    let units = ((size.width + 15) / 16) * ((size.height + 15) / 16)
    // Four luminance blocks and two of chrominance; each of the first ones carries its mean.
    var bits = Self.mean(tint[0]) + [UInt8](repeating: 0, count: 6) + Self.mean(tint[1]) + Self.mean(tint[2])
    let total = bits.count + (units - 1) * 12
    bits += [UInt8](repeating: 0, count: -bits.count & 7)
    var bytes = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | $1 }
    }
    bytes = bytes.flatMap { $0 == 0xFF ? [0xFF, 0x00] : [$0] }
    bytes += [UInt8](repeating: 0, count: (total + 7) / 8 - bits.count / 8)
    // The last byte is filled up with ones.
    bytes[bytes.count - 1] |= UInt8(1 << (-total & 7) - 1)
    return bytes
  }

  /// One block: its mean's difference to the block before, then nothing more.
  private static func mean(_ difference: Int) -> [UInt8] {
    let code = difference > 0 ? difference : difference + 127
    return [1, 0] + (0..<7).map { UInt8(code >> (6 - $0) & 1) } + [0]
  }

  private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0xFF, marker] + word(payload.count + 2) + payload
  }

  private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
}
