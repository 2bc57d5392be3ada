import Glibc
import Transport
import Wire

/// The supervisor's page: for people, for programs (`/api/`), for Prometheus and for whoever watches the watcher. It reads
/// and changes nothing, at an address of TCP where one is set, and on a UNIX socket for the commands of this machine.
public final class SupervisorPage: Sendable {
  public struct Settings: Sendable {
    /// `HOST:PORT`; nil: no address of TCP.
    public var listen: String?
    public var tokenFile: String?
    public var hosts: [String] = []
    /// The path of the UNIX socket; nil: none.
    public var socket: String?
    public var every = Duration.seconds(10)
    public var answerWithin = Duration.seconds(10)
    public var pingURL: String?
    public var pingEvery = Duration.seconds(60)
    /// What the curl of a ping inherits, usually this process's own.
    public var environment: [String: String] = [:]
    public var version = ""
    /// Takes what the operator should know, a sentence each.
    public var log: @Sendable (String) -> Void = { _ in }
    var limits = PageServer.Limits()
    /// The wall clock, since 1970.
    public var now: @Sendable () -> Duration = { WallClock.now() }

    /// - Parameter socket: see `SupervisorClient.socket(in:)`.
    public init(_ settings: SuperviseSettings, socket: String?, version: String) {
      listen = settings.listen
      tokenFile = settings.tokenFile
      hosts = settings.hosts
      every = settings.every
      answerWithin = settings.answerWithin
      pingURL = settings.pingURL
      pingEvery = settings.pingEvery
      self.socket = socket
      self.version = version
    }
  }

  private struct Running {
    var servers: [PageServer] = []
    var follower: Task<Void, Never>?
    var isStopped = false
  }

  private let view: any SupervisorView
  private let settings: Settings
  private let address: SocketAddress?
  private let access: PageAccess
  private let routes: PageRoutes
  private let pinger: Pinger?
  private let running = Guarded(Running())
  private let stopped = Latch()

  /// Reads the token, and sees whether the page may be served where it is to be.
  ///
  /// - Throws: `PageTrouble.address`, `.noToken` and `.token`: the configuration's.
  public init(view: any SupervisorView, settings: Settings, files: Files = .host) throws(PageTrouble) {
    self.view = view
    self.settings = settings
    var address: SocketAddress?
    var access = PageAccess()
    if let listen = settings.listen {
      let found = try SocketAddress.page(listen)
      address = found
      do { access.token = try settings.tokenFile.map { path throws(Problem) in try Secret.read(path, files) } } catch {
        throw .token(error)
      }
      if access.token == nil, !found.isLoopback { throw .noToken(found) }
      access.hosts = Set(settings.hosts.compactMap(PageAccess.name))
      if case .tcp(let host, _) = found, !["0.0.0.0", "::"].contains(host) { access.hosts.insert(host) }
    }
    self.address = address
    self.access = access
    pinger = settings.pingURL.map {
      Pinger(url: $0, every: settings.pingEvery, environment: settings.environment, log: settings.log)
    }
    routes = PageRoutes(view: view, settings: settings, pinger: pinger)
  }

  deinit { stop() }

  /// Begins to listen.
  ///
  /// - Throws: `PageTrouble.listen` and `.server`; then nothing listens.
  public func start() throws(PageTrouble) {
    do {
      if let address { try serve(try Self.listener(address), access) }
      if let path = settings.socket { try serve(try Self.listener(unix: path), PageAccess(checksHost: false)) }
    } catch {
      stop()
      throw error
    }
    let (view, hub) = (view, routes.hub)
    let wake: @Sendable () -> Bool = { [weak self] in self?.wakeStreams() ?? false }
    let follower = Task {
      for await _ in view.changes() {
        // A page with nobody at it costs nothing; at most once a second for one with somebody.
        guard wake() else { continue }
        try? await hub.refresh()
        _ = wake()
        do { try await ContinuousClock().sleep(for: .seconds(1)) } catch { return }
      }
    }
    running.with { $0.follower = follower }
    let stopped = stopped
    let tick: @Sendable (Int) -> Void = { [weak self] in self?.tick($0) }
    _ = Worker(name: "page-clock") {
      var count = 0
      while !stopped.wait(until: .after(.seconds(1))) {
        count += 1
        tick(count)
      }
    }
  }

  /// Ends everything that it has begun, and removes the UNIX socket.
  public func stop() {
    stopped.open()
    let (servers, follower) = running.with { running in
      defer { running = Running(isStopped: true) }
      return (running.servers, running.follower)
    }
    follower?.cancel()
    for server in servers { server.stop() }
  }

  /// Where it listens: a TCP port 0 has become the system's choice.
  public var addresses: [SocketAddress] { servers.map(\.address) }

  /// How many clients are connected.
  var connections: Int { servers.reduce(0) { $0 + $1.connections.count } }

  private var servers: [PageServer] { running.with { $0.servers } }

  /// - Returns: whether anybody is there.
  private func wakeStreams() -> Bool {
    let open = servers.filter { $0.streamCount > 0 }
    for server in open { server.wakeStreams() }
    return !open.isEmpty
  }

  /// Each second.
  private func tick(_ count: Int) {
    for server in servers {
      server.cutLate()
      // Shows which live pages have gone without a word; and a proxy does not take the others for dead.
      if count.isMultiple(of: 15) { server.beatStreams() }
    }
    pinger?.look(view.lastRound())
  }

  private func serve(_ listener: Listener, _ access: PageAccess) throws(PageTrouble) {
    let routes = routes
    let pages: @Sendable () -> Int = { [weak self] in self?.servers.reduce(0) { $0 + $1.streamCount } ?? 0 }
    let wake: @Sendable () -> Void = { [weak self] in _ = self?.wakeStreams() }
    let server = try PageServer(listener, limits: settings.limits) { request in
      access.refusal(of: request).map(PageReply.now) ?? routes.reply(to: request, pages: pages, wake: wake)
    }
    running.with { $0.servers.append(server) }
  }

  private static func listener(_ address: SocketAddress) throws(PageTrouble) -> Listener {
    do { return try Listener(address) } catch { throw .listen(address, code: error.code) }
  }

  /// Open to the group of the folder that it lies in, and to nobody else.
  private static func listener(unix path: String) throws(PageTrouble) -> Listener {
    let address = SocketAddress.unix(path: path)
    do {
      let listener = try Listener(address, mode: 0o600)
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
      var (around, own) = (stat(), stat())
      guard stat(folder, &around) == 0, stat(path, &own) == 0 else {
        throw PageTrouble.listen(address, code: errno)
      }
      // A unit may be forbidden every chown, and needs none; where it fails, the socket stays its owner's alone.
      let isOfGroup = own.st_gid == around.st_gid || chown(path, uid_t.max, around.st_gid) == 0
      // The umask has had its say when the file was made.
      if isOfGroup, chmod(path, 0o660) != 0 { throw PageTrouble.listen(address, code: errno) }
      return listener
    } catch let trouble as PageTrouble {
      throw trouble
    } catch let error as StreamError {
      throw .listen(address, code: error.code)
    } catch {
      throw .listen(address, code: EIO)
    }
  }
}

extension StreamError {
  /// The system's number for it.
  fileprivate var code: Int32 {
    switch self {
    case .system(let code): code
    case .timedOut: ETIMEDOUT
    case .closed: ECONNRESET
    case .tls: EPROTO
    }
  }
}
