import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `a command that asks the supervisor` {
  private let scratch: Scratch
  private let path: String

  init() throws {
    scratch = try Scratch()
    path = SupervisorClient.socket(in: StateFolder(path: scratch.path))
  }

  private func bodies(within limit: Duration = .seconds(20)) async throws -> [JSON] {
    let path = path
    return try await PageClient.blocking { try SupervisorClient.bodies(socket: path, by: .after(limit)) }
  }

  @Test func `gets its bodies through the socket in the state folder`() async throws {
    let server = try PageServer(try Listener(.unix(path: path))) { request in
      .now(.json([["body": .string(request.path.joined(separator: " "))]]))
    }
    defer { server.stop() }

    #expect(try await bodies() == [["body": "api bodies"]])
  }

  @Test func `is told that none runs, where there is no socket or a dead one`() async throws {
    await #expect(throws: SupervisorClient.Trouble.notRunning(socket: path)) { try await bodies() }

    let dead = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    close(dead)

    #expect(code == 0)
    await #expect(throws: SupervisorClient.Trouble.notRunning(socket: path)) { try await bodies() }
  }

  @Test func `is told when it says nothing, or something else`() async throws {
    let silent = try Listener(.unix(path: path))
    await #expect(
      throws: SupervisorClient.Trouble.noAnswer(socket: path, detail: StreamError.timedOut.sentence)
    ) { try await bodies(within: .milliseconds(50)) }
    silent.close()

    let server = try PageServer(try Listener(.unix(path: path))) { _ in .now(.json(["no": "list"])) }
    defer { server.stop() }
    await #expect(throws: SupervisorClient.Trouble.noAnswer(socket: path, detail: "what came is no list of bodies")) {
      try await bodies()
    }
  }

  @Test func `is told a refusal in the supervisor's own words`() async throws {
    let server = try PageServer(try Listener(.unix(path: path))) { _ in .now(.refusal(503, PageSentence.stopping)) }
    defer { server.stop() }

    await #expect(throws: SupervisorClient.Trouble.refused(PageSentence.stopping)) { try await bodies() }
  }
}
