import VirtualPhone
import Fleet

/// `fleetctl virtual journal`: what the host did to the phones.
enum VirtualJournalCommand {
  static let spec = CommandSpec(
    name: "virtual journal", summary: "what the host did to virtual phones, as JSON lines",
    options: [VirtualControl.option, .flag("follow", "go on with new lines until the phones end")])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let client = try VirtualControl.client(context)
    do throws(ActionError) {
      try client.journal(follow: context.invocation.has("follow")) { entry in
        // A reader that has gone ends the journal; the writer remembers why.
        do { try context.output.result(entry) } catch { return false }
        return true
      }
    } catch {
      throw Complaint(.harness, error.sentence)
    }
    if let complaint = context.output.complaint { throw complaint }
    return .done
  }
}
