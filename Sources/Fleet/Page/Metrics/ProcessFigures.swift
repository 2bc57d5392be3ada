import Glibc
import Wire

/// What this process costs, under the names that Prometheus' own clients use.
struct ProcessFigures: Sendable {
  var cpuSeconds: Double?
  var residentBytes: Double?
  var descriptors: Double?
  var threads: Double?

  /// As the kernel tells it now; what it does not tell is left out.
  static func now() -> ProcessFigures {
    var figures = ProcessFigures()
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      figures.cpuSeconds =
        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
    let pages = words("/proc/self/statm").dropFirst().first.flatMap(Double.init)
    figures.residentBytes = pages.map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
    figures.descriptors = entries("/proc/self/fd").map { Double($0) }
    figures.threads = entries("/proc/self/task").map { Double($0) }
    return figures
  }

  func add(to text: inout PrometheusText) {
    text.family("process_cpu_seconds_total", .counter, "User and system time of this process.", cpuSeconds)
    text.family("process_resident_memory_bytes", .gauge, "Memory that this process keeps in RAM.", residentBytes)
    text.family("process_open_fds", .gauge, "Descriptors that this process has open.", descriptors)
    text.family("process_threads", .gauge, "Threads of this process.", threads)
  }

  private static func words(_ path: String) -> [String] {
    let bytes = try? Files.host.read(path, 4_096)
    return bytes.map { String(decoding: $0, as: UTF8.self).split(separator: " ").map(String.init) } ?? []
  }

  private static func entries(_ path: String) -> Int? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
      if withUnsafeBytes(of: &entry.pointee.d_name, { $0.first != UInt8(ascii: ".") }) { count += 1 }
    }
    return count
  }
}
