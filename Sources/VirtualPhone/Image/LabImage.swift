import Transport
import Wire

/// A personalised developer image for the virtual phones: files as Apple's have them, with other bytes in them.
public struct LabImage: Sendable {
  /// Contents by file name: `Image.dmg`, `Image.trustcache`, `BuildManifest.plist`.
  public let files: [String: [UInt8]]

  /// - Parameters:
  ///   - bytes: of the image.
  ///   - presets: the phones that its build manifest lists.
  public init(bytes: Int = 1 << 20, for presets: [PhonePreset] = PhonePreset.all + PhonePreset.further) {
    let image = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let trustCache = Array("a trust cache".utf8)
    var identities: [Plist] = []
    var seen: Set<[Int]> = []
    for preset in presets where seen.insert([preset.boardID, Int(preset.chipID)]).inserted {
      identities.append(Self.identity(preset, SHA384.of(image), SHA384.of(trustCache)))
    }
    let manifest = Plist.dictionary([
      "BuildIdentities": .array(identities), "ManifestVersion": 0, "ProductBuildVersion": "24A1",
      "ProductVersion": "26.0", "SupportedProductTypes": .array(presets.map { .string($0.productType) }),
    ])
    files = ["Image.dmg": image, "Image.trustcache": trustCache, "BuildManifest.plist": manifest.xml]
  }

  /// Ways in which a component's signature is bound to the phone; a request has to say how they came out.
  private static let rules: Plist = [
    ["Actions": ["EPRO": true], "Conditions": ["ApRawProductionMode": true, "ApRequiresImage4": true]],
    ["Actions": ["EPRO": false], "Conditions": ["ApRawProductionMode": false, "ApRequiresImage4": true]],
    ["Actions": ["ESEC": true], "Conditions": ["ApRawSecurityMode": true, "ApRequiresImage4": true]],
    ["Actions": ["ESEC": false], "Conditions": ["ApRawSecurityMode": false, "ApRequiresImage4": true]],
  ]

  private static func identity(_ preset: PhonePreset, _ image: [UInt8], _ trustCache: [UInt8]) -> Plist {
    func hex(_ number: Int) -> Plist {
      let digits = String(number, radix: 16, uppercase: true)
      return .string("0x" + (digits.utf8.count < 2 ? "0" : "") + digits)
    }
    return [
      "ApBoardID": hex(preset.boardID), "ApChipID": hex(Int(preset.chipID)), "ApSecurityDomain": "0x01",
      "Info": ["DeviceClass": .string(preset.hardwareModel.lowercased()), "Variant": "Developer Disk Image"],
      "Manifest": [
        ImageTicket.trustCache: [
          "Digest": .data(trustCache), "Trusted": true,
          "Info": ["Path": "Image.trustcache", "RestoreRequestRules": rules],
        ],
        ImageTicket.image: [
          "Digest": .data(image), "Name": "DeveloperDiskImage", "Trusted": true,
          "Info": ["Path": "Image.dmg", "RestoreRequestRules": rules],
        ],
        // Parts that nobody has to sign for.
        "PersonalizedDMGNotes": ["Info": ["Path": "Notes.txt"], "Trusted": false],
        "Unlisted": ["Digest": .data([]), "Trusted": true],
      ],
    ]
  }
}
