/// A model and system version that a virtual phone pretends to be.
///
/// Product types, board names, chip numbers and builds are those that such phones report.
public struct PhonePreset: Equatable, Sendable {
  /// As `ProductVersion` says it, such as `16.7`.
  public let ios: String
  public let build: String
  public let productType: String
  public let hardwareModel: String
  public let platform: String
  public let chipID: UInt32
  public let boardID: Int
  public let architecture: String
  public let modelNumber: String
  public let marketingName: String
  public let firmware: String
  public let basebandVersion: String

  /// The version's first number.
  public var major: Int { Int(ios.prefix { $0 != "." }) ?? 0 }

  /// Whether the version is that one or a later one.
  public func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
    let own = Self.numbers(ios)
    return own.major > major || own.major == major && own.minor >= minor
  }

  /// A12 and later chips give the hyphenated identifier; older ones forty lower-case digits.
  public var hasHyphenatedUDID: Bool { chipID >= 0x8020 }

  /// Oldest system first; a fleet without a wish takes them in this order, again and again.
  public static let all: [PhonePreset] = [
    PhonePreset(
      ios: "15.8", build: "19H370", productType: "iPhone8,1", hardwareModel: "N71AP", platform: "s8000",
      chipID: 0x8000, boardID: 4, architecture: "arm64", modelNumber: "MKQK2", marketingName: "iPhone 6s",
      firmware: "iBoot-7459.140.15", basebandVersion: "9.61.00"),
    PhonePreset(
      ios: "16.7", build: "20H19", productType: "iPhone12,1", hardwareModel: "N104AP", platform: "t8030",
      chipID: 0x8030, boardID: 4, architecture: "arm64e", modelNumber: "MWLT2", marketingName: "iPhone 11",
      firmware: "iBoot-8422.142.2", basebandVersion: "4.03.05"),
    PhonePreset(
      ios: "17.6", build: "21G80", productType: "iPhone14,2", hardwareModel: "D63AP", platform: "t8110",
      chipID: 0x8110, boardID: 12, architecture: "arm64e", modelNumber: "MLVD3", marketingName: "iPhone 13 Pro",
      firmware: "iBoot-10151.140.19", basebandVersion: "3.70.02"),
    PhonePreset(
      ios: "18.5", build: "22F76", productType: "iPhone15,4", hardwareModel: "D37AP", platform: "t8120",
      chipID: 0x8120, boardID: 8, architecture: "arm64e", modelNumber: "MTLV3", marketingName: "iPhone 15",
      firmware: "iBoot-11881.122.1", basebandVersion: "2.60.02"),
    PhonePreset(
      ios: "26.1", build: "23B85", productType: "iPhone17,3", hardwareModel: "D47AP", platform: "t8140",
      chipID: 0x8140, boardID: 4, architecture: "arm64e", modelNumber: "MYAP3", marketingName: "iPhone 16",
      firmware: "iBoot-13822.42.2", basebandVersion: "2.20.00"),
  ]

  /// Versions with manners of their own, for whoever asks for them by name; no fleet has them otherwise.
  public static let further: [PhonePreset] = [
    // Its tunnel is not lockdown's to start; that came with 17.4.
    PhonePreset(
      ios: "17.0", build: "21A329", productType: "iPhone15,2", hardwareModel: "D73AP", platform: "t8120",
      chipID: 0x8120, boardID: 12, architecture: "arm64e", modelNumber: "MQ1C3", marketingName: "iPhone 14 Pro",
      firmware: "iBoot-10151.1.1", basebandVersion: "2.00.01"),
    // Remembers the UUID of its host. The build is assumed.
    PhonePreset(
      ios: "27.2", build: "24C100", productType: "iPhone17,3", hardwareModel: "D47AP", platform: "t8140",
      chipID: 0x8140, boardID: 4, architecture: "arm64e", modelNumber: "MYAP3", marketingName: "iPhone 16",
      firmware: "iBoot-15000.60.1", basebandVersion: "3.00.00"),
  ]

  /// The preset of that version, or of that major version when only it is given.
  public static func named(_ version: String) -> PhonePreset? {
    let known = all + further
    return known.first { $0.ios == version } ?? known.first { String($0.major) == version }
  }

  private static func numbers(_ version: String) -> (major: Int, minor: Int) {
    let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
    return (numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 0)
  }
}
