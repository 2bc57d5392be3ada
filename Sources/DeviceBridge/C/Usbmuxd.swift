import CUsbmuxd
import Glibc
import Wire

// libimobiledevice calls libusbmuxd by these names, and the dynamic linker gives it the executable's functions first.
// On a lane's thread they serve that lane; on any other they pass on to libusbmuxd. What the caller frees comes from malloc.
// They are public for the linker's sake only: what is not, a release build keeps to itself.

private typealias Device = usbmuxd_device_info_t

/// The lane's phone alone; the caller frees the list with the function below.
@_cdecl("usbmuxd_get_device_list")
public func muxDeviceList(_ list: UnsafeMutablePointer<UnsafeMutablePointer<usbmuxd_device_info_t>?>?) -> Int32 {
  guard let context = LaneContext.current else {
    typealias Function =
      @convention(c) (UnsafeMutablePointer<UnsafeMutablePointer<usbmuxd_device_info_t>?>?) -> Int32
    return Next.function("usbmuxd_get_device_list", as: Function.self)?(list) ?? -ENOSYS
  }
  // An entry with handle 0 ends the list.
  guard let list, let memory = calloc(2, MemoryLayout<Device>.stride) else { return -ENOMEM }
  let devices = memory.bindMemory(to: Device.self, capacity: 2)
  guard fill(devices, context) else {
    free(memory)
    return -ENODEV
  }
  list.pointee = devices
  return 1
}

/// Frees what the function above gave.
@_cdecl("usbmuxd_device_list_free")
public func muxDeviceListFree(_ list: UnsafeMutablePointer<UnsafeMutablePointer<usbmuxd_device_info_t>?>?) -> Int32 {
  free(list?.pointee)
  return 0
}

/// The lane's phone, whatever identifier is asked for.
@_cdecl("usbmuxd_get_device")
public func muxDevice(
  _ udid: UnsafePointer<CChar>?, _ device: UnsafeMutablePointer<usbmuxd_device_info_t>?,
  _ options: usbmux_lookup_options
) -> Int32 {
  guard let context = LaneContext.current else {
    typealias Function =
      @convention(c) (
        UnsafePointer<CChar>?, UnsafeMutablePointer<usbmuxd_device_info_t>?, usbmux_lookup_options
      ) -> Int32
    return Next.function("usbmuxd_get_device", as: Function.self)?(udid, device, options) ?? -ENOSYS
  }
  guard let device, fill(device, context) else { return -ENODEV }
  return 1
}

/// The lane's phone; connections to it find its number of the day by themselves.
private func fill(_ device: UnsafeMutablePointer<Device>, _ context: LaneContext) -> Bool {
  device.pointee = Device()
  device.pointee.handle = 1
  device.pointee.conn_type = CONNECTION_TYPE_USB
  withUnsafeMutableBytes(of: &device.pointee.udid) { field in
    // The last byte stays NUL.
    field.copyBytes(from: context.udid.description.utf8.prefix(field.count - 1))
  }
  return true
}

/// A blocking connection to the lane's phone, whatever handle is given; else a negative errno.
@_cdecl("usbmuxd_connect")
public func muxConnect(_ handle: UInt32, _ port: UInt16) -> Int32 {
  guard let context = LaneContext.current else {
    typealias Function = @convention(c) (UInt32, UInt16) -> Int32
    return Next.function("usbmuxd_connect", as: Function.self)?(handle, port) ?? -ENOSYS
  }
  return context.connect(port: port)
}

/// Closes a connection of the lane's.
@_cdecl("usbmuxd_disconnect")
public func muxDisconnect(_ fd: Int32) -> Int32 {
  guard let context = LaneContext.current else { return close(fd) }
  return context.disconnect(fd)
}

/// This host's name towards the lane's phone; the caller frees it.
@_cdecl("usbmuxd_read_buid")
public func muxReadBUID(_ buid: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
  guard let context = LaneContext.current else {
    typealias Function = @convention(c) (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32
    return Next.function("usbmuxd_read_buid", as: Function.self)?(buid) ?? -ENOSYS
  }
  guard let buid, let name = context.record?.buid ?? context.desk?.buid else { return -ENOENT }
  buid.pointee = strdup(name)
  return 0
}

/// The record that the lane read before the handshake; the caller frees it.
@_cdecl("usbmuxd_read_pair_record")
public func muxReadPairRecord(
  _ id: UnsafePointer<CChar>?, _ data: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ size: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  guard let context = LaneContext.current else {
    typealias Function =
      @convention(c) (
        UnsafePointer<CChar>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, UnsafeMutablePointer<UInt32>?
      ) -> Int32
    return Next.function("usbmuxd_read_pair_record", as: Function.self)?(id, data, size) ?? -ENOSYS
  }
  guard let data, let size, let record = context.record, let memory = malloc(record.bytes.count) else { return -ENOENT }
  record.bytes.withUnsafeBytes {
    memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
  }
  data.pointee = memory.assumingMemoryBound(to: CChar.self)
  size.pointee = UInt32(record.bytes.count)
  return 0
}

// MARK: - Records are never written by a look at a phone

/// Refused on a lane's thread; the library pairs with the function below.
@_cdecl("usbmuxd_save_pair_record")
public func muxSavePairRecord(_ id: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?, _ size: UInt32) -> Int32 {
  guard LaneContext.current == nil else { return -EPERM }
  typealias Function = @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt32) -> Int32
  return Next.function("usbmuxd_save_pair_record", as: Function.self)?(id, data, size) ?? -ENOSYS
}

/// Refused on a lane's thread, unless a person has asked to pair.
@_cdecl("usbmuxd_save_pair_record_with_device_id")
public func muxSavePairRecordOfDevice(
  _ id: UnsafePointer<CChar>?, _ device: UInt32, _ data: UnsafePointer<CChar>?, _ size: UInt32
) -> Int32 {
  if let context = LaneContext.current {
    guard let desk = context.desk, let data else { return -EPERM }
    let record = UnsafeRawBufferPointer(start: data, count: Int(size))
    return desk.save(Array(record)) ? 0 : -EPERM
  }
  typealias Function = @convention(c) (UnsafePointer<CChar>?, UInt32, UnsafePointer<CChar>?, UInt32) -> Int32
  return Next.function("usbmuxd_save_pair_record_with_device_id", as: Function.self)?(id, device, data, size) ?? -ENOSYS
}

/// Refused on a lane's thread, unless a person has asked to unpair.
@_cdecl("usbmuxd_delete_pair_record")
public func muxDeletePairRecord(_ id: UnsafePointer<CChar>?) -> Int32 {
  if let context = LaneContext.current { return context.desk?.delete() == true ? 0 : -EPERM }
  typealias Function = @convention(c) (UnsafePointer<CChar>?) -> Int32
  return Next.function("usbmuxd_delete_pair_record", as: Function.self)?(id) ?? -ENOSYS
}
