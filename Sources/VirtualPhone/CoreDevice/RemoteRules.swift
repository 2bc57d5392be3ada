import Transport
import Wire

/// How the phone's tunnels and CoreDevice services answer where phones differ, and how they are made to go wrong.
struct RemoteRules: Sendable {
  /// Whether lists come in pieces, and the plain list of apps never; nil: by the version.
  var streamsLists: Bool?
  /// Whether deviceinfo tells the lock; nil: by the version.
  var tellsLock: Bool?
  /// Whether RSD remembers the UUID of its host and closes its services to another; nil: by the version.
  var remembersHost: Bool?
  /// Services that are not in the phone's list, by the names that RSD has for them.
  var missing: Set<String> = []
  /// Services that are listed on a port on which nobody listens.
  var refusing: Set<String> = []
  /// Ports that send so many zeros to whoever connects.
  var bulk: [UInt16: Int] = [:]
  /// The plain list of apps was asked for where lists come in pieces: the app service answers nothing any more.
  var isWedged = false
  var faults: [CallFault] = []
  var tunnelFaults: [TunnelFault] = []
}

extension VirtualPhone {
  /// Whether lists come in pieces; the plain list of apps is then never answered.
  ///
  /// - Source: pymobiledevice3 11.45.0: developer images of the era of 26 offer both.
  var streamsLists: Bool { rules.with { $0.remote.streamsLists } ?? (preset.major >= 26) }

  /// - Source: phones of the era of 26 and later say that getlockstate is not implemented.
  var tellsLock: Bool { rules.with { $0.remote.tellsLock } ?? (preset.major < 26) }

  /// - Source: public reports of 27.2.
  var remembersHost: Bool { rules.with { $0.remote.remembersHost } ?? preset.isAtLeast(27, 2) }

  /// A reboot, or another developer image: the app service is a new process.
  func unwedge() { rules.with { $0.remote.isWedged = false } }
}
