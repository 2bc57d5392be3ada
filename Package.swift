// swift-tools-version: 6.2
import PackageDescription

// Every target of ours is checked as Swift 6 and refuses warnings.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A room: a target under Sources/ and, beside it, its tests.
///
/// - Parameters:
///   - against: rooms that only the tests reach for, such as the virtual phone at the far end of the socket.
///   - excluded: folders beside the tests that hold what they read, and no code.
func room(
  _ name: String, over dependencies: [Target.Dependency], against others: [Target.Dependency] = [],
  excluding excluded: [String] = []
) -> [Target] {
  [
    .target(name: name, dependencies: dependencies, swiftSettings: strict),
    tests(of: name, over: dependencies + others, excluding: excluded),
  ]
}

func tests(of name: String, over dependencies: [Target.Dependency], excluding excluded: [String] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, exclude: excluded,
    swiftSettings: strict)
}

/// One Debian library as a module; its flags come from pkg-config.
func library(_ name: String, _ pkgConfig: String?, _ package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

let package = Package(
  name: "fleetctl",
  products: [.executable(name: "fleetctl", targets: ["fleetctl"])],
  targets: [
    library("CUsbmuxd", "libusbmuxd-2.0", "libusbmuxd-dev"),
    library("CIMobileDevice", "libimobiledevice-1.0", "libimobiledevice-dev"),
    library("CPlist", "libplist-2.0", "libplist-dev"),
    library("COpenSSL", "openssl", "libssl-dev"),
    library("CZlib", "zlib", "zlib1g-dev"),
    library("CPNG", "libpng", "libpng-dev"),
    library("CTIFF", "libtiff-4", "libtiff-dev"),
    library("CYaml", "yaml-0.1", "libyaml-dev"),
    // Debian's http-parser has no pkg-config file; its module map names the library.
    library("CHTTPParser", nil, "libhttp-parser-dev"),
    library("CNGHTTP2", "libnghttp2", "libnghttp2-dev"),
    library("CSQLite", "sqlite3", "libsqlite3-dev"),
    library("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
    library("CLwIP", "lwip", "liblwip-dev"),
    // The one place that includes lwIP's headers, which Swift can barely read.
    .target(name: "CTunnel", dependencies: ["CLwIP"]),
    // Calls of the kernel that Swift's own module of the C library leaves out.
    library("CLinux", nil, "libc6-dev"),
  ]
    + room("Wire", over: ["CPlist", "CHTTPParser"])
    + room("Transport", over: ["Wire", "COpenSSL", "CNGHTTP2", "CTunnel", "CLinux"])
    + room("VirtualPhone", over: ["Transport", "Wire", "COpenSSL", "CZlib"])
    + room(
      "DeviceBridge",
      over: ["Transport", "Wire", "CIMobileDevice", "CUsbmuxd", "CPlist", "CLinux", "CPNG", "CTIFF"],
      against: ["VirtualPhone"])
    + room(
      "Fleet", over: ["DeviceBridge", "Transport", "Wire", "CYaml", "CSQLite", "CMicroHTTPD"],
      against: ["VirtualPhone", "Simulation"])
    + room(
      "Scenarios", over: ["Fleet", "DeviceBridge", "Transport", "Wire"], against: ["VirtualPhone"],
      excluding: ["mistakes"])
    + [
      // The watch in simulated years; no part of fleetctl.
      .target(name: "Simulation", dependencies: ["Fleet", "DeviceBridge", "Wire"], swiftSettings: strict),
      tests(of: "Simulation", over: ["Fleet"]),
      .executableTarget(name: "simulate", dependencies: ["Simulation", "Fleet", "Wire"], swiftSettings: strict),
      .executableTarget(
        name: "fleetctl",
        dependencies: ["Scenarios", "Fleet", "DeviceBridge", "VirtualPhone", "Transport", "Wire"],
        swiftSettings: strict),
      // What make bench measures inside one process.
      .executableTarget(
        name: "tunnelbench", dependencies: ["DeviceBridge", "Transport", "Wire"], swiftSettings: strict),
      // The supervisor's page over bodies of every kind, for make browser.
      .executableTarget(
        name: "pagestage", dependencies: ["Fleet", "DeviceBridge", "Transport", "Wire"], swiftSettings: strict),
      tests(
        of: "fleetctl",
        over: ["Scenarios", "Fleet", "DeviceBridge", "VirtualPhone", "Transport", "Wire"]),
    ]
)
