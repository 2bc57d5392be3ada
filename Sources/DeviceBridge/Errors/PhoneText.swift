import Wire

/// Text that came from a phone, as part of a sentence.
enum PhoneText {
  static func clean(_ text: String) -> String { text.oneLine() }
}
