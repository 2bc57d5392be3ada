/// The hands' driver: a test runner on device port 8100 that answers `GET /status` while somebody uses the phone.
public final class HandsDriver: Sendable {
  static let port: UInt16 = 8100
  private let surroundings: AppSurroundings

  init(in surroundings: AppSurroundings) { self.surroundings = surroundings }

  public func start() {}
  public func stop() {}
}
