import Fleet
import Glibc
import Testing

@testable import Scenarios

@Suite struct `a folder of scenarios` {
  private let folder: String

  init() throws {
    var template = Array("/tmp/scenarios-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private func write(_ name: String, _ given: String? = nil) throws {
    let text = given ?? "scenario: \(name)\nsteps:\n  - wait: 1s\n"
    let fd = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard fd >= 0 else { throw Trouble("no file \(name)") }
    let bytes = Array(text.utf8)
    _ = Glibc.write(fd, bytes, bytes.count)
    close(fd)
  }

  private func remove() {
    for name in ["a.yaml", "b.yml", "notes.txt", ".hidden.yaml", "sub/c.yaml", "pipe.yaml"] {
      unlink("\(folder)/\(name)")
    }
    rmdir("\(folder)/sub")
    rmdir(folder)
  }

  @Test func `gives every scenario file in it and below, in order`() throws {
    defer { remove() }
    mkdir("\(folder)/sub", 0o700)
    for name in ["b.yml", "a.yaml", "notes.txt", ".hidden.yaml", "sub/c.yaml"] { try write(name) }

    let files = try ScenarioFile.load([folder + "/", "\(folder)/a.yaml"]).map(\.file)

    #expect(files == ["a.yaml", "b.yml", "sub/c.yaml"].map { "\(folder)/\($0)" })
  }

  @Test func `says everything that is wrong in any of them`() throws {
    defer { remove() }
    try write("a.yaml", "scenario: x\nsteps: []\n")
    try write("b.yml", "scenaro: x\n")
    mkfifo("\(folder)/pipe.yaml", 0o600)

    let problems = #expect(throws: Problems.self) { try ScenarioFile.load([folder, "/nowhere.yaml"]) }

    #expect(
      problems?.list.map(\.description) == [
        "\(folder)/a.yaml:2:8: steps is empty; it needs at least one step",
        "\(folder)/b.yml:1:1: 'scenaro' is no key of a scenario; 'scenario' is meant?",
        "\(folder)/b.yml:1:1: a scenario needs 'steps'",
        "\(folder)/pipe.yaml: is not a regular file",
        "/nowhere.yaml: cannot be opened: No such file or directory",
      ])
  }

  @Test func `that is empty is said to be so`() {
    defer { remove() }

    #expect(throws: Problems([Problem(file: folder, sentence: "holds no scenario files; they are called NAME.yaml")])) {
      try ScenarioFile.load([folder])
    }
  }
}
