import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `fleetctl mount` {
  static func outcome(_ done: Fleetctl.Done) -> JSON? { `a command about one phone`.object(done)?["outcome"] }

  /// A configuration with a folder that has an image for each version.
  static func environment(_ phones: TestPhones, images: String...) -> [String: String] {
    mkdir(phones.folder.file("images"), 0o755)
    for version in images {
      mkdir(phones.folder.file("images/\(version)"), 0o755)
      let image = "images/\(version)/DeveloperDiskImage.dmg"
      _ = phones.folder.write(String(repeating: "i", count: 300_000), to: image)
      _ = phones.folder.write(String(repeating: "s", count: 128), to: image + ".signature")
    }
    return phones.environment.merging([
      "FLEETCTL_CONFIG": phones.folder.write(
        "version: 1\napp: {bundle: com.example.kiosk}\nimages: {folder: \(phones.folder.file("images"))}\n",
        to: "images.yaml")
    ]) { $1 }
  }

  @Test func `mounts the image for the phone's iOS, and sends none where one is mounted`() async throws {
    let phones = try TestPhones(1, ios: ["15.8"])
    try phones.fleet.perform("unmount", on: "1")
    let environment = Self.environment(phones, images: "15.7", "15.8")

    let refused = await Fleetctl.run(["launch", phones.udid(1)], environment: environment)
    let done = await Fleetctl.run(["mount", phones.udid(1), "--json"], environment: environment)
    let launch = await Fleetctl.run(["launch", phones.udid(1)], environment: environment)
    let again = await Fleetctl.run(["mount", phones.udid(1)], environment: environment)

    #expect(refused.code == 1 && refused.output.err.contains("fleetctl mount \(phones.udid(1))"))
    let object = `a command about one phone`.object(done)
    #expect(done.code == 0 && Self.outcome(done) == "mounted", "\(done.output.err)")
    #expect(
      Set(object?.object.map { Array($0.keys) } ?? []) == [
        "body", "udid", "ios", "mounted", "outcome", "image", "exact", "error",
      ])
    #expect(object?["ios"] == "15.8" && object?["image"] == "15.8" && object?["exact"] == true)
    #expect(launch.code == 0, "\(launch.output.err)")
    #expect(again.code == 0 && again.output.lines == ["\(phones.udid(1))  mounted already"])
  }

  @Test(arguments: ["failed", "empty", "error"])
  func `H25: is mounted only when the phone says so, else its own word is shown`(_ reply: String) async throws {
    let phones = try TestPhones(1, ios: ["15.8"])
    try phones.fleet.perform("unmount", on: "1")
    try phones.fleet.perform("mount-fault", on: "1", ["reply": reply])
    let environment = Self.environment(phones, images: "15.8")

    let json = await Fleetctl.run(["mount", phones.udid(1), "--json"], environment: environment)
    let text = await Fleetctl.run(["mount", phones.udid(1)], environment: environment)

    #expect(json.code == 1 && Self.outcome(json) == "refused")
    #expect(`a command about one phone`.object(json)?["mounted"] == false)
    #expect(text.code == 1 && text.output.out == "\(phones.udid(1))  not mounted\n")
    let word = ["failed": "ImageMountFailed", "empty": "neither status nor error", "error": "InternalError"][reply]
    #expect(text.output.err.contains(word ?? "?"), "\(text.output.err)")
  }

  @Test func `H26: is refused before any upload while developer mode is off, and says where the switch is`()
    async throws
  {
    let phones = try TestPhones(2, ios: ["16.7", "15.8"])
    for number in ["1", "2"] {
      try phones.fleet.perform("unmount", on: number)
      try phones.fleet.perform("developer-mode", on: number, ["on": "no"])
    }
    let environment = Self.environment(phones, images: "16.7", "15.8")

    let newer = await Fleetctl.run(["mount", phones.udid(1), "--json"], environment: environment)
    let older = await Fleetctl.run(["mount", phones.udid(2), "--json"], environment: environment)

    #expect(newer.code == 1 && Self.outcome(newer) == "developer-mode-off")
    #expect(newer.output.err.contains("Privacy & Security, Developer Mode"))
    #expect(older.code == 0, "\(older.output.err)")
  }

  @Test func `H59: takes the exact image, and a near one only where that is asked for and said`() async throws {
    let phones = try TestPhones(1, ios: ["15.8"])
    try phones.fleet.perform("unmount", on: "1")
    try phones.fleet.perform("set-value", on: "1", ["ProductVersion": "15.6.1"])
    let environment = Self.environment(phones, images: "15.4", "16.0")
    let udid = phones.udid(1)

    let none = await Fleetctl.run(["mount", udid, "--json"], environment: environment)
    let near = await Fleetctl.run(["mount", udid, "--near"], environment: environment)
    try phones.fleet.perform("unmount", on: "1")
    try phones.fleet.perform("set-value", on: "1", ["ProductVersion": "16.0"])
    let updated = await Fleetctl.run(["mount", udid, "--json"], environment: environment)

    #expect(none.code == 1 && Self.outcome(none) == "no-image")
    #expect(none.output.err.contains("15.6.1") && none.output.err.contains("15.4, 16.0"))
    #expect(none.output.err.contains("fleetctl mount \(udid) --near"))
    #expect(near.code == 0 && near.output.out == "\(udid)  mounted  15.4  (iOS is 15.6.1)\n", "\(near.output.out)")
    #expect(near.output.err.contains("was made for an older iOS"))
    #expect(updated.code == 0 && `a command about one phone`.object(updated)?["image"] == "16.0")
  }

  @Test func `takes the image that was named, and says which`() async throws {
    let phones = try TestPhones(1, ios: ["15.8"])
    try phones.fleet.perform("unmount", on: "1")
    let environment = Self.environment(phones, images: "15.4")
    let image = phones.folder.file("images/15.4/DeveloperDiskImage.dmg")

    let missing = await Fleetctl.run(
      ["mount", phones.udid(1), "--image", "/nonexistent.dmg"], environment: environment)
    let both = await Fleetctl.run(["mount", phones.udid(1), "--image", image, "--near"], environment: environment)
    let done = await Fleetctl.run(["mount", phones.udid(1), "--image", image], environment: environment)

    #expect(missing.code == 2 && missing.output.err.contains("/nonexistent.dmg"))
    #expect(both.code == 2)
    #expect(done.code == 0 && done.output.out.hasPrefix("\(phones.udid(1))  mounted  \(image)"), "\(done.output.err)")
  }

  @Test func `is a no on a locked phone, which is waited for`() async throws {
    let phones = try TestPhones(1, ios: ["15.8"])
    try phones.fleet.perform("unmount", on: "1")
    try phones.fleet.perform("lock", on: "1")
    let environment = Self.environment(phones, images: "15.8")

    let locked = await Fleetctl.run(["mount", phones.udid(1), "--json"], environment: environment)
    let before = phones.fleet.journal.entries().count
    let child = Fleetctl.start(["mount", phones.udid(1), "--wait", "60s"], environment: environment)
    #expect(await phones.goesOn(after: before))
    try phones.fleet.perform("unlock", on: "1")

    #expect(locked.code == 1 && Self.outcome(locked) == "locked", "\(locked.output.out)")
    #expect(await child.ending(within: .seconds(30)) == .exited(0), "\(child.output.err)")
  }

  @Test func `cannot be done without trust, nor from iOS 17 on without the personalised image`() async throws {
    let phones = try TestPhones(2, ios: ["15.8", "18.5"])
    try phones.fleet.perform("untrust", on: "1")
    let environment = Self.environment(phones, images: "15.8")

    let untrusted = await Fleetctl.run(["mount", phones.udid(1), "--json"], environment: environment)
    try phones.fleet.perform("unmount", on: "2")
    let newer = await Fleetctl.run(["mount", phones.udid(2), "--json"], environment: environment)

    #expect(untrusted.code == 3 && Self.outcome(untrusted) == .null)
    #expect(`a command about one phone`.object(untrusted)?["error"]?.string != nil)
    #expect(newer.code == 1 && Self.outcome(newer) == "no-image", "\(newer.output.out)")
  }
}
