import Transport
import Wire

/// What the phone's screen shows now.
struct PhoneScreen: Equatable, Sendable {
  enum Content: Equatable, Sendable {
    case lockScreen
    case homeScreen
    /// The kiosk app; with its red band's text while a capture runs.
    case kiosk(band: String?)
    /// Another app, by its bundle.
    case app(String)

    /// For the journal.
    var word: String {
      switch self {
      case .lockScreen: "lock screen"
      case .homeScreen: "home screen"
      case .kiosk(nil): "kiosk"
      case .kiosk: "kiosk with its band"
      case .app(let bundle): bundle
      }
    }
  }

  /// The band's height as a part of the screen's.
  static let bandHeight = 0.08

  let content: Content
  /// Pixels.
  let width: Int
  let height: Int

  var picture: Picture {
    switch content {
    case .lockScreen: lockScreen
    case .homeScreen: homeScreen
    case .kiosk(let band): kiosk(band)
    case .app(let bundle): app(bundle)
    }
  }

  // MARK: Painting

  /// An even page with a card in its middle, and the band at the very top.
  private func kiosk(_ band: String?) -> Picture {
    var picture = Picture(width: width, height: height, .init(0.95, 0.95, 0.96))
    picture.fill(x: width / 8, y: height / 3, width: width * 3 / 4, height: height / 4, .init(0.87, 0.88, 0.90))
    picture.fill(x: width / 5, y: height * 2 / 5, width: width * 3 / 5, height: height / 60, .init(0.45, 0.47, 0.50))
    guard let band else { return picture }
    let tall = Int((Double(height) * Self.bandHeight).rounded())
    let red = Picture.Colour(Band.colour.red, Band.colour.green, Band.colour.blue)
    picture.fill(x: 0, y: 0, width: width, height: tall, red)
    type(band, into: &picture, height: tall)
    return picture
  }

  /// Marks as heavy as type: two stems and a bar for each letter.
  private func type(_ text: String, into picture: inout Picture, height tall: Int) {
    let cell = min(width * 9 / 10 / max(1, text.count), tall * 2 / 5)
    let (top, size, stem) = (tall * 3 / 5, tall / 4, max(1, cell / 5))
    let left = (width - cell * text.count) / 2
    for (index, letter) in text.enumerated() where letter != " " {
      let x = left + index * cell
      picture.fill(x: x, y: top, width: stem, height: size, .white)
      picture.fill(x: x + cell * 3 / 5, y: top, width: stem, height: size, .white)
      picture.fill(x: x, y: top + size / 2, width: cell * 3 / 5, height: max(1, size / 6), .white)
    }
  }

  private var lockScreen: Picture {
    var picture = Picture(width: width, height: height, .init(0.09, 0.11, 0.20))
    // The clock, and the two buttons at the bottom.
    for digit in 0..<4 {
      let x = width / 5 + digit * width * 3 / 20 + (digit > 1 ? width / 30 : 0)
      picture.fill(x: x, y: height / 7, width: width / 9, height: height / 14, .init(0.93, 0.94, 0.97))
      picture.fill(x: x + width / 40, y: height / 6, width: width / 18, height: height / 40, .init(0.09, 0.11, 0.20))
    }
    for x in [width / 10, width * 8 / 10] {
      picture.fill(x: x, y: height * 9 / 10, width: width / 10, height: width / 10, .init(0.25, 0.27, 0.36))
    }
    return picture
  }

  private var homeScreen: Picture {
    var picture = Picture(width: width, height: height, .init(0.30, 0.52, 0.74))
    let colours = [
      Picture.Colour(0.98, 0.98, 0.98), .init(0.20, 0.78, 0.35), .init(0.04, 0.52, 1.0), .init(1.0, 0.58, 0.0),
      .init(0.35, 0.34, 0.84),
    ]
    let (step, side) = (width / 4, width * 3 / 20)
    for row in 0..<5 {
      for column in 0..<4 {
        picture.fill(
          x: column * step + (step - side) / 2, y: height / 12 + row * step * 6 / 5, width: side, height: side,
          colours[(row * 4 + column) % colours.count])
      }
    }
    return picture
  }

  /// A page of lines under a title bar, in a colour of the app's own.
  private func app(_ bundle: String) -> Picture {
    var picture = Picture(width: width, height: height, .white)
    let shade = Double(bundle.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFF }) / 255
    picture.fill(x: 0, y: 0, width: width, height: height / 9, .init(0.97, 0.97, 0.98))
    picture.fill(x: width / 3, y: height / 15, width: width / 3, height: height / 70, .init(0.1, 0.2, shade))
    for line in 0..<9 {
      picture.fill(x: width / 12, y: height * (line + 2) / 12, width: width * 5 / 6, height: 2, .init(0.8, 0.8, 0.82))
    }
    return picture
  }
}

extension PhonePreset {
  /// The screen's pixels, by product type.
  var screenPixels: (width: Int, height: Int) {
    switch productType {
    case "iPhone8,1": (750, 1334)
    case "iPhone12,1": (828, 1792)
    case "iPhone14,2": (1170, 2532)
    default: (1179, 2556)
    }
  }
}

extension VirtualPhone {
  /// - Parameter scale: the picture has so many times fewer pixels each way.
  func screen(scale: Int = 1) -> PhoneScreen {
    let pixels = preset.screenPixels
    let content: PhoneScreen.Content =
      if state.with({ $0.locked }) { .lockScreen } else { app.shown }
    return PhoneScreen(content: content, width: pixels.width / scale, height: pixels.height / scale)
  }
}

extension KioskApp {
  /// What an unlocked phone's screen shows.
  var shown: PhoneScreen.Content {
    model.with { model in
      guard let front = model.front else { return .homeScreen }
      return front == settings.bundle ? .kiosk(band: model.camera.band?.text) : .app(front)
    }
  }
}
