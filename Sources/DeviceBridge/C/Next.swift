import Glibc

/// The functions that ours stand in front of.
enum Next {
  /// - Returns: the library's own function of that name, for threads that are no lane's.
  static func function<F>(_ name: String, as type: F.Type) -> F? {
    // RTLD_NEXT is a cast in C, which Swift does not import.
    let next = UnsafeMutableRawPointer(bitPattern: -1)
    return dlsym(next, name).map { unsafeBitCast($0, to: type) }
  }
}
