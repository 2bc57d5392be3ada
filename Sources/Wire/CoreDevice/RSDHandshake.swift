import FoundationEssentials

/// What the two ends of a tunnel tell each other first: who they are, and which services stand on which ports.
///
/// - Source: a capture of pymobiledevice3 11.45.0; published peer infos of iOS 17 to 26.
public struct RSDHandshake: Equatable, Sendable {
  static let versionFlags: UInt64 = 0x0100_0000_0000_0006

  /// The version of the protocol: 3 on iOS 17.0, 5 on 18.0, 7 on newer ones and on hosts.
  public var version: UInt64
  /// The side's identity. A host's must never change: a phone closes its services to one that does.
  public var uuid: UUID?
  public var properties: [String: XPCValue]
  /// By their names; an entry that makes no sense is as good as absent.
  public var services: [String: RSDService]

  public init(
    version: UInt64 = 7, uuid: UUID?, properties: [String: XPCValue], services: [String: RSDService] = [:]
  ) {
    self.version = version
    self.uuid = uuid
    self.properties = properties
    self.services = services
  }

  /// What a host says of itself.
  public static func host(_ uuid: UUID) -> RSDHandshake {
    RSDHandshake(
      uuid: uuid,
      properties: ["RemoteXPCVersionFlags": .uint64(versionFlags), "SensitivePropertiesVisible": true])
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard try body.text("MessageType") == "Handshake" else { throw ShapeError("MessageType") }
    version = body["MessagingProtocolVersion"]?.unsigned ?? 0
    uuid = body["UUID"]?.uuid
    properties = try body.entries("Properties")
    services = try body.entries("Services").compactMapValues(RSDService.init)
  }

  public var body: XPCValue {
    var entries: [String: XPCValue] = [
      "MessageType": "Handshake", "MessagingProtocolVersion": .uint64(version), "Properties": .dictionary(properties),
      "Services": .dictionary(services.mapValues(\.body)),
    ]
    if let uuid { entries["UUID"] = .uuid(uuid) }
    return .dictionary(entries)
  }

  public var udid: UDID? { properties["UniqueDeviceID"]?.string.map(UDID.init(_:)) }
  public var osVersion: String? { properties["OSVersion"]?.string }
  public var productType: String? { properties["ProductType"]?.string }
  /// The chip's number, which the signing service asks for.
  public var ecid: UInt64? { properties["UniqueChipID"]?.unsigned }
}

/// One entry of a phone's list of services.
public struct RSDService: Equatable, Sendable {
  public var port: UInt16
  public var entitlement: String
  public var usesRemoteXPC: Bool
  public var version: Int?
  /// An empty list says nothing of what the service can do.
  public var features: [String]

  public init(
    port: UInt16, entitlement: String = "", usesRemoteXPC: Bool = false, version: Int? = nil, features: [String] = []
  ) {
    self.port = port
    self.entitlement = entitlement
    self.usesRemoteXPC = usesRemoteXPC
    self.version = version
    self.features = features
  }

  /// - Returns: nil for an entry without a port.
  public init?(_ body: XPCValue) {
    // The number is written as a text; one that is written as a number is as clear.
    let number = body["Port"]?.string.flatMap { UInt16($0) } ?? body["Port"]?.int.flatMap(UInt16.init(exactly:))
    guard let number, number > 0 else { return nil }
    let properties = body["Properties"]
    self.init(
      port: number, entitlement: body["Entitlement"]?.string ?? "",
      usesRemoteXPC: properties?["UsesRemoteXPC"]?.bool ?? false, version: properties?["ServiceVersion"]?.int,
      features: properties?["Features"]?.array?.compactMap(\.string) ?? [])
  }

  public var body: XPCValue {
    var properties: [String: XPCValue] = [:]
    if usesRemoteXPC { properties["UsesRemoteXPC"] = true }
    if let version { properties["ServiceVersion"] = .int64(Int64(version)) }
    if !features.isEmpty { properties["Features"] = .texts(features) }
    return ["Port": .string(String(port)), "Entitlement": .string(entitlement), "Properties": .dictionary(properties)]
  }

  /// Whether the service says that it can do this, or says nothing.
  public func offers(_ feature: CoreDeviceFeature) -> Bool {
    features.isEmpty || features.contains(feature.identifier)
  }
}
