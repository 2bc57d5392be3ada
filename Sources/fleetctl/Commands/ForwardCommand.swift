import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl forward`: local TCP ports that lead to ports of a phone, until a signal ends it.
enum ForwardCommand {
  static let spec = CommandSpec(
    name: "forward", summary: "open local TCP ports that lead to ports of a phone",
    positionals: [
      .body,
      PositionalSpec(
        label: "LOCAL:DEVICE", help: "local port (0: the system chooses) and the phone's port behind it",
        count: .oneOrMore),
    ],
    options: [.value("bind", "ADDRESS", "the numeric address to listen on (else 127.0.0.1: this machine only)")],
    notes: [
      "It prints one line for each port when all of them are open, and stays until SIGINT or SIGTERM. The phone may "
        + "leave and come back: the local ports stay, and clients are turned away in between.",
      "A client may finish sending before the answer comes; the answer is not cut off. The phone does not hear of it: "
        + "usbmuxd would end the whole connection.",
      "With --json each line is an object: body, udid, address, local_port, device_port.",
      "Exit codes: 130 and 143 on signals, 2 wrong ports, 3 phone not reachable or a local port not to be had.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let (signals, sink) = AsyncStream<Void>.makeStream()
    context.interruption.whenInterrupted(patience: .milliseconds(1_800)) { _ in sink.finish() }
    let plan = try context.usage { () throws(UsageError) in try ForwardPlan(context.invocation) }
    let bench = try Bench(context)
    let body = try await bench.body(context.invocation.one("BODY"))
    guard let phone = body.phone else { throw Complaint(PhoneError.absent(body.udid)) }
    guard phone.transport == .usb else { throw Complaint(PhoneError.networkOnly(body.udid)) }

    // Only here: nothing in this process waits with select(2) from now on.
    DescriptorLimit.raise()
    let (events, report) = AsyncStream<Forward.Event>.makeStream()
    let forward: Forward
    do throws(ForwardError) {
      forward = try Forward(body.udid, plan.ports, on: plan.host, mux: bench.mux) { report.yield($0) }
    } catch {
      throw Complaint(.harness, "\(error.sentence.printable) \(next(after: error, body, plan))")
    }
    defer { forward.stop(by: .after(.seconds(1))) }
    let teller = Task {
      for await event in events { context.output.say("fleetctl: \(sentence(event, of: body).printable)") }
    }
    defer { teller.cancel() }
    try announce(forward, of: body, plan, context)
    for await _ in signals {}
    return context.interruption.exitCode ?? .done
  }

  private static func announce(
    _ forward: Forward, of body: Body, _ plan: ForwardPlan, _ context: Context
  ) throws(Complaint) {
    if !plan.isLoopback {
      context.output.say(
        "fleetctl: Listening on \(plan.host): whoever reaches this machine there reaches the phone's ports, unasked.")
    }
    var lines: [String] = []
    for (address, port) in zip(forward.addresses, plan.ports) {
      guard context.wantsJSON else {
        lines.append("\(address) -> \(body.title.printable):\(port.device)")
        continue
      }
      var local = port.local
      if case .tcp(_, let chosen) = address { local = chosen }
      let object: JSON = [
        "body": .text(body.name), "udid": .string(body.udid.description), "address": .string(plan.host),
        "local_port": .integer(Int64(local)), "device_port": .integer(Int64(port.device)),
      ]
      lines.append(object.line)
    }
    try context.output.results(lines)
  }

  private static func sentence(_ event: Forward.Event, of body: Body) -> String {
    switch event {
    case .trouble(let error): "Clients are turned away. \(error.sentence)"
    case .back: "\(body.title) is reachable again."
    }
  }

  /// The next command to type.
  private static func next(after error: ForwardError, _ body: Body, _ plan: ForwardPlan) -> String {
    switch error {
    case .taken, .forbidden:
      let ports = plan.ports.map { "0:\($0.device)" }.joined(separator: " ")
      return "Let the system choose: fleetctl forward \(body.title.printable) \(ports)."
    case .noSuchAddress: return "See which it has: ip address."
    case .host: return "See what it has left: ulimit -n; free -m."
    }
  }
}

/// What the command line asks for.
struct ForwardPlan: Equatable {
  var ports: [Forward.Port]
  /// A numeric address.
  var host: String

  init(_ invocation: Invocation) throws(UsageError) {
    let command = invocation.command.name
    ports = []
    for text in invocation.all("LOCAL:DEVICE") {
      guard let port = Self.port(text) else {
        throw .contradiction(
          "'\(text.printable)' names no two ports. It takes LOCAL:DEVICE, two numbers up to 65535, such as 8100:8127.",
          command: command)
      }
      if port.local != 0, ports.contains(where: { $0.local == port.local }) {
        throw .contradiction(
          "Local port \(port.local) was given twice. It can lead to one port of the phone only.", command: command)
      }
      ports.append(port)
    }
    let text = invocation.value("bind") ?? "127.0.0.1"
    host = text == "localhost" ? "127.0.0.1" : text
    guard SocketAddress.isNumeric(host) else {
      throw .badValue(
        option: "bind", value: text, wanted: "a numeric address of this machine, such as 127.0.0.1", command: command)
    }
  }

  /// Only this machine's own processes can reach it.
  var isLoopback: Bool { SocketAddress.tcp(host: host, port: 0).isLoopback }

  private static func port(_ text: String) -> Forward.Port? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isNumber) }),
      let local = UInt16(parts[0]), let device = UInt16(parts[1]), device > 0
    else { return nil }
    return Forward.Port(local: local, device: device)
  }
}
