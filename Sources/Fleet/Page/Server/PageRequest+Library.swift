import CMicroHTTPD
import Glibc
import Transport

extension PageRequest {
  /// What libmicrohttpd has read of a request.
  init?(_ connection: OpaquePointer, method: String, target: [UInt8]) {
    self.init(method: method, target: target)
    let fields = HeaderFields()
    MHD_get_connection_values_n(
      connection, .HEADER_KIND,
      { fields, _, name, nameCount, value, valueCount in
        guard let fields, let name else { return .NO }
        Unmanaged<HeaderFields>.fromOpaque(fields).takeUnretainedValue().add(
          UnsafeRawBufferPointer(start: name, count: nameCount),
          UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount))
        return .YES
      }, Unmanaged.passUnretained(fields).toOpaque())
    host = fields.only("host")
    authorization = fields.only("authorization")
    lastEventID = fields.only("last-event-id")
    local = SocketAddress.localHost(of: fleet_mhd_connection_fd(connection))
  }
}

/// The header fields that the page looks at.
private final class HeaderFields {
  private var fields: [(name: String, value: String)] = []

  func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let name = String(decoding: name, as: UTF8.self).lowercased()
    guard ["host", "authorization", "last-event-id"].contains(name) else { return }
    fields.append((name, String(decoding: value, as: UTF8.self)))
  }

  /// nil where it is not there, or there twice: which one would count is anybody's guess.
  func only(_ name: String) -> String? {
    let values = fields.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }
}

extension SocketAddress {
  /// The numeric address of this machine that a client has connected to; nil where the socket is no TCP socket.
  static func localHost(of fd: Int32) -> String? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fd, $0, &size) }
    }
    guard code == 0 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = Int32(storage.ss_family)
    // Where the address stands in each family's form.
    let offset: Int
    switch family {
    case AF_INET: offset = 4
    case AF_INET6: offset = 8
    default: return nil
    }
    let isWritten = withUnsafeBytes(of: &storage) {
      inet_ntop(family, $0.baseAddress.map { $0 + offset }, &text, socklen_t(text.count)) != nil
    }
    return isWritten ? String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }
}
