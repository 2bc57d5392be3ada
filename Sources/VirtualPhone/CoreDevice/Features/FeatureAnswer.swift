import FoundationEssentials
import Wire

/// What a CoreDevice service does with one call.
enum FeatureAnswer: Equatable, Sendable {
  case reply(CoreDeviceReply)
  /// These elements on the side channel, and then its end.
  case stream([XPCValue], channel: UUID)
  /// Nothing ever comes.
  case silence
  /// The connection ends.
  case close

  static func output(_ body: XPCValue) -> FeatureAnswer { .reply(.output(body)) }
  static func failure(_ chain: ErrorChain) -> FeatureAnswer { .reply(.error(chain)) }
}

/// A CoreDevice service: what it says it can do, and what it does.
protocol FeatureService: Sendable {
  var name: CoreDeviceService { get }
  /// As the phone's list tells them; an empty list says nothing.
  func features(on phone: VirtualPhone) -> [CoreDeviceFeature]
  func answer(_ call: CoreDeviceRequest, on phone: VirtualPhone) throws(ShapeError) -> FeatureAnswer
}

extension FeatureService {
  /// Whatever came: a call that is none is refused as the phone's decoder does.
  func answer(_ body: XPCValue, on phone: VirtualPhone) -> FeatureAnswer {
    do throws(ShapeError) {
      let call = try CoreDeviceRequest(body)
      phone.record("coredevice-call", ["service": .string(name.rawValue), "feature": .string(call.feature)])
      guard let feature = call.known, feature.service == name else {
        return .failure(.unsupported(call.feature))
      }
      return try answer(call, on: phone)
    } catch {
      return .failure(.undecodable(error.key))
    }
  }
}

extension ErrorChain {
  static let coreDevice = "com.apple.dt.CoreDeviceError"
  static let action = "CoreDevice.ActionError"

  /// A feature that the service has not.
  static func unsupported(_ feature: String) -> ErrorChain {
    ErrorChain(
      domain: coreDevice, code: 1001,
      description: "The requested feature \(feature.prefix(256)) is not supported by this device.")
  }

  /// A feature that the phone lists and does not have.
  static func notImplemented(_ action: String) -> ErrorChain {
    ErrorChain(domain: Self.action, code: 2, description: "Action \(action) is not implemented.")
  }

  /// A feature for programs with an entitlement that hosts do not have.
  static func notEntitled(_ action: String) -> ErrorChain {
    ErrorChain(domain: Self.action, code: 5, description: "The client is not entitled to perform \(action).")
  }

  /// An input without a key that the phone's decoder wants; Foundation's code for it.
  static func undecodable(_ key: String) -> ErrorChain {
    ErrorChain(
      domain: "NSCocoaErrorDomain", code: 4865, description: "The data couldn\u{2019}t be read because it is missing.",
      failureReason: "No value associated with key \(key.prefix(64)).")
  }
}
