import DeviceBridge
import Fleet
import Transport
import Wire

/// What has to be done to a phone before and after its scenarios.
extension BodyRun {
  /// Takes back what a run that was killed has left arranged, the last first.
  ///
  /// - Returns: why the phone is not as a scenario may expect it.
  func undoLeftovers(over link: any ScenarioLink, ios: String?) async -> String? {
    let notes: [UndoNote]
    do throws(HostTrouble) { notes = try await ledger.leftovers() } catch { return error.sentence }
    for note in notes.reversed() {
      if Task.isCancelled { return "the run was stopped" }
      guard let back = Rest(text: note.back) else {
        // Written by a version that knew more: nobody here can do anything about it.
        await ledger.drop(note)
        options.notice("\(body.title): what run \(note.run) left arranged (\(note.state.rawValue)) is not understood.")
        continue
      }
      let arrangement = Arrangement(state: note.state, back: back, moment: .beforeRecovers)
      if let problem = await undo(arrangement, named: note.scenario, of: configured, over: link, ios: ios) {
        return
          "run \(note.run) was ended in the middle of '\(note.scenario)' and left \(note.state.rawValue): \(problem)"
      }
      await ledger.settle(arrangement)
      options.notice(
        "\(body.title): run \(note.run) was ended in the middle of '\(note.scenario)'; it is back to \(back.text).")
    }
    return nil
  }

  /// The body as fleet.yaml has it.
  private var configured: Body { options.configured[body.udid] ?? body }

  private var isOtherApp: Bool { configured.app.bundle != nil && configured.app.bundle != body.app.bundle }

  private static let otherApp = Arrangement(state: .inBackground, back: .state(.inFront), moment: .atTheEnd)

  /// Another build takes the configured app's place for this run: it is brought back whatever happens.
  func noteOtherApp() async -> String? {
    isOtherApp ? await ledger.add(Self.otherApp, scenario: "--app \(body.app.bundle ?? "")") : nil
  }

  func bringBackApp(over link: any ScenarioLink, ios: String?) async {
    guard isOtherApp else { return }
    if let problem = await undo(Self.otherApp, named: "--app", of: configured, over: link, ios: ios) {
      halt.trouble()
      options.notice("\(problem). Bring it in front by hand, or run: fleetctl launch \(body.title)")
    } else {
      await ledger.settle(Self.otherApp)
    }
  }

  private func undo(
    _ arrangement: Arrangement, named name: String, of body: Body, over link: any ScenarioLink, ios: String?
  ) async -> String? {
    let scenario = Scenario(
      file: "", hash: "", name: name, line: 0, about: nil, tags: [], needs: [], steps: [], recovers: [],
      quarantine: nil)
    let scene = Scene(
      scenario: scenario, body: body, link: link, ios: ios, token: try? await token(), clock: options.clock, lab: lab,
      attendant: options.attendant, presence: options.presence, mountImage: options.mountImage)
    // A task of its own: an undo is not cancelled with the run.
    return await Task { await Arranger(scene) { _ in nil }.undo(arrangement) }.value
  }
}
