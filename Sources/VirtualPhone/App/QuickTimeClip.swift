/// A minimal QuickTime movie: one video track of JPEG frames, ten a second.
///
/// - Source: QuickTime File Format, the atoms ftyp, mdat, moov and below.
struct QuickTimeClip: Sendable {
  /// Ticks a second, of the movie and of its track.
  private static let scale = 600.0
  private static let ticksPerFrame = 60
  private static let size = (width: 320, height: 240)

  let seconds: Double
  let camera: String

  var bytes: [UInt8] {
    let frame = JPEGPicture(camera: camera, model: nil, place: nil, size: Self.size).bytes
    let ticks = max(1, Int((seconds * Self.scale).rounded()))
    let frames = (ticks + Self.ticksPerFrame - 1) / Self.ticksPerFrame
    let head = Self.atom("ftyp", Self.text("qt  ") + Self.long(0) + Self.text("qt  "))
    let media = Self.atom("mdat", Array(repeatElement(frame, count: frames).joined()))
    let table = Self.sampleTable(frames: frames, frameBytes: frame.count, ticks: ticks, at: head.count + 8)
    return head + media + Self.movie(ticks: ticks, table: table)
  }

  private static func movie(ticks: Int, table: [UInt8]) -> [UInt8] {
    let zero = [UInt8](repeating: 0, count: 8)
    let header = long(0) + long(0) + long(0) + long(Int(scale)) + long(ticks) + long(0x10000) + [1, 0] + zero + word(0)
    let movieHeader = atom("mvhd", header + identity + [UInt8](repeating: 0, count: 24) + long(2))
    let trackHeader = atom(
      "tkhd",
      long(0xF) + long(0) + long(0) + long(1) + long(0) + long(ticks) + zero + zero + identity
        + long(size.width << 16) + long(size.height << 16))
    let mediaHeader = atom("mdhd", long(0) + long(0) + long(0) + long(Int(scale)) + long(ticks) + word(0) + word(0))
    let information =
      atom("vmhd", long(1) + word(0x40) + word(0x8000) + word(0x8000) + word(0x8000))
      + handler("dhlr", "alis") + atom("dinf", atom("dref", long(0) + long(1) + atom("alis", long(1)))) + table
    let media = atom("mdia", mediaHeader + handler("mhlr", "vide") + atom("minf", information))
    return atom("moov", movieHeader + atom("trak", trackHeader + media))
  }

  /// - Parameter start: where the first frame stands in the file; the others follow it.
  private static func sampleTable(frames: Int, frameBytes: Int, ticks: Int, at start: Int) -> [UInt8] {
    let name = [4] + text("JPEG") + [UInt8](repeating: 0, count: 27)
    var description = [UInt8](repeating: 0, count: 6) + word(1) + word(0) + word(0) + text("appl")
    description += long(512) + long(512) + word(size.width) + word(size.height) + long(72 << 16) + long(72 << 16)
    description += long(0) + word(1) + name + word(24) + word(0xFFFF)
    let last = ticks - (frames - 1) * ticksPerFrame
    let times =
      frames == 1
      ? long(1) + long(1) + long(last)
      : long(2) + long(frames - 1) + long(ticksPerFrame) + long(1) + long(last)
    return atom(
      "stbl",
      atom("stsd", long(0) + long(1) + atom("jpeg", description)) + atom("stts", long(0) + times)
        + atom("stsc", long(0) + long(1) + long(1) + long(frames) + long(1))
        + atom("stsz", long(0) + long(frameBytes) + long(frames)) + atom("stco", long(0) + long(1) + long(start)))
  }

  private static func handler(_ type: String, _ subtype: String) -> [UInt8] {
    atom("hdlr", long(0) + text(type) + text(subtype) + long(0) + long(0) + long(0) + [0])
  }

  /// The matrix that turns and scales nothing.
  private static let identity =
    long(0x10000) + long(0) + long(0) + long(0) + long(0x10000) + long(0) + long(0) + long(0) + long(0x4000_0000)

  private static func atom(_ name: String, _ payload: [UInt8]) -> [UInt8] {
    long(payload.count + 8) + text(name) + payload
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  private static func long(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
  private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
}
