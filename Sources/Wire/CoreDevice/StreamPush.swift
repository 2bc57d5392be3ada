import FoundationEssentials

/// The input of a feature that answers in pieces.
public struct StreamInput: Equatable, Sendable {
  public var input: XPCValue
  /// Names the side channel on which the pieces come.
  public var channel: UUID

  public init(wrapping input: XPCValue = [:], channel: UUID = UUID()) {
    self.input = input
    self.channel = channel
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard let channel = body["streamProxy"]?["sideChannel"]?.uuid else { throw ShapeError("streamProxy.sideChannel") }
    self.init(wrapping: body["actualInput"] ?? nil, channel: channel)
  }

  public var body: XPCValue { ["actualInput": input, "streamProxy": ["sideChannel": .uuid(channel)]] }
}

/// One message of a side channel.
public struct StreamPush: Equatable, Sendable {
  public enum Status: Equatable, Sendable {
    case elements([XPCValue])
    case finished
    /// The phone gave up; nil where it does not say why.
    case failed(ErrorChain?)
  }

  public var channel: UUID?
  public var status: Status

  public init(_ status: Status, channel: UUID?) {
    self.status = status
    self.channel = channel
  }

  /// - Returns: nil for a message of another kind, such as a plain reply.
  public init?(_ body: XPCValue) {
    guard let status = body[Self.statusKey]?.dictionary else { return nil }
    channel = body[Self.channelKey]?.uuid
    if let elements = status["pushing"]?["elements"]?.array {
      self.status = .elements(elements)
    } else if let error = status["receivedError"] {
      self.status = .failed(try? ErrorChain(wire: error))
    } else if status["finishStreaming"] != nil {
      self.status = .finished
    } else {
      return nil
    }
  }

  public var body: XPCValue {
    let status: XPCValue =
      switch status {
      case .elements(let elements): ["pushing": ["elements": .array(elements)]]
      case .finished: ["finishStreaming": [:]]
      case .failed(let chain): ["receivedError": chain?.wire ?? [:]]
      }
    var entries: [String: XPCValue] = [Self.statusKey: status]
    if let channel { entries[Self.channelKey] = .uuid(channel) }
    return .dictionary(entries)
  }

  private static let statusKey = "CoreDevice.XPCMessageKey.sideChannelStatus"
  private static let channelKey = "XPCSideChannel.uniqueIdentifier"
}
