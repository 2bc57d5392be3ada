import Transport

/// The bytes of one connection, both ways, and how its ends come about.
///
/// The phone's side is never told that the client has finished sending: usbmuxd takes that for the end of everything
/// and throws the answer away. So the connection stays until the phone ends it, or nobody is there to hear the answer.
final class Traffic {
  enum Result: Equatable {
    /// - Parameter look: when `lookAround` is due, where that is news.
    case goesOn(look: Deadline?)
    case hasMore
    /// Nothing is left to do.
    case over
    /// The phone has closed, the client has everything it sent and may still be sending itself.
    case phoneClosed
    /// The phone's side broke; the client must not take it for an end.
    case phoneBroke
    case noPipe(Int32)
  }

  /// How long nothing may move once an end has finished sending.
  private enum Patience {
    /// The client is known to be there, and has not heard a word yet: an app in the debugger takes what it takes.
    static let unanswered = Duration.seconds(300)
    static let usual = Duration.seconds(30)
  }

  var client: End
  var phone: End
  private var upward = Flow()
  private var downward = Flow()
  private let isPhoneHere: () -> Bool
  private(set) var clientHasEnded = false
  private(set) var presence = ClientPresence.unknown
  private var phoneHasEnded = false
  private var phoneHasLeft = false
  private var phoneTakesNothing = false
  private var looks = 0
  private var seen: UInt64 = 0
  /// What the client had got when it finished sending.
  private var gotBefore: UInt64 = 0
  private var quietSince = ContinuousClock.now

  /// - Parameter isPhoneHere: asked when the phone's side ends, since a pulled cable looks just like it.
  init(client: End, phone: End, isPhoneHere: @escaping () -> Bool) {
    self.client = client
    self.phone = phone
    self.isPhoneHere = isPhoneHere
  }

  /// Moves what can be moved now.
  func move(_ pipes: PipeStore) -> Result {
    if client.isBroken { return .over }
    var hasMore = false
    var look: Deadline?

    if !phoneTakesNothing {
      switch upward.run(from: &client, to: &phone, pipes: pipes) {
      case .waiting: break
      case .more: hasMore = true
      case .ended:
        if !clientHasEnded {
          gotBefore = downward.moved
          look = firstLook()
        }
        clientHasEnded = true
      case .sourceBroke: return .over
      case .sinkBroke: phoneTakesNothing = true
      case .noPipe(let code): return .noPipe(code)
      }
    }

    switch downward.run(from: &phone, to: &client, pipes: pipes) {
    case .waiting: break
    case .more: hasMore = true
    case .ended:
      if !phoneHasEnded {
        guard isPhoneHere() else { return .phoneBroke }
        client.socket.endSending()
        look = firstLook()
      }
      phoneHasEnded = true
      if clientHasEnded { return .over }
      if phoneTakesNothing || phone.isOver { return .phoneClosed }
    case .sourceBroke: return .phoneBroke
    case .sinkBroke: return .over
    case .noPipe(let code): return .noPipe(code)
    }
    return hasMore ? .hasMore : .goesOn(look: look)
  }

  /// The phone's number is not its own any more. Its connections are ended by the daemon, or at the next look.
  ///
  /// - Returns: when to look.
  func phoneLeft() -> Deadline {
    phoneHasLeft = true
    return .after(.seconds(1))
  }

  /// Looks whether anything is still to be waited for.
  func lookAround(_ eyes: ClientEyes) -> Result {
    if phoneHasLeft, downward.isOpen, !phone.isOver { return .phoneBroke }
    if clientHasEnded {
      presence = eyes.look(client.socket)
      if presence == .gone { return .over }
    }
    let moved = upward.moved + downward.moved
    if moved != seen { quietSince = .now }
    seen = moved
    let isUnanswered = presence == .present && downward.moved == gotBefore
    if ContinuousClock.now - quietSince > (isUnanswered ? Patience.unanswered : Patience.usual) { return .over }
    looks += 1
    return .goesOn(look: clientHasEnded || phoneHasEnded ? .after(looks < 10 ? .milliseconds(50) : .seconds(1)) : nil)
  }

  /// Lets go of both ends; the client's socket stays open.
  func close(_ poller: Poller) {
    poller.forget(client.token)
    phone.close(poller)
  }

  /// A client that closes for good has done so by then.
  private func firstLook() -> Deadline {
    quietSince = .now
    return .after(.milliseconds(5))
  }
}
