import Transport
import Wire

extension PhoneWork {
  /// How an app's first second went, as far as it was watched.
  enum FirstSecond: Equatable {
    /// Its door has answered: it lives.
    case answered
    /// The second is over, and whether the process lives is still to be found out.
    case over
  }

  /// Waits until the app has had a second to end again, or its door answers.
  ///
  /// - Throws: what the call was ended by meanwhile.
  func firstSecond(of request: LaunchRequest, _ step: String) throws(PhoneError) -> FirstSecond {
    let end = Deadline.after(.seconds(1))
    if var question = request.door {
      let client = DoorClient(context.route, context.leash)
      question.deadline = min(end, context.deadline)
      while !end.hasPassed, context.ended == nil {
        if case .response = client.ending(of: question) { return .answered }
        context.pause(min(.milliseconds(20), end.remaining))
      }
    } else {
      context.pause(.seconds(1))
    }
    if let ended = context.ended(at: step) { throw ended }
    return .over
  }
}
