import Glibc

/// The functions that ours stand in front of.
enum Next {
  // RTLD_NEXT is a cast in C, which Swift does not import.
  fileprivate static var handle: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: -1) }

  /// - Returns: the library's own function of that name, for threads that are no lane's.
  static func function<F>(_ name: String, as type: F.Type) -> F? {
    dlsym(handle, name).map { unsafeBitCast($0, to: type) }
  }
}

/// Whether the dynamic linker gives ours to the libraries, as everything here rests on.
enum Interposition {
  private static let names = [
    "usbmuxd_get_device_list", "usbmuxd_device_list_free", "usbmuxd_get_device", "usbmuxd_connect",
    "usbmuxd_disconnect", "usbmuxd_read_buid", "usbmuxd_read_pair_record", "usbmuxd_save_pair_record",
    "usbmuxd_save_pair_record_with_device_id", "usbmuxd_delete_pair_record", "plist_from_bin", "plist_from_xml",
  ]

  /// False in an executable that does not export them: a library left to itself would pair by itself.
  static let isInForce = names.allSatisfy { name in
    let first = dlsym(nil, name)
    return first != nil && first != dlsym(Next.handle, name)
  }
}
