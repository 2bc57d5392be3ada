@testable import DeviceBridge
import Glibc
import Testing
import Transport
import Wire

@Suite struct `a usbmux socket that does not serve` {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func failure(at path: String) async -> PhoneError? {
    do throws(PhoneError) {
      _ = try await Mux(address: .unix(path: path)).phones(by: .patient)
      return nil
    } catch {
      return error
    }
  }

  @Test func `H11: is missing, dead or no socket, with a step of its own for each`() async throws {
    let dead = "\(folder.path)/dead"
    let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: dead.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    Glibc.close(fd)
    let file = "\(folder.path)/file"
    Glibc.close(open(file, O_CREAT | O_WRONLY, 0o600))

    let missing = await failure(at: "\(folder.path)/nothing")
    let refused = await failure(at: dead)
    let wrong = await failure(at: file)

    #expect(bound == 0)
    #expect(missing == .noMux(.unix(path: "\(folder.path)/nothing")))
    #expect(refused == .deadMux(.unix(path: dead)))
    #expect(wrong == .notASocket(.unix(path: file)))
    #expect(missing?.sentence.contains("systemctl start") == true)
    #expect(refused?.sentence.contains("systemctl restart") == true)
    #expect(wrong?.sentence.contains("--mux") == true)
  }

  @Test func `H12: is closed to this user, naming mode, owner and user`() {
    let path = "\(folder.path)/mux"
    Glibc.close(open(path, O_CREAT | O_WRONLY, 0o600))
    chmod(path, 0o600)

    let error = MuxTrouble.error(EACCES, at: .unix(path: path))

    guard case .muxForbidden(_, let detail) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(detail.contains("mode 0600"))
    #expect(detail.contains(path))
    #expect(error.sentence.contains("sudo"))
  }

  @Test func `H12: lies in a folder that may not be searched, naming the folder`() {
    let closed = "\(folder.path)/closed"
    mkdir(closed, 0o700)
    chmod(closed, 0o700)
    defer { rmdir(closed) }
    chmod(folder.path, 0o755)

    let rights = MuxTrouble.rights(at: .unix(path: "\(closed)/mux"), user: 54_321)

    #expect(rights.hasPrefix("the folder \(closed) has mode 0700"))
    #expect(rights.hasSuffix("you are user 54321"))
  }

  @Test func `is no fault of the phones when this host has no descriptors left`() {
    #expect(MuxTrouble.error(EMFILE, at: .system) == .host(code: EMFILE, step: "opening a connection to usbmuxd"))
  }

  @Test func `has an address that leads nowhere, and the daemon is not to blame`() async throws {
    let path = "/tmp/" + String(repeating: "x", count: 110)
    let name = try #require(MuxAddress("nohost.invalid:80"))

    let long = await failure(at: path)
    let nameless = #expect(throws: PhoneError.self) { try Mux(address: name).list(by: .patient) }

    #expect(long == .notASocket(.unix(path: path)) && nameless == .notASocket(name))
    #expect(long?.sentence.contains("a socket's path has 107 at most") == true)
    #expect(nameless?.sentence.hasPrefix("nohost.invalid is no machine that this one can find") == true)
    for error in [long, nameless] {
      #expect(error?.sentence.contains("daemon") == false && error?.sentence.contains("--mux") == true)
    }
  }
}
