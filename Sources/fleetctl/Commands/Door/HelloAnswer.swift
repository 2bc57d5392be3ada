import Wire

/// What a hello's answer says about the app.
struct HelloAnswer: Equatable, Sendable {
  /// The app says of itself that it is in front; anything else is not taken for it.
  var isActive: Bool

  init(_ message: HTTPMessage) {
    isActive =
      (200..<300).contains(message.status) && JSON(parsing: message.body)?["active"]?.boolean == true
  }
}
