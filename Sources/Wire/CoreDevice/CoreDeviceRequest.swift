import FoundationEssentials

/// A call of a CoreDevice feature: the same envelope around every input.
///
/// - Source: a capture of pymobiledevice3 11.45.0, which real phones answer.
public struct CoreDeviceRequest: Equatable, Sendable {
  /// In full, `com.apple.coredevice.feature.…`.
  public var feature: String
  public var action: String?
  public var input: XPCValue
  /// No phone checks it.
  public var device: UUID
  /// A new one for every call.
  public var invocation: UUID

  public init(_ feature: CoreDeviceFeature, input: XPCValue = [:], device: UUID = UUID(), invocation: UUID = UUID()) {
    self.feature = feature.identifier
    self.action = feature.action
    self.input = input
    self.device = device
    self.invocation = invocation
  }

  /// Reads a call as a phone does; identifiers that are no UUID are replaced.
  public init(_ body: XPCValue) throws(ShapeError) {
    feature = try body.text("CoreDevice.featureIdentifier")
    action = body["CoreDevice.actionIdentifier"]?.string
    // go-ios sends null where there is nothing to say.
    input = body["CoreDevice.input"] ?? nil
    device = body["CoreDevice.deviceIdentifier"]?.string.flatMap { UUID(uuidString: $0) } ?? UUID()
    invocation = body["CoreDevice.invocationIdentifier"]?.string.flatMap { UUID(uuidString: $0) } ?? UUID()
  }

  /// The feature, where it is one that is known here.
  public var known: CoreDeviceFeature? { CoreDeviceFeature(identifier: feature) }

  public var body: XPCValue {
    var entries: [String: XPCValue] = [
      "CoreDevice.CoreDeviceDDIProtocolVersion": .int64(2),
      "CoreDevice.coreDeviceVersion": [
        "components": [.uint64(629), .uint64(3)], "originalComponentsCount": .int64(2), "stringValue": "629.3",
      ],
      "CoreDevice.deviceIdentifier": .string(device.uuidString),
      "CoreDevice.invocationIdentifier": .string(invocation.uuidString),
      "CoreDevice.featureIdentifier": .string(feature), "CoreDevice.action": [:], "CoreDevice.input": input,
    ]
    if let action { entries["CoreDevice.actionIdentifier"] = .string(action) }
    return .dictionary(entries)
  }
}

/// What a CoreDevice feature answers.
public enum CoreDeviceReply: Equatable, Sendable {
  case output(XPCValue)
  case error(ErrorChain)

  /// - Throws: `ShapeError` for a message that is neither.
  public init(_ body: XPCValue) throws(ShapeError) {
    if let error = body["CoreDevice.error"] {
      self = .error(try ErrorChain(wire: error))
    } else if let output = body["CoreDevice.output"] {
      self = .output(output)
    } else {
      throw ShapeError("CoreDevice.output")
    }
  }

  public var body: XPCValue {
    switch self {
    case .output(let output): ["CoreDevice.output": output]
    case .error(let chain): ["CoreDevice.error": chain.wire]
    }
  }
}
