import Transport

/// Why no fleet was started.
public enum VirtualFleetError: Error, Equatable, Sendable {
  case phones(Int)
  case version(String)
  case timeScale(Double)
  /// The mux's socket could not be opened.
  case socket(SocketAddress, StreamError)
  /// The control socket could not be opened.
  case control(path: String, StreamError)
  /// The signing server could not be opened.
  case signing(SocketAddress, StreamError)
  /// OpenSSL made no keys; its own words.
  case keys(String)

  /// For people: what happened, the likely cause, what to type next.
  public var sentence: String {
    switch self {
    case .phones(let count):
      "\(count) virtual phones cannot be started. One process holds 1 to 512. Try: fleetctl virtual --phones 4."
    case .version(let version):
      "There is no virtual phone with iOS \(version). Value sets exist for \(Self.versions). "
        + "Try: fleetctl virtual --ios \(PhonePreset.all.last?.ios ?? "")."
    case .timeScale(let scale):
      "The time scale \(scale) is out of range. It says how many times as fast the phones' clocks run, 0.01 to 10000. "
        + "Try: fleetctl virtual --time-scale 10."
    case .socket(let address, let error):
      "The virtual phones cannot listen on \(address): \(error.sentence). Something else may be using it. "
        + "Try another: fleetctl virtual \(Self.option(for: address))."
    case .control(let path, let error):
      "The virtual phones cannot be told what to do at \(path): \(error.sentence). Something else may be using it. "
        + "Try another: fleetctl virtual --control PATH."
    case .signing(let address, let error):
      "Nobody can sign developer images at \(address): \(error.sentence). The address may be another machine's. "
        + "Try again: fleetctl virtual --images FOLDER."
    case .keys(let text):
      "The virtual phones have no keys: \(text). OpenSSL may lack randomness or be damaged. "
        + "Try again: fleetctl virtual."
    }
  }

  private static func option(for address: SocketAddress) -> String {
    switch address {
    case .unix: "--socket PATH"
    case .tcp: "--listen 127.0.0.1:0"
    }
  }

  private static var versions: String { PhonePreset.all.map(\.ios).joined(separator: ", ") }
}
