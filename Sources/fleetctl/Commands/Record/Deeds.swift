import DeviceBridge
import Fleet
import Transport
import Wire

extension Context {
  /// The longest that a command is held up by writing down what it did.
  private static let noteLimit = Duration.seconds(2)

  /// Writes down what a person did to a body, where a record is kept. That it can't be written is a warning: the deed is
  /// done.
  func note(
    _ kind: ActionRow.Kind, on body: Body, reason: String? = nil, result: String, in configuration: FleetConfiguration
  ) async {
    guard let path = try? configuration.record.path(environment), RecordReader(path).fileState != nil else { return }
    let action = ActionRow(
      kind, at: WallClock.now(), user: Holder.current(.hold).user, reason: reason, body: body.name, udid: body.udid,
      result: result)
    let mask = Mask(Array(configuration.secrets.values) + [(try? body.door.token()) ?? nil].compactMap { $0 })
    let limit = Deadline.after(Self.noteLimit)
    do throws(RecordTrouble) {
      let (record, notices) = try await Record.open(path, masking: mask, isChecked: false, within: Self.noteLimit)
      for sentence in notices.compactMap(\.sentence) { output.say(sentence.printable) }
      try await record.act(action, within: limit.remaining)
      try await record.close(within: limit.remaining)
    } catch {
      output.say("fleetctl: what was done is not in the record. \(error.sentence)".printable)
    }
  }
}
