import DeviceBridge
import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `a phone's lock` {
  static let udid = UDID("00008110-000A1B2C3D4E5F60")
  static let mux = MuxAddress.unix(path: "/nowhere/mux")
  static let run = Holder(pid: 4_711, user: "anna", purpose: .run, run: 17)
  static let person = Holder(pid: 4_712, user: "bert", purpose: .hold, reason: "changing the battery")

  let scratch: Scratch
  let locks: PhoneLocks
  var file: String { "\(locks.folder)/\(LockName.of(Self.udid, on: Self.mux))" }

  init() throws {
    scratch = try Scratch()
    locks = PhoneLocks(folder: "\(scratch.path)/locks")
  }

  private func ask(
    _ holder: Holder, udid: UDID = udid, mux: MuxAddress = mux, wait: Duration = .zero,
    onWait: (Holder) -> Void = { _ in }
  ) async throws -> LeaseAnswer {
    try await locks.acquire(udid, on: mux, as: holder, wait: .after(wait), onWait: onWait)
  }

  private func take(_ holder: Holder = run) async throws -> PhoneLease {
    guard case .taken(let lease, waited: false) = try await ask(holder) else { throw Trouble("not free") }
    return lease
  }

  private func holder(_ answer: LeaseAnswer) -> Holder? {
    if case .held(let holder) = answer { holder } else { nil }
  }

  @Test func `is a file that everybody may open, in a folder where nobody removes others' files`() async throws {
    let lease = try await take()

    #expect(Scratch.mode(locks.folder) == 0o1777)
    #expect(Scratch.mode(file) == 0o666)
    #expect(Scratch.names(in: locks.folder).count == 1)
    lease.release()
    #expect(Scratch.read(file) == "")
  }

  @Test func `keeps a second one out and names the first`() async throws {
    let lease = try await take()

    #expect(holder(try await ask(Self.person)) == Self.run)
    lease.release()
    #expect(holder(try await ask(Self.person)) == nil)
  }

  @Test func `ends when its last owner forgets it`() async throws {
    do { _ = try await take() }

    let next = try await take(Self.person)

    #expect(await locks.holder(of: Self.udid, on: Self.mux) == Self.person)
    next.release()
    #expect(await locks.holder(of: Self.udid, on: Self.mux) == nil)
  }

  @Test func `is looked at again for a moment where it has no name yet, and is a lock without one too`() async throws {
    let lease = try await take()
    truncate(file, 0)
    let began = ContinuousClock.now

    let seen = await locks.holder(of: Self.udid, on: Self.mux)

    #expect(seen == Holder())
    #expect(ContinuousClock.now - began >= PhoneLocks.moment * (PhoneLocks.patience - 1))
    lease.release()
  }

  @Test func `is waited for, and the one who waits is told who has it`() async throws {
    let lease = try await take()
    let told = Guarded<[Holder]>([])
    let isTold = Latch()
    let waiting = Task {
      try await ask(Self.person, wait: .seconds(60)) { holder in
        told.with { $0.append(holder) }
        isTold.open()
      }
    }

    #expect(await eventually { isTold.wait(until: .after(.zero)) })
    lease.release()

    guard case .taken(_, waited: true) = try await waiting.value else {
      Issue.record("not taken after the wait")
      return
    }
    #expect(told.with { $0 } == [Self.run])
  }

  @Test func `is waited for no longer than was said`() async throws {
    let lease = try await take()
    defer { lease.release() }
    let start = ContinuousClock.now

    #expect(holder(try await ask(Self.person, wait: .milliseconds(150))) == Self.run)
    #expect(ContinuousClock.now - start >= .milliseconds(150))
  }

  @Test func `is not waited for by a task that is cancelled`() async throws {
    let lease = try await take()
    defer { lease.release() }
    let isTold = Latch()
    let waiting = Task { try await ask(Self.person, wait: .seconds(600)) { _ in isTold.open() } }
    #expect(await eventually { isTold.wait(until: .after(.zero)) })

    waiting.cancel()

    guard case .cancelled = try await waiting.value else {
      Issue.record("not cancelled")
      return
    }
  }

  @Test func `dies with its holder, however that ends`() async throws {
    try await take().release()
    let child = try Child("flock", "--no-fork", file, "sleep", "600")
    #expect(try await eventually { holder(try await ask(Self.person)) != nil })
    try Scratch.write(Self.run.line, to: file)
    #expect(holder(try await ask(Self.person)) == Self.run)

    child.kill()

    guard case .taken(let lease, _) = try await ask(Self.person, wait: .seconds(20)) else {
      Issue.record("still held by a dead process")
      return
    }
    #expect(Scratch.read(file) == Self.person.line)
    lease.release()
  }

  @Test func `is inherited by no child`() async throws {
    let lease = try await take()
    defer { lease.release() }

    let child = try Child("sh", "-c", "ls -l /proc/self/fd > '\(scratch.path)/fds'; echo done >> '\(scratch.path)/fds'")
    #expect(await eventually { Scratch.read("\(scratch.path)/fds")?.contains("done") == true })
    child.kill()

    #expect(Scratch.read("\(scratch.path)/fds")?.contains(".lock") == false)
  }

  @Test func `is taken from somebody who has removed its file only as a new one`() async throws {
    let lease = try await take()
    unlink(file)

    let second = try await take(Self.person)

    // The name leads to the second's file, and stays taken when the first one's goes.
    lease.release()
    #expect(holder(try await ask(Self.run)) == Self.person)
    second.release()
  }

  @Test func `has one name for one phone behind one daemon, however they are spelled`() throws {
    let socket = "\(scratch.path)/mux"
    try Scratch.write("", to: socket)
    symlink(scratch.path, "\(scratch.path)/link")
    let name = LockName.of(Self.udid, on: .unix(path: socket))

    #expect(LockName.of(UDID("00008110000a1b2c3d4e5f60"), on: .unix(path: socket)) == name)
    #expect(LockName.of(Self.udid, on: .unix(path: "\(scratch.path)/link/mux")) == name)
    #expect(LockName.of(Self.udid, on: .unix(path: "\(scratch.path)/other")) != name)
    #expect(LockName.of(UDID("00008110-000A1B2C3D4E5F61"), on: .unix(path: socket)) != name)
    unlink(socket)
    #expect(LockName.of(Self.udid, on: .unix(path: "\(scratch.path)/link/mux")) == name)
  }

  @Test(arguments: ["../../../etc/passwd", "a/b", "", "\u{0}", String(repeating: "x", count: 5_000), "Téléphone 1"])
  func `has a plain name, whatever the phone's is`(_ serial: String) {
    let name = LockName.of(UDID(serial), on: Self.mux)

    #expect(name.utf8.count < 100)
    #expect(name.utf8.allSatisfy { $0 == 45 || $0 == 46 || (48...57).contains($0) || (97...122).contains($0) })
    #expect(name.hasSuffix(".lock"))
  }

  @Test func `is refused where something else lies in its place`() async throws {
    try await take().release()
    let target = "\(scratch.path)/target"
    try Scratch.write("not to be touched", to: target)
    let makers: [(String) -> Void] = [
      { symlink(target, $0) }, { mkfifo($0, 0o666) }, { mkdir($0, 0o777) },
    ]
    for make in makers {
      unlink(file)
      make(file)

      await #expect(throws: HostTrouble.notALock(path: file)) { try await ask(Self.run) }
      rmdir(file)
    }
    #expect(Scratch.read(target) == "not to be touched")
  }

  @Test func `is no lock any more once its file was removed or replaced`() throws {
    let fd = try LockFile.open("x.lock", in: locks.folder)
    defer { close(fd) }
    #expect(LockFile.isCurrent(fd, "x.lock", in: locks.folder))

    unlink("\(locks.folder)/x.lock")

    #expect(!LockFile.isCurrent(fd, "x.lock", in: locks.folder))
    close(try LockFile.open("x.lock", in: locks.folder))
    #expect(!LockFile.isCurrent(fd, "x.lock", in: locks.folder))
  }

  @Test func `is a trouble of the host where its folder can't be`() async throws {
    let missing = PhoneLocks(folder: "\(scratch.path)/not/there")
    try Scratch.write("", to: "\(scratch.path)/file")
    symlink("/tmp", "\(scratch.path)/away")

    for (folder, code) in [("not/there", ENOENT), ("file", ENOTDIR), ("away", ENOTDIR)] {
      let path = "\(scratch.path)/\(folder)"
      let trouble = HostTrouble.lock(path: path, code: code)
      await #expect(throws: trouble) {
        try await PhoneLocks(folder: path).acquire(Self.udid, on: Self.mux, as: Self.run, wait: .after(.zero))
      }
      #expect(trouble.sentence.contains(path))
      #expect(trouble.words.kind == .hostFault)
    }
    #expect(missing.folder != PhoneLocks.usualFolder)
  }

  @Test func `lies where the environment says, else in the system's place`() {
    #expect(PhoneLocks(environment: [:]).folder == "/run/lock/fleetctl")
    #expect(PhoneLocks(environment: [PhoneLocks.folderVariable: ""]).folder == "/run/lock/fleetctl")
    #expect(PhoneLocks(environment: [PhoneLocks.folderVariable: "/x"]).folder == "/x")
  }
}

