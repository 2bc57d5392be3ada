import CPNG
import CTIFF
import Glibc

/// The pixels of a picture of the screen, in memory only, for as long as somebody looks at them.
///
/// Like the picture itself it has no form in which it could be printed or written.
public struct Pixels: Sendable {
  /// One pixel in sRGB, each part 0...1.
  public struct Colour: Equatable, Sendable {
    public var red: Double
    public var green: Double
    public var blue: Double
    public init(red: Double, green: Double, blue: Double) {
      self.red = red
      self.green = green
      self.blue = blue
    }
  }

  public let width: Int
  public let height: Int
  /// Red, green, blue and alpha, a byte each, from the top left.
  private let bytes: [UInt8]

  /// A picture that takes more room than this is no screen's.
  private static let limit = 128 << 20

  /// - Returns: nil where the picture is damaged.
  public init?(_ picture: Picture) {
    guard picture.width * picture.height * 4 <= Self.limit else { return nil }
    let decoded: [UInt8]? =
      switch picture.format {
      case .png: picture.withBytes { Self.png($0, picture.width, picture.height) }
      case .tiff: picture.withBytes { Self.tiff($0, picture.width, picture.height) }
      }
    guard let decoded else { return nil }
    (width, height, bytes) = (picture.width, picture.height, decoded)
  }

  /// - Parameter x: from the left, below `width`.
  /// - Parameter y: from the top, below `height`.
  public subscript(x: Int, y: Int) -> Colour {
    let at = (y * width + x) * 4
    return Colour(
      red: Double(bytes[at]) / 255, green: Double(bytes[at + 1]) / 255, blue: Double(bytes[at + 2]) / 255)
  }

  /// libpng's simplified interface, which takes any PNG to eight bits of sRGB.
  private static func png(_ source: UnsafeRawBufferPointer, _ width: Int, _ height: Int) -> [UInt8]? {
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    defer { png_image_free(&image) }
    guard png_image_begin_read_from_memory(&image, source.baseAddress, source.count) != 0,
      Int(image.width) == width, Int(image.height) == height
    else { return nil }
    // PNG_FORMAT_RGBA: colour and alpha.
    image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
    var bytes = [UInt8](repeating: 0, count: width * height * 4)
    guard png_image_finish_read(&image, nil, &bytes, 0, nil) != 0 else { return nil }
    return bytes
  }

  private static func tiff(_ source: UnsafeRawBufferPointer, _ width: Int, _ height: Int) -> [UInt8]? {
    TIFFSource.silence()
    let reader = TIFFSource(source)
    return withExtendedLifetime(reader) {
      guard let file = reader.open() else { return nil }
      defer { TIFFClose(file) }
      var words = [UInt32](repeating: 0, count: width * height)
      let isRead = TIFFReadRGBAImageOriented(
        file, UInt32(width), UInt32(height), &words, Int32(ORIENTATION_TOPLEFT), 1)
      guard isRead == 1 else { return nil }
      return words.withUnsafeBytes { Array($0) }
    }
  }
}

extension Pixels: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "\(width) by \(height) pixels (not shown)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Bytes in memory as libtiff reads files.
private final class TIFFSource {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  /// - Parameter bytes: valid for as long as this lives.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The library would print what it thinks of a damaged picture.
  static func silence() {
    TIFFSetErrorHandler(nil)
    TIFFSetWarningHandler(nil)
  }

  func open() -> OpaquePointer? {
    TIFFClientOpen(
      "screen", "rm", Unmanaged.passUnretained(self).toOpaque(),
      { handle, buffer, count in TIFFSource.of(handle)?.read(buffer, count) ?? 0 }, { _, _, _ in 0 },
      { handle, offset, whence in TIFFSource.of(handle)?.seek(offset, whence) ?? toff_t.max }, { _ in 0 },
      { handle in toff_t(TIFFSource.of(handle)?.bytes.count ?? 0) }, { _, _, _ in 0 }, { _, _, _ in })
  }

  private static func of(_ handle: thandle_t?) -> TIFFSource? {
    handle.map { Unmanaged<TIFFSource>.fromOpaque($0).takeUnretainedValue() }
  }

  private func read(_ buffer: UnsafeMutableRawPointer?, _ count: tmsize_t) -> tmsize_t {
    guard let buffer, count > 0, position < bytes.count else { return 0 }
    let part = bytes[position...].prefix(Int(count))
    UnsafeMutableRawBufferPointer(start: buffer, count: part.count).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: part))
    position += part.count
    return tmsize_t(part.count)
  }

  private func seek(_ offset: toff_t, _ whence: Int32) -> toff_t {
    let base =
      switch whence {
      case SEEK_SET: 0
      case SEEK_CUR: position
      default: bytes.count
      }
    // Beyond the end nothing is read; a place that is no place stays where it was.
    let (place, hasOverflown) = base.addingReportingOverflow(Int(truncatingIfNeeded: offset))
    if !hasOverflown, place >= 0 { position = place }
    return toff_t(position)
  }
}
