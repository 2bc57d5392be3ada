import Glibc
import Transport

/// Names of hosts to addresses: a mux may live on another machine or outside a container.
enum HostName {
  /// - Returns: the addresses in the system's order; empty when the name is unknown or nobody tells in time.
  static func addresses(of host: String, port: UInt16, by deadline: Deadline) -> [SocketAddress] {
    if host == "localhost" || SocketAddress.isNumeric(host) { return [.tcp(host: host, port: port)] }
    let found = Guarded<[String]>([])
    // The resolver knows no deadline; a thread that outlasts ours ends with the resolver's own.
    let worker = Worker(name: "host-name") {
      let hosts = lookUp(host)
      found.with { $0 = hosts }
    }
    guard worker.join(by: deadline) else { return [] }
    return found.with { $0 }.map { .tcp(host: $0, port: port) }
  }

  private static func lookUp(_ host: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var hosts: [String] = []
    var entry = first
    while let current = entry {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let size = socklen_t(text.count)
      if getnameinfo(current.pointee.ai_addr, current.pointee.ai_addrlen, &text, size, nil, 0, NI_NUMERICHOST) == 0 {
        hosts.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
      }
      entry = current.pointee.ai_next
    }
    return hosts
  }
}
