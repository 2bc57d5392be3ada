import Testing

@testable import VirtualPhone

@Suite struct `a folder tree in memory` {
  private func tree(_ paths: String..., limit: Int = 1 << 20) throws -> FileTree {
    var tree = FileTree(bytes: limit, entries: 100)
    for path in paths { try tree.put(path, Array(path.utf8)) }
    return tree
  }

  @Test(arguments: [
    ("/a/b", true), ("a/b", true), ("//a//./b/", true), ("/a/../a/b", true), ("/../../a/b", true), ("/a/c", false),
    ("/a/b/c", false), ("/c/b", false),
  ])
  func `finds what a path leads to, and never leaves its root`(path: String, isThere: Bool) throws {
    #expect(try tree("/a/b").contains(path) == isThere)
  }

  @Test func `lists a folder with itself and the one above, sorted`() throws {
    let tree = try tree("/b", "/a/x", "/c")

    #expect(try tree.names(in: "/") == [".", "..", "a", "b", "c"])
    #expect(throws: AFCCode.readError) { try tree.names(in: "/b") }
    #expect(throws: AFCCode.objectNotFound) { try tree.names(in: "/d") }
  }

  @Test func `follows links, but not for ever`() throws {
    var tree = try tree("/real/file")
    try tree.makeLink("/way", to: "real", symbolic: true)
    try tree.makeLink("/real/up", to: "../way/file", symbolic: true)
    try tree.makeLink("/one", to: "/two", symbolic: true)
    try tree.makeLink("/two", to: "/one", symbolic: true)

    #expect(tree.contents(of: "/way/up") == Array("/real/file".utf8))
    #expect(throws: AFCCode.objectNotFound) { try tree.number(of: "/one/x") }
    let facts = try tree.facts(of: "/way")
    #expect(facts.contains { $0 == ("st_ifmt", "S_IFLNK") })
    #expect(facts.contains { $0 == ("LinkTarget", "real") })
  }

  @Test func `keeps a file under its second name`() throws {
    var tree = try tree("/first")
    try tree.makeLink("/second", to: "/first", symbolic: false)

    try tree.remove("/first")

    #expect(tree.contents(of: "/second") == Array("/first".utf8))
    #expect(throws: AFCCode.permissionDenied) { try tree.makeLink("/third", to: "/", symbolic: false) }
    #expect(throws: AFCCode.objectExists) { try tree.makeLink("/second", to: "x", symbolic: true) }
  }

  @Test func `removes files, empty folders, and others only with their contents`() throws {
    var tree = try tree("/a/b/c", "/a/d")

    #expect(throws: AFCCode.unknownError) { try tree.remove("/a") }
    #expect(throws: AFCCode.permissionDenied) { try tree.removeWithContents("/") }
    #expect(throws: AFCCode.objectNotFound) { try tree.remove("/x") }
    try tree.removeWithContents("/a")

    #expect(try tree.names(in: "/") == [".", ".."])
    #expect(tree.used == 0)
    #expect(tree.nodes.count == 1)
  }

  @Test func `moves names, over files and empty folders, but never into themselves`() throws {
    var tree = try tree("/a/file", "/b/file", "/c")
    try tree.makeFolder("/empty")

    #expect(throws: AFCCode.invalidArgument) { try tree.rename("/a", to: "/a/b") }
    #expect(throws: AFCCode.objectExists) { try tree.rename("/a", to: "/b") }
    #expect(throws: AFCCode.objectExists) { try tree.rename("/a", to: "/c") }
    #expect(throws: AFCCode.objectNotFound) { try tree.rename("/x", to: "/y") }
    try tree.rename("/a", to: "/empty")
    try tree.rename("/b/file", to: "/c")

    #expect(try tree.names(in: "/") == [".", "..", "b", "c", "empty"])
    #expect(tree.contents(of: "/c") == Array("/b/file".utf8))
    #expect(tree.contents(of: "/empty/file") == Array("/a/file".utf8))
  }

  @Test func `holds no more than it may, in bytes and in entries`() throws {
    var tree = try tree(limit: 1000)
    let file = try tree.openFile("/a", creates: true, truncates: false)

    #expect(throws: AFCCode.noSpaceLeft) { try tree.resize(file, to: 1001) }
    #expect(throws: AFCCode.noSpaceLeft) { try tree.resize(file, to: .max) }
    #expect(throws: AFCCode.noSpaceLeft) { try tree.write(file, at: .max - 1, [1, 2, 3]) }
    try tree.write(file, at: 900, [UInt8](repeating: 7, count: 100))
    #expect(throws: AFCCode.noSpaceLeft) { try tree.write(file, at: 1000, [1]) }
    #expect(throws: AFCCode.noSpaceLeft) { for index in 0..<200 { try tree.makeFolder("/\(index)") } }

    #expect(tree.used == 1000)
    #expect(tree.read(file, at: 899, count: 2) == [0, 7])
    #expect(tree.read(file, at: 1000, count: 5) == [])
  }

  @Test func `counts the bytes of a hollow file without keeping them`() throws {
    var tree = try tree()
    try tree.put("/tmp/clip.mov", [1, 2], hollow: 1 << 40)
    let file = try tree.number(of: "/tmp/clip.mov")

    #expect(tree.used == 2)
    #expect(tree.files(in: "/tmp") == ["clip.mov": (1 << 40) + 2])
    #expect(tree.read(file, at: 1, count: 3) == [2, 0, 0])
    #expect(tree.read(file, at: 1 << 40, count: 10) == [0, 0])
    // Writing would have to keep them all.
    #expect(throws: AFCCode.noSpaceLeft) { try tree.write(file, at: 0, [9]) }
  }

  @Test func `refuses paths and names that no phone has`() throws {
    let tree = try tree()

    #expect(throws: AFCCode.invalidArgument) { try tree.number(of: String(repeating: "a/", count: 600)) }
    #expect(throws: AFCCode.invalidArgument) { try tree.number(of: String(repeating: "a", count: 256)) }
    #expect(throws: AFCCode.invalidArgument) { try tree.number(of: "a\0b") }
  }

  @Test func `takes a very deep tree away without a deep stack`() throws {
    var tree = FileTree(entries: 5_000)
    for _ in 0..<4_000 {
      try tree.makeFolder("/next")
      if tree.contains("/all") { try tree.rename("/all", to: "/next/all") }
      try tree.rename("/next", to: "/all")
    }

    try tree.removeWithContents("/all")

    #expect(tree.nodes.count == 1)
  }
}
