import Transport
import Wire

/// The keys and certificates of every virtual phone in this process, and of the host that they trust from the start.
///
/// One RSA key costs a quarter of a second, so 256 phones share one device key and one host. They live in memory only.
final class FleetKeys: Sendable {
  /// PKCS#1 PEM: what GetValue gives as DevicePublicKey.
  let devicePublicKey: [UInt8]
  let devicePrivateKey: [UInt8]
  private let rootPrivateKey: [UInt8]
  private let hostPrivateKey: [UInt8]
  private let rootCertificate: [UInt8]
  private let hostCertificate: [UInt8]
  private let deviceCertificate: [UInt8]

  /// Made on first use, once a process.
  static let shared = Result<FleetKeys, OpenSSLFailure> { () throws(OpenSSLFailure) in try FleetKeys() }

  private init() throws(OpenSSLFailure) {
    let (device, root, host) = try Self.threeKeys()
    devicePublicKey = try device.publicPEM()
    devicePrivateKey = try device.privatePEM()
    rootPrivateKey = try root.privatePEM()
    hostPrivateKey = try host.privatePEM()
    rootCertificate = try Certificate.pem(.root, of: root, signedBy: root)
    hostCertificate = try Certificate.pem(.host, of: host, signedBy: root)
    deviceCertificate = try Certificate.pem(.device, of: device, signedBy: root)
  }

  /// Two of them on threads of their own: starting is what a person waits for.
  private static func threeKeys() throws(OpenSSLFailure) -> (RSAKey, RSAKey, RSAKey) {
    let made = Guarded([Result<RSAKey, OpenSSLFailure>]())
    let makers = (0..<2).map { _ in
      Worker(name: "rsa-key") {
        let key = Result { () throws(OpenSSLFailure) in try RSAKey() }
        made.with { $0.append(key) }
      }
    }
    let own = try RSAKey()
    for maker in makers { maker.join(by: .never) }
    let others = made.with { $0 }
    guard others.count == 2 else { throw OpenSSLFailure(text: "a key is missing") }
    return (own, try others[0].get(), try others[1].get())
  }

  /// What the phone keeps of the fleet's own host.
  func pairing(escrowBag: [UInt8]) -> Pairing? {
    guard let root = PEM.certificateDER(rootCertificate), let host = PEM.certificateDER(hostCertificate) else {
      return nil
    }
    return Pairing(
      rootCertificate: root, hostCertificate: host, deviceCertificate: deviceCertificate, escrowBag: escrowBag)
  }

  /// What the host keeps of the phone, as libimobiledevice writes it; XML.
  func pairRecord(hostID: String, systemBUID: String, escrowBag: [UInt8], wifiAddress: String) -> [UInt8] {
    let record: Plist = [
      "DeviceCertificate": .data(deviceCertificate), "HostCertificate": .data(hostCertificate),
      "HostPrivateKey": .data(hostPrivateKey), "RootCertificate": .data(rootCertificate),
      "RootPrivateKey": .data(rootPrivateKey), "HostID": .string(hostID), "SystemBUID": .string(systemBUID),
      "EscrowBag": .data(escrowBag), "WiFiMACAddress": .string(wifiAddress),
    ]
    return record.xml
  }
}

extension Result where Failure == OpenSSLFailure {
  /// As the standard library's `init(catching:)`, with the error's type kept.
  fileprivate init(_ body: () throws(OpenSSLFailure) -> Success) {
    do throws(OpenSSLFailure) { self = .success(try body()) } catch { self = .failure(error) }
  }
}

/// Random values of the system's generator, in the forms that records want.
enum Fresh {
  static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max) } }

  /// A version 4 UUID in capitals.
  static func uuid() -> String {
    var bytes = bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let text = Hex.encode(bytes)
    var parts: [Substring] = []
    var rest = text[...]
    for length in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return parts.joined(separator: "-")
  }
}
