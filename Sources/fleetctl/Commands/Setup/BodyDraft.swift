import DeviceBridge
import Wire

/// A body as `fleetctl init` proposes it.
struct BodyDraft: Sendable {
  var phone: ListedPhone
  var facts: PhoneFacts
  /// nil where the phone's own name gives none.
  var name: String?

  /// Its line under `bodies:`, with what the phone is in a comment.
  var entry: String {
    let udid = phone.udid.description
    let named = name.map { ", name: \(Self.quoted($0))" } ?? ""
    let about = [facts.deviceName, facts.model, facts.ios.map { "iOS \($0)" }].compactMap { $0?.printable }
      .joined(separator: ", ")
    return "  - {udid: \(udid)\(named)}" + (about.isEmpty ? "" : "  # \(about)")
  }

  var json: JSON {
    [
      "body": .text(name), "udid": .string(phone.udid.description), "device_name": .text(facts.deviceName),
      "model": .text(facts.model), "ios": .text(facts.ios),
    ]
  }

  /// The whole file.
  static func file(_ drafts: [BodyDraft], app: String?, version: String) -> String {
    """
    # Written by fleetctl \(version) init. What each value is, and where it comes from: fleetctl config show --origin
    version: 1
    \(app.map { "app: {bundle: \($0)}" } ?? "# app: {bundle: com.example.kiosk}  # the kiosk app's bundle identifier")
    images: {mount: auto}
    bodies:
    \(drafts.map(\.entry).joined(separator: "\n"))

    """
  }

  /// A name that can be typed: the phone's own in small letters, hyphens for all that is neither letter nor digit.
  ///
  /// - Returns: nil where nothing is left; with a number where another body has it.
  static func name(from deviceName: String?, beside taken: [String]) -> String? {
    let words = (deviceName ?? "").lowercased().split { !$0.isLetter && !$0.isNumber }
    let plain = String(words.joined(separator: "-").prefix(40))
    // fleet.yaml reads a plain null as no name, and whoever reads the file would, too.
    guard !plain.isEmpty, plain != "null" else { return nil }
    if !taken.contains(plain) { return plain }
    var number = 2
    while taken.contains("\(plain)-\(number)") { number += 1 }
    return "\(plain)-\(number)"
  }

  /// As it can stand in YAML: letters of other scripts in quotes, though YAML would take most of them without.
  private static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { $0 < 0x80 } && name.first?.isLetter == true
    return isPlain ? name : "\"\(name)\""
  }
}
