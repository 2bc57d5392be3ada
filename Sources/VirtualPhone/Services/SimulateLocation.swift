import Transport
import Wire

/// com.apple.dt.simulatelocation: the place that apps are told, until it is taken back. Nothing is answered.
///
/// - Source: libimobiledevice's idevicesetlocation: big-endian 0, then latitude and longitude as text, each behind its
///   length; big-endian 1 takes the place back.
struct SimulateLocation: DeviceService {
  let names = ["com.apple.dt.simulatelocation"]
  let needs = ServiceNeeds(developerImage: true, goneSince: 17)

  private static let textLimit = 64
  private static let patience = Duration.seconds(30)

  func serve(_ connection: ServiceConnection) {
    while let command = number(connection, by: .never) {
      switch command {
      case 0:
        guard let latitude = degrees(connection, within: 90), let longitude = degrees(connection, within: 180) else {
          return
        }
        let place = Place(latitude: latitude, longitude: longitude)
        connection.phone.app.model.with { $0.camera.place = place }
        connection.phone.record(
          "location-simulated", ["latitude": .number(latitude), "longitude": .number(longitude)])
      case 1:
        connection.phone.app.model.with { $0.camera.place = .example }
        connection.phone.record("location-reset")
      default: return
      }
    }
  }

  private func number(_ connection: ServiceConnection, by deadline: Deadline) -> UInt32? {
    guard let bytes = try? connection.stream.read(exactly: 4, by: deadline) else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func degrees(_ connection: ServiceConnection, within bound: Double) -> Double? {
    guard let size = number(connection, by: .after(Self.patience)), size > 0, size <= Self.textLimit,
      let bytes = try? connection.stream.read(exactly: Int(size), by: .after(Self.patience)),
      let value = Double(String(decoding: bytes, as: UTF8.self).filter { $0 != "\0" }), abs(value) <= bound
    else { return nil }
    return value
  }
}
