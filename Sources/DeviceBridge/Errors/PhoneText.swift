/// Text that came from a phone, made fit for a sentence: one line, no control characters, of bounded length.
enum PhoneText {
  static let limit = 300

  static func clean(_ text: String) -> String {
    var clean = ""
    for scalar in text.unicodeScalars.prefix(limit) {
      let plain = scalar.value >= 0x20 && scalar.value != 0x7F && !(0x80..<0xA0).contains(scalar.value)
      clean.unicodeScalars.append(plain ? scalar : " ")
    }
    while clean.last == " " { clean.removeLast() }
    return clean
  }
}
