import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl hello`: asks the door whether it is there.
enum HelloCommand {
  static let spec = CommandSpec(
    name: "hello", summary: "call the door's hello through the phone's port", positionals: [.body],
    options: DoorCalls.options, notes: DoorCalls.notes)

  static let command = Command(spec: spec) { context throws(Complaint) in
    try await DoorCalls(context).run(
      { door in
        let call = door.call(.hello)
        return (
          DoorRequest(port: door.port, method: call.line.method, target: call.line.target, deadline: .never), call.limit
        )
      }, idempotent: true)
  }
}
