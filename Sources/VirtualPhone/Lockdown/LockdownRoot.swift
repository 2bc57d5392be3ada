import Glibc
import Transport
import Wire

/// The values of the root domain: those that phones are known to give, with plausible contents.
///
/// - Source: the values that phones report; the open ones are those of a capture without a session.
enum LockdownRoot {
  static let values = identity + system + hardware + telephony + moment

  private static let identity: [LockdownValue] = [
    LockdownValue("DeviceClass", .open, always: "iPhone"),
    LockdownValue("DeviceName", .open) { .string($1.name) },
    LockdownValue("UniqueDeviceID", .open) { phone, _ in .string(phone.udid.description) },
    LockdownValue("UniqueChipID", .open) { phone, _ in .integer(Int64(bitPattern: phone.identity.ecid)) },
    LockdownValue("DieID", .open) { phone, _ in .integer(Int64(bitPattern: phone.identity.ecid)) },
    LockdownValue("SerialNumber") { phone, _ in .string(phone.identity.serialNumber) },
    LockdownValue("MLBSerialNumber") { phone, _ in .string(phone.identity.boardSerialNumber) },
    LockdownValue("WiFiAddress", .open) { phone, _ in .string(phone.identity.wifiAddress) },
    LockdownValue("BluetoothAddress") { phone, _ in .string(phone.identity.bluetoothAddress) },
    LockdownValue("EthernetAddress") { phone, _ in .string(phone.identity.ethernetAddress) },
  ]

  private static let system: [LockdownValue] = [
    LockdownValue("ProductName", .open, always: "iPhone OS"),
    LockdownValue("ProductType", .open) { phone, _ in .string(phone.preset.productType) },
    LockdownValue("ProductVersion", .open) { phone, _ in .string(phone.preset.ios) },
    LockdownValue("HumanReadableProductVersionString") { phone, _ in
      phone.preset.major >= 16 ? .string(phone.preset.ios) : nil
    },
    LockdownValue("BuildVersion", .open) { phone, _ in .string(phone.preset.build) },
    LockdownValue("ProtocolVersion", .open, always: "2"),
    LockdownValue("ActivationState", always: "Activated"),
    LockdownValue("ActivationStateAcknowledged", always: true),
    LockdownValue("BrickState", always: false),
    LockdownValue("HostAttached", always: true),
    LockdownValue("TrustedHostAttached", always: true),
    LockdownValue("PairRecordProtectionClass", always: 4),
    LockdownValue("PasswordProtected") { .boolean($1.locked) },
    LockdownValue("SoftwareBehavior", always: .data([0x11] + [UInt8](repeating: 0, count: 15))),
    LockdownValue("SoftwareBundleVersion", always: ""),
    LockdownValue("UseRaptorCerts", always: true),
    LockdownValue("Uses24HourClock", always: true),
    LockdownValue("RegionInfo", always: "LL/A"),
  ]

  private static let hardware: [LockdownValue] = [
    LockdownValue("HardwareModel", .open) { phone, _ in .string(phone.preset.hardwareModel) },
    LockdownValue("HardwarePlatform") { phone, _ in .string(phone.preset.platform) },
    LockdownValue("ModelNumber") { phone, _ in .string(phone.preset.modelNumber) },
    LockdownValue("ChipID", .open) { phone, _ in .integer(Int64(phone.preset.chipID)) },
    LockdownValue("BoardId", .open) { phone, _ in .integer(Int64(phone.preset.boardID)) },
    LockdownValue("CPUArchitecture", .open) { phone, _ in .string(phone.preset.architecture) },
    LockdownValue("DeviceColor", .open, always: "1"),
    LockdownValue("FirmwareVersion") { phone, _ in .string(phone.preset.firmware) },
    LockdownValue("FusingStatus", always: 3),
    LockdownValue("HasSiDP", .open, always: true),
    LockdownValue("PartitionType", .open, always: ""),
    LockdownValue("ProductionSOC", .open, always: true),
    LockdownValue("SupportedDeviceFamilies", .open, always: [1]),
    LockdownValue("PkHash", always: .data([UInt8](repeating: 0xA5, count: 32))),
    LockdownValue("NonVolatileRAM", always: ["auto-boot": .data(Array("true".utf8)), "boot-args": .data([])]),
    LockdownValue("ProximitySensorCalibration", always: .data([UInt8](repeating: 0, count: 16))),
  ]

  private static let telephony: [LockdownValue] = [
    LockdownValue("TelephonyCapability", .open, always: true),
    LockdownValue("BasebandVersion", .open) { phone, _ in .string(phone.preset.basebandVersion) },
    LockdownValue("BasebandStatus", always: "BBInfoAvailable"),
    LockdownValue("BasebandCertId", .open, always: 1_491_913_540),
    LockdownValue("BasebandChipID", always: 2_306_273),
    LockdownValue("BasebandActivationTicketVersion", always: "V2"),
    LockdownValue("BasebandSerialNumber", .open) { phone, _ in
      .data((0..<4).map { UInt8(truncatingIfNeeded: phone.identity.ecid >> ($0 * 8)) })
    },
    LockdownValue(
      "BasebandKeyHashInformation", .open,
      always: ["AKeyStatus": 2, "SKeyHash": .data([UInt8](repeating: 0x5A, count: 32)), "SKeyStatus": 0]),
    LockdownValue("CarrierBundleInfoArray", always: []),
    LockdownValue("InternationalMobileEquipmentIdentity") { phone, _ in .string(phone.identity.imei) },
    LockdownValue("MobileEquipmentIdentifier") { phone, _ in .string(String(phone.identity.imei.prefix(14))) },
    LockdownValue("SIMStatus", always: "kCTSIMSupportSIMStatusNotInserted"),
    LockdownValue("SIMTrayStatus", always: "kCTSIMSupportSIMTrayInsertedNoSIM"),
    LockdownValue("kCTPostponementInfoPRIVersion", always: "0.1.0"),
    LockdownValue("kCTPostponementInfoServiceProvisioningState", always: false),
    LockdownValue("kCTPostponementStatus", always: "kCTPostponementStatusActivated"),
  ]

  private static let moment: [LockdownValue] = [
    LockdownValue("TimeIntervalSince1970") { phone, _ in
      .real(Double(WallTime.now().milliseconds) / 1000 + phone.rules.with { $0.clockOffset })
    },
    LockdownValue("TimeZone", always: "Europe/Berlin"),
    LockdownValue("TimeZoneOffsetFromUTC", always: .real(3600)),
    LockdownValue("BootSessionID") { _, state in .string(state.bootSession) },
  ]
}
