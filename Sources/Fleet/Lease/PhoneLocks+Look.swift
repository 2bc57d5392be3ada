import DeviceBridge
import Glibc
import Wire

extension PhoneLocks {
  /// Who holds a phone, without taking it; whoever tries to take it in this moment tries again.
  ///
  /// Takes a tenth of a second at most: somebody who takes it in this moment, or lets go of it, has no name there yet, or
  /// none any more.
  ///
  /// - Returns: nil where nobody does, or it can't be told.
  public func holder(of udid: UDID, on mux: MuxAddress) async -> Holder? {
    for _ in 1..<Self.patience {
      let holder = look(udid, on: mux)
      if holder == nil || holder?.pid != nil { return holder }
      guard await Self.rest(Self.moment) else { break }
    }
    return look(udid, on: mux)
  }

  private func look(_ udid: UDID, on mux: MuxAddress) -> Holder? {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let fd = Glibc.open("\(folder)/\(LockName.of(udid, on: mux))", flags)
    guard fd >= 0 else { return nil }
    defer { close(fd) }
    // A shared lock is refused only while somebody has the phone; it ends with the descriptor.
    guard flock(fd, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return nil }
    return Holder(line: Self.read(fd))
  }
}
