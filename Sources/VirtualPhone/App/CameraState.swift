import Transport

/// The app's cameras, its grants, and what a capture shows of itself.
struct CameraState: Sendable {
  enum Grant: String, CaseIterable, Sendable { case authorized, denied, restricted, notDetermined }

  /// The camera's own trouble.
  enum Fault: String, CaseIterable, Sendable {
    /// It never calls back.
    case stuck
    /// It would not open.
    case shut
  }

  static let names = ["front", "back"]
  static let grantNames = ["camera", "microphone", "location"]

  var grants: [String: Grant] = ["camera": .authorized, "microphone": .authorized, "location": .authorized]
  /// Whether the phone knows its place.
  var hasFix = true
  var place = Place.example
  var fault: Fault?
  /// The capture that runs.
  var claim: Claim?
  /// The full-width red band at the top of the screen; nil while there is none.
  var band: Band?

  func grant(_ name: String) -> Grant { grants[name] ?? .notDetermined }
}

/// The one flag that says a capture is running; whoever set it clears it.
final class Claim: Sendable {
  /// `front` or `back`.
  let camera: String
  /// Who asked, where the request named one.
  let by: String?
  /// Opens when it is given back.
  let freed = Latch()
  /// Opens when iOS takes the camera away, or the app ends.
  let interrupted = Latch()

  /// Set when its capture has ended although it was not given back.
  private let over = Guarded(false)

  init(camera: String, by: String?) {
    self.camera = camera
    self.by = by
  }

  var isOver: Bool { over.with { $0 } }
  func captureEnded() { over.with { $0 = true } }
}

/// The red band, as a screenshot shows it.
struct Band: Equatable, Sendable {
  static let accessibilityIdentifier = "camera-on-band"
  /// sRGB, 0...1.
  static let colour = (red: 0.86, green: 0.10, blue: 0.12)

  /// Heavy white type.
  let text: String

  init(camera: String, by: String?) {
    text = (["CAMERA ON", camera.uppercased()] + (by.map { [$0.uppercased()] } ?? [])).joined(separator: " · ")
  }
}