@Suite struct `a holder` {
  @Test(arguments: [
    Holder(), Holder(pid: 1, user: "anna", purpose: .run, run: 17), Holder(pid: 2, purpose: .hold, reason: "a \"b\""),
    .current(.revive),
  ])
  func `is read as it was written`(_ holder: Holder) {
    #expect(Holder(line: Array(holder.line.utf8)) == holder)
  }

  @Test func `is nobody known where anybody wrote anything`() {
    for text in ["", "\u{0}", "{", "[]", "17", "{\"pid\":\"x\",\"user\":7}", String(repeating: "[", count: 4_000)] {
      #expect(Holder(line: Array(text.utf8)) == Holder())
    }
    #expect(Holder(line: [0xFF, 0xFE]) == Holder())
  }

  @Test func `brings no control characters and no long text to a terminal`() throws {
    let hostile = JSON.object([
      "user": .string("a\u{1B}[2Jb\nc\u{202E}"), "reason": .string(.init(repeating: "x", count: 3_000)),
    ])

    let holder = Holder(line: Array(hostile.line.utf8))

    #expect(holder.user == "a\u{FFFD}[2Jb c\u{FFFD}")
    #expect(holder.reason?.utf8.count == 300)
  }

  @Test func `is told to people by what is known`() {
    #expect(Holder(pid: 7, user: "anna", purpose: .run, run: 17).text == "run 17 of anna (process 7)")
    #expect(
      Holder(pid: 7, user: "bert", purpose: .hold, reason: "a new battery").text == "bert (process 7): a new battery")
    #expect(Holder().text == "somebody")
  }

  @Test func `is a person or a run`() {
    #expect(HoldPurpose.allCases.filter { $0.reason == .person } == [.hold, .revive])
  }
}
