import Glibc
import Transport
import Wire

/// Asks the supervisor that runs on this machine, through its UNIX socket in the state folder.
public enum SupervisorClient {
  public enum Trouble: Error, Equatable, Sendable {
    /// Nothing listens there.
    case notRunning(socket: String)
    /// This user may not ask.
    case forbidden(socket: String)
    /// It listens, and does not answer as a supervisor does.
    case noAnswer(socket: String, detail: String)
    /// It answered with a refusal.
    case refused(String)

    /// What happened, the likely cause, what to type next.
    public var sentence: String {
      switch self {
      case .notRunning(let socket):
        """
        No supervisor runs on this machine: nothing listens at \(socket). \
        It was not started, or has ended. \
        Start it: sudo systemctl start fleetctl, or fleetctl supervise
        """
      case .forbidden(let socket):
        """
        The supervisor's socket \(socket) is not for this user. \
        Its group may ask, and you are not in it, or have not logged in since you are. \
        See whose it is: ls -l \(socket)
        """
      case .noAnswer(let socket, let detail):
        """
        The supervisor at \(socket) does not answer: \(detail). \
        It may be hung, or ending. \
        See how it is: systemctl status fleetctl
        """
      case .refused(let sentence): sentence
      }
    }
  }

  /// Where the supervisor of that state folder listens.
  public static func socket(in state: StateFolder) -> String { "\(state.path)/supervise.sock" }

  /// The objects of `/api/bodies`.
  public static func bodies(
    socket: String, by deadline: Deadline = .after(.seconds(5))
  ) throws(Trouble) -> [JSON] {
    let answer = try get("/api/bodies", socket: socket, by: deadline)
    guard let bodies = JSON(parsing: answer.body)?.array else {
      throw .noAnswer(socket: socket, detail: "what came is no list of bodies")
    }
    return bodies
  }

  /// One GET, answered with 200.
  public static func get(
    _ target: String, socket: String, by deadline: Deadline = .after(.seconds(5))
  ) throws(Trouble) -> HTTPMessage {
    do {
      let stream = try Socket.connect(to: .unix(path: socket), by: deadline)
      defer { stream.close() }
      let message = try HTTPCall.get(target, host: "localhost", on: stream, limit: 64 << 20, by: deadline)
      guard message.status == 200 else {
        throw Trouble.refused(
          JSON(parsing: message.body)?["error"]?.string?.oneLine(limit: 1_000)
            ?? "The supervisor answers with \(message.status).")
      }
      return message
    } catch let trouble as Trouble {
      throw trouble
    } catch StreamError.system(let code) {
      switch code {
      case ENOENT, ENOTDIR, ECONNREFUSED: throw .notRunning(socket: socket)
      case EACCES, EPERM: throw .forbidden(socket: socket)
      default: throw .noAnswer(socket: socket, detail: Errno.text(code))
      }
    } catch let error as StreamError {
      throw .noAnswer(socket: socket, detail: error.sentence)
    } catch let error as HTTPError {
      throw .noAnswer(socket: socket, detail: error.sentence)
    } catch {
      throw .noAnswer(socket: socket, detail: "\(error)")
    }
  }
}

/// One HTTP exchange of our own, on a connection of its own.
enum HTTPCall {
  /// - Throws: `StreamError` or `HTTPError`.
  static func get(
    _ target: String, host: String, on stream: any ByteStream, limit: Int, by deadline: Deadline
  ) throws -> HTTPMessage {
    let head = "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: fleetctl\r\nConnection: close\r\n\r\n"
    try stream.write(Array(head.utf8), by: deadline)
    let parser = HTTPParser(.response, bodyLimit: limit)
    while !parser.isComplete {
      let part = try stream.read(max: 1 << 16, by: deadline)
      if part.isEmpty { try parser.finish() } else { try parser.feed(part) }
    }
    return parser.message
  }
}
