import FoundationEssentials
import Transport
import Wire

/// RSD of one tunnel: the list of services and their ports, told to whoever connects, and one peer at a time.
final class RSDDesk: Sendable {
  private struct State {
    /// By port; a service keeps its port for the tunnel's life.
    var ports: [UInt16: RemoteService] = [:]
    /// The peer there is; another one takes its place.
    var peer: RemoteXPCConnection?
    /// The host that has spoken first in this tunnel.
    var host: UUID?
    /// Nothing is served any more: another host has spoken.
    var isShut = false
  }

  private static let patience = Duration.seconds(30)
  /// HTTP/2's code, with which a peer learns that another has taken its place.
  private static let streamClosed: UInt32 = 5

  private let phone: VirtualPhone
  private let interface: TunnelInterface
  private let port: UInt16
  private let state = Guarded(State())

  init(phone: VirtualPhone, interface: TunnelInterface, port: UInt16) {
    self.phone = phone
    self.interface = interface
    self.port = port
  }

  /// What serves a connection to that port to its end; nil: nobody does any more.
  func server(of port: UInt16) -> (@Sendable (TunnelStream) -> Void)? {
    if port == self.port { return { self.serve($0) } }
    if let bytes = phone.rules.with({ $0.remote.bulk[port] }) {
      return { stream in
        DeviceActions.sendZeros(bytes, to: stream)
        stream.endSending()
      }
    }
    guard let service = state.with({ $0.isShut ? nil : $0.ports[port] }), service.isOffered(by: phone) else {
      return nil
    }
    let phone = phone
    return { RemoteConnection(phone: phone, service: service).serve($0) }
  }

  // MARK: - The list

  /// The services that the phone has now, each with its port.
  private func services() throws(StreamError) -> [String: RSDService] {
    var list: [String: RSDService] = [:]
    let refusing = phone.rules.with { $0.remote.refusing }
    for service in RemoteService.all where service.isOffered(by: phone) {
      let port = try port(of: service, isOpen: !refusing.contains(service.name))
      list[service.name] = service.entry(port: port, on: phone)
    }
    return list
  }

  private func port(of service: RemoteService, isOpen: Bool) throws(StreamError) -> UInt16 {
    let known = state.with { $0.ports.first { $0.value.name == service.name }?.key }
    let port = if let known { known } else { try interface.listen() }
    state.with { $0.ports[port] = service }
    if !isOpen { interface.unlisten(port: port) }
    return port
  }

  private func handshake() throws(StreamError) -> RSDHandshake {
    let preset = phone.preset
    let identity = phone.identity
    let version: UInt64 = preset.major < 18 ? 3 : preset.major < 26 ? 5 : 7
    return RSDHandshake(
      version: version, uuid: UUID(uuidString: InstalledApp.folderName(for: phone.udid.description)),
      properties: [
        "UniqueDeviceID": .string(phone.udid.description), "ProductType": .string(preset.productType),
        "OSVersion": .string(preset.ios), "HumanReadableProductVersionString": .string(preset.ios),
        "BuildVersion": .string(preset.build), "UniqueChipID": .uint64(identity.ecid),
        "BoardId": .uint64(UInt64(preset.boardID)), "ChipID": .uint64(UInt64(preset.chipID)),
        "SecurityDomain": .uint64(1),
        "SerialNumber": .string(identity.serialNumber), "DeviceClass": "iPhone", "ProductName": "iPhone OS",
        "HWModel": .string(preset.hardwareModel), "HardwarePlatform": .string(preset.platform),
        "CPUArchitecture": .string(preset.architecture), "ModelNumber": .string(preset.modelNumber),
        "BootSessionUUID": .string(phone.state.with { $0.bootSession }), "ReleaseType": "", "RegionInfo": "LL/A",
        "EthernetMacAddress": .string(identity.ethernetAddress), "AppleInternal": false, "HasSEP": true,
        "DeviceSupportsLockdown": true, "IsVirtualDevice": false, "SensitivePropertiesVisible": true,
        "RemoteXPCVersionFlags": .uint64(0x0100_0000_0000_0006),
      ], services: try services())
  }

  // MARK: - The peer

  private func serve(_ stream: TunnelStream) {
    do throws(RemoteXPCError) {
      let connection = try RemoteXPCConnection.accept(on: stream, by: .after(Self.patience))
      let before = state.with { state in
        let before = state.peer
        state.peer = connection
        return before
      }
      before?.cancel(code: Self.streamClosed, by: .after(.seconds(1)))
      phone.record("rsd-connected", ["replaced": .boolean(before != nil)])
      try greet(connection)
      while let message = try connection.receive(by: .never) { hear(message.body ?? nil) }
    } catch {
      phone.record("rsd-ended", ["because": .string(error.sentence)])
    }
  }

  /// Pushed, not waited for: some hosts say nothing and just read.
  private func greet(_ connection: RemoteXPCConnection) throws(RemoteXPCError) {
    let handshake: RSDHandshake
    do throws(StreamError) { handshake = try self.handshake() } catch { throw .stream(error) }
    let fault = phone.rules.with { $0.remote.takeFault(for: CallFault.rsd) }
    try SpoiltReply(connection, phone, fault).push(handshake.body)
  }

  private func hear(_ body: XPCValue) {
    guard let handshake = try? RSDHandshake(body) else { return }
    let version = Int64(clamping: handshake.version)
    phone.record("rsd-host", ["uuid": .text(handshake.uuid?.uuidString), "version": .integer(version)])
    guard phone.remembersHost, let uuid = handshake.uuid else { return }
    let closing = state.with { state -> [UInt16] in
      defer { state.host = state.host ?? uuid }
      guard let host = state.host, host != uuid else { return [] }
      state.isShut = true
      return Array(state.ports.keys)
    }
    guard !closing.isEmpty else { return }
    for port in closing { interface.unlisten(port: port) }
    phone.record("rsd-services-closed", ["because": "another host's UUID"])
  }
}
