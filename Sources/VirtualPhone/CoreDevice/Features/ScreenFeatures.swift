import Transport
import Wire

/// com.apple.coredevice.screencaptureservice: a picture of the screen. Made in memory and kept nowhere.
struct ScreenFeatures: FeatureService {
  let name = CoreDeviceService.screenCapture

  func features(on phone: VirtualPhone) -> [CoreDeviceFeature] { [.captureScreenshot] }

  func answer(_ call: CoreDeviceRequest, on phone: VirtualPhone) throws(ShapeError) -> FeatureAnswer {
    guard call.known == .captureScreenshot else { return .failure(.unsupported(call.feature)) }
    let input = try ScreenshotInput(call.input)
    guard input.display == nil || input.display == PhoneScreen.identifier else {
      return .failure(ErrorChain(domain: ErrorChain.action, code: 1, description: "There is no such display."))
    }
    let rules = phone.rules.with { $0.screenshot }
    let screen = phone.screen(scale: rules.scale)
    phone.record("screenshot-taken", ["shows": .string(screen.content.word)])
    let isPlain = rules.format == .png
    let picture = isPlain ? screen.picture.png : screen.picture.tiff
    switch rules.fault {
    case .silent: return .silence
    case .close: return .close
    case .refused:
      return .failure(
        ErrorChain(domain: ErrorChain.action, code: 3, description: "The screen could not be captured."))
    case .empty: return output([], isPlain)
    case .garbage: return output(picture.reversed(), isPlain)
    case .cut: return output(Array(picture.prefix(picture.count / 2)), isPlain)
    case nil: return output(picture, isPlain)
    }
  }

  private func output(_ picture: [UInt8], _ isPlain: Bool) -> FeatureAnswer {
    .output(
      ScreenshotOutput(image: picture, format: isPlain ? "png" : "tiff", display: PhoneScreen.identifier).body)
  }
}
