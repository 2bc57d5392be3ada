import Wire

/// The values outside the root domain; all of them need a session.
///
/// - Source: the domains that hosts ask phones for; docs/wire.md.
enum LockdownDomains {
  static let values: [String: [LockdownValue]] = [
    "com.apple.mobile.battery": [
      LockdownValue("BatteryCurrentCapacity") { .integer(Int64($1.battery.percent)) },
      LockdownValue("BatteryIsCharging") { .boolean($1.battery.charging && $1.battery.percent < 100) },
      LockdownValue("ExternalConnected", always: true),
      LockdownValue("ExternalChargeCapable") { .boolean($1.battery.charging) },
      LockdownValue("FullyCharged") { .boolean($1.battery.percent >= 100) },
      LockdownValue("GasGaugeCapability", always: true),
      LockdownValue("HasBattery", always: true),
    ],
    "com.apple.security.mac.amfi": [
      // The switch exists from iOS 16 on.
      LockdownValue("DeveloperModeStatus") { $0.preset.major >= 16 ? .boolean($1.developerMode) : nil }
    ],
    "com.apple.mobile.wireless_lockdown": [
      LockdownValue("EnableWifiConnections", always: false),
      LockdownValue("EnableWifiDebugging", always: false),
      LockdownValue("EnableWifiPairing", always: false),
      LockdownValue("SupportsWifi", always: true),
      LockdownValue("SupportsWifiSyncing", always: true),
      LockdownValue("BonjourFullServiceName") { phone, _ in
        .string("\(phone.identity.wifiAddress)@fe80::1._apple-mobdev2._tcp.local.")
      },
    ],
    "com.apple.xcode.developerdomain": [
      LockdownValue("DeveloperStatus") { phone, _ in phone.preset.major < 17 ? "Development" : nil }
    ],
    "com.apple.disk_usage": [
      LockdownValue("TotalDiskCapacity", always: 128_000_000_000),
      LockdownValue("TotalDataCapacity", always: 113_000_000_000),
      LockdownValue("TotalDataAvailable", always: 81_000_000_000),
      LockdownValue("TotalSystemCapacity", always: 15_000_000_000),
      LockdownValue("TotalSystemAvailable", always: 0),
      LockdownValue("AmountDataAvailable", always: 81_000_000_000),
      LockdownValue("AmountDataReserved", always: 200_000_000),
    ],
    "com.apple.international": [
      LockdownValue("Language", always: "en"),
      LockdownValue("Locale", always: "en_GB"),
      LockdownValue("Keyboard", always: "en_GB"),
      LockdownValue("SupportedLanguages", always: ["en", "de", "fr", "es", "ja"]),
      LockdownValue("SupportedLocales", always: ["en_GB", "en_US", "de_DE", "fr_FR", "ja_JP"]),
      LockdownValue("SupportedKeyboards", always: ["en_GB", "en_US", "de_DE", "fr_FR", "ja_JP"]),
    ],
    "com.apple.mobile.iTunes": [
      LockdownValue("MinITunesVersion", always: "12.0"),
      LockdownValue("AppleDRMVersion", always: ["DRMVersion": 1]),
    ],
    "com.apple.fmip": [LockdownValue("IsAssociated", always: false)],
    "com.apple.mobile.chaperone": [LockdownValue("DeviceIsChaperoned", always: false)],
    "com.apple.PurpleBuddy": [LockdownValue("SetupDone", always: true)],
    "com.apple.mobile.internal": [LockdownValue("IsInternal", always: false)],
  ]

  /// What a host may change, with the kind of value that it takes.
  static let settable: Set<LockdownName> = [
    LockdownName(domain: "", key: "DeviceName"), LockdownName(domain: "", key: "TimeZone"),
    LockdownName(domain: "", key: "TimeIntervalSince1970"), LockdownName(domain: "", key: "Uses24HourClock"),
    LockdownName(domain: "", key: "UntrustedHostBUID"),
    LockdownName(domain: "com.apple.mobile.wireless_lockdown", key: "EnableWifiConnections"),
    LockdownName(domain: "com.apple.mobile.wireless_lockdown", key: "EnableWifiDebugging"),
    LockdownName(domain: "com.apple.mobile.wireless_lockdown", key: "EnableWifiPairing"),
    LockdownName(domain: "com.apple.international", key: "Language"),
    LockdownName(domain: "com.apple.international", key: "Locale"),
    LockdownName(domain: "com.apple.international", key: "Keyboard"),
  ]
}
