import Fleet

/// Hands a run's events out one after another, with their time, and without secrets.
actor Emitter {
  private let number: Int
  private let wallClock: @Sendable () -> String
  private let emit: @Sendable (RunEvent) -> Void
  private var mask: Mask
  private var secrets: [Secret]
  private(set) var counts = VerdictCounts()

  init(
    number: Int, secrets: [Secret], wallClock: @escaping @Sendable () -> String,
    emit: @escaping @Sendable (RunEvent) -> Void
  ) {
    self.number = number
    self.secrets = secrets
    self.wallClock = wallClock
    self.emit = emit
    mask = Mask(secrets)
  }

  /// From now on the value is taken out of every text.
  func hide(_ secret: Secret) {
    guard !secrets.contains(secret) else { return }
    secrets.append(secret)
    mask = Mask(secrets)
  }

  func callAsFunction(_ happening: RunEvent.Happening) {
    if case .scenarioFinished(let event) = happening, event.isFinal { counts.add(event.verdict) }
    emit(RunEvent(at: wallClock(), run: number, happening: masked(happening)))
  }

  private func masked(_ happening: RunEvent.Happening) -> RunEvent.Happening {
    switch happening {
    case .stepFinished(var event):
      event.step = mask(event.step)
      event.expected = event.expected.map { mask($0) }
      event.came = event.came.map { mask($0) }
      event.exchanges = event.exchanges.map(masked)
      event.deeds = event.deeds.map { mask($0) }
      return .stepFinished(event)
    case .scenarioFinished(var event):
      event.message = event.message.map { mask($0) }
      event.notUndone = event.notUndone.map { mask($0) }
      event.exchanges = event.exchanges.map(masked)
      event.log = event.log.map { mask($0) }
      return .scenarioFinished(event)
    case .runStarted(var event):
      event.label = event.label.map { mask($0) }
      event.meta = event.meta.mapValues { mask($0) }
      return .runStarted(event)
    case .scenarioStarted, .runFinished: return happening
    }
  }

  private func masked(_ exchange: Exchange) -> Exchange {
    var exchange = exchange
    exchange.request = mask(exchange.request)
    exchange.answer = mask(exchange.answer)
    return exchange
  }
}
