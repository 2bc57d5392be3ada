import Glibc
import Testing

@testable import Fleet

@Suite struct `the state folder` {
  let scratch: Scratch
  var absent: String { "\(scratch.path)/no-system-folder" }

  init() throws { scratch = try Scratch() }

  @Test func `is systemd's, the unit's own first`() throws {
    let environment = ["STATE_DIRECTORY": "\(scratch.path)/a:\(scratch.path)/b", "HOME": "/nowhere"]

    #expect(try StateFolder.find(environment, system: absent).path == "\(scratch.path)/a")
    #expect(Scratch.names(in: scratch.path) == ["a"])
  }

  @Test func `is the system's where that exists`() throws {
    let folder = try StateFolder.find(["XDG_STATE_HOME": "/nowhere", "STATE_DIRECTORY": ""], system: scratch.path)

    #expect(folder.path == scratch.path)
  }

  @Test func `is never another one where the system's may not be used, and the group to join is named`() throws {
    chmod(scratch.path, 0o2770)
    let environment = ["HOME": scratch.path]

    let trouble = try #require(throws: HostTrouble.self) {
      try StateFolder.find(environment, system: scratch.path) { _ in false }
    }

    guard case .stateForbidden(_, let group?) = trouble else {
      Issue.record("\(trouble)")
      return
    }
    #expect(trouble.sentence.contains("usermod -aG \(group)"))
    #expect(trouble.words == OutcomeWords(.hostFault, .permission))
    #expect(Scratch.names(in: scratch.path).isEmpty)
  }

  @Test func `names no group where none may enter`() throws {
    chmod(scratch.path, 0o700)

    #expect(throws: HostTrouble.stateForbidden(path: scratch.path, group: nil)) {
      try StateFolder.find([:], system: scratch.path) { _ in false }
    }
  }

  @Test func `is the user's own elsewhere, and is made`() throws {
    let state = try StateFolder.find(["XDG_STATE_HOME": "\(scratch.path)/state", "HOME": "/nowhere"], system: absent)
    let home = try StateFolder.find(["XDG_STATE_HOME": "relative", "HOME": scratch.path], system: absent)

    #expect(state.path == "\(scratch.path)/state/fleetctl")
    #expect(home.path == "\(scratch.path)/.local/state/fleetctl")
    #expect(StateFolder.isUsable(state.path))
    #expect(StateFolder.isUsable(home.path))
  }

  @Test func `is a trouble where nothing says where`() {
    #expect(throws: HostTrouble.noStateFolder) { try StateFolder.find([:], system: absent) }
    #expect(throws: HostTrouble.badStateFolder(variable: "STATE_DIRECTORY", value: "here")) {
      try StateFolder.find(["STATE_DIRECTORY": "here"], system: absent)
    }
  }

  @Test func `is a trouble where a file is in its way`() throws {
    let file = "\(scratch.path)/file"
    try Scratch.write("", to: file)

    #expect(throws: HostTrouble.state(path: file, code: ENOTDIR)) { try StateFolder.find([:], system: file) }
    #expect(throws: HostTrouble.state(path: "\(file)/fleetctl", code: ENOTDIR)) {
      try StateFolder.find(["XDG_STATE_HOME": file], system: absent)
    }
  }
}

@Suite struct `a trouble of the host` {
  static let all: [HostTrouble] = [
    .lock(path: "/run/lock/fleetctl", code: EACCES), .notALock(path: "/l"), .stateForbidden(path: "/s", group: "fleet"),
    .stateForbidden(path: "/s", group: nil), .state(path: "/s/x", code: ENOSPC),
    .badStateFolder(variable: "V", value: "v"), .noStateFolder, .damagedStamp(path: "/s/x"),
    .slowDisk(limit: .seconds(10)),
  ]

  @Test(arguments: all) func `is a host row, told in three parts`(_ trouble: HostTrouble) throws {
    #expect(trouble.words.kind == .hostFault)
    #expect(try OutcomeKind.hostFault.hostReasons.contains(#require(trouble.words.reason)))
    #expect(trouble.sentence.split(separator: ". ").count == 3)
    #expect(trouble.sentence.split(separator: ". ").last?.contains(": ") == true)
  }

  @Test func `is what the system's number says it is`() {
    #expect(HostTrouble.state(path: "", code: ENOSPC).words.reason == .disk)
    #expect(HostTrouble.state(path: "", code: EACCES).words.reason == .permission)
    #expect(HostTrouble.lock(path: "", code: EMFILE).words.reason == .descriptors)
    #expect(HostTrouble.lock(path: "", code: ENOENT).words.reason == .permission)
  }
}
