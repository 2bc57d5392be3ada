import DeviceBridge
import Fleet
import Transport
import Wire

extension StepRunner {
  /// What the supervisor's page would say before a capture, by the same rule, from what the phone says now.
  func ready(_ step: ReadyStep) async -> StepResult {
    guard let within = step.within else { return await readyOnce(step) }
    return await keepTrying(within: within) { _ in Try(result: await readyOnce(step)) }
  }

  private func readyOnce(_ step: ReadyStep) async -> StepResult {
    var wish = step.wish
    wish.camera = Placeholders.fill(wish.camera, scene.texts)
    let began = scene.clock.now
    guard let reading = await scene.lock(), let hello = await scene.call(.hello)?.ending else { return .stopped }
    var body = BodyPresent(body: scene.body.name, udid: scene.body.udid, awaited: "nothing")
    body.lock = reading.state
    switch hello {
    case .response: body.words = OutcomeWords(.up)
    case .refused: body.words = OutcomeWords(.silent, .refused)
    case .silent: body.words = OutcomeWords(.silent, .noAnswer)
    case .badReply: body.words = OutcomeWords(.silent, .badReply)
    case .unreachable(let error): return .broken(error.sentence)
    }
    var answer = wish.refusal(by: body)
    if answer == nil {
      guard let call = await scene.call(.status) else { return .stopped }
      if case .unreachable(let error) = call.ending { return .broken(error.sentence) }
      answer = wish.answer(by: body, DoorAnswer(ending: call.ending, took: call.took))
    }
    guard let answer else { return .stopped }
    var message = HTTPMessage()
    message.status = answer.status
    message.headers = [("Content-Type", "application/json")]
    message.body = Array(answer.json.line.utf8)
    return await check(.response(message), took: scene.clock.now - began, step.expectation)
  }
}
