import Wire

/// What the phone can tell of an image that was sent to it. Its bytes are counted and thrown away.
///
/// Real images say their version in their file system, which nobody here can read; one for the virtual phones begins
/// with a line `FLEETCTL-IMAGE 16.7`. One that does not say is taken for the right one.
struct DeveloperImage: Equatable, Sendable {
  static let mark = "FLEETCTL-IMAGE "
  /// Bytes of the beginning that are looked at.
  static let headSize = 64

  let type: String
  let signature: [UInt8]
  /// Major and minor version of iOS, where the image says it.
  let version: [Int]?
  /// SHA-384 of a personalised image: what its ticket vouches for.
  let digest: [UInt8]?

  /// The type of images from iOS 17 on.
  static let personalized = "Personalized"

  /// - Parameter head: the image's first bytes.
  init(type: String, signature: [UInt8], head: [UInt8], digest: [UInt8]? = nil) {
    self.digest = digest
    self.type = type
    self.signature = signature
    let line = String(decoding: head.prefix(Self.headSize).prefix { $0 != 0x0A && $0 != 0 }, as: UTF8.self)
    version = line.hasPrefix(Self.mark) ? Self.numbers(line.dropFirst(Self.mark.count)) : nil
  }

  /// Whether an image with such a version serves a phone with that system: major and minor have to be the same.
  ///
  /// The last classic images are those of 16.4, which later 16s take as well (assumed).
  func fits(_ ios: String) -> Bool {
    guard let version else { return true }
    let own = Self.numbers(ios)
    return version == own || (own[0] == 16 && own[1] > 4 && version == [16, 4])
  }

  private static func numbers(_ text: some StringProtocol) -> [Int] {
    let numbers = text.split(separator: ".").map { Int(String($0.prefix { $0.isNumber })) ?? 0 }
    return [numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 0]
  }
}
