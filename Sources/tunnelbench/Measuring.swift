import DeviceBridge
import Glibc
import Transport
import Wire

/// What a process that keeps its tunnels open sees, on the phones of one mux: one JSON object for each figure.
///
/// usage: tunnelbench MUX BUNDLE warm|bulk|all …
enum Measuring {
  private static let patience = Duration.seconds(60)
  /// A launch counts when its process has lived for a second, which every launch waits for.
  private static let watched = 1.0

  static func main(_ words: [String]) async {
    guard words.count >= 3, let address = MuxAddress(words[0]) else {
      return fail("usage: tunnelbench MUX BUNDLE warm|bulk|all …")
    }
    do {
      let phones = try await Mux(address: address).phones(by: .after(patience))
      for figure in words.dropFirst(2) {
        let lanes = phones.map { PhoneLane($0, mux: address) }
        defer { for lane in lanes { lane.close() } }
        guard let first = lanes.first else { return fail("no phone is there") }
        switch figure {
        case "warm": try await warm(first, words[1])
        case "bulk": try await bulk(first)
        case "all": try await all(lanes, words[1])
        default: return fail("no figure is called \(figure)")
        }
      }
    } catch {
      fail(error.sentence)
    }
  }

  // MARK: - Figures

  /// Launches over a tunnel that is open, without the second in which the app is watched.
  private static func warm(_ lane: PhoneLane, _ bundle: String) async throws(PhoneError) {
    let request = LaunchRequest(bundle: bundle)
    try await lane.launch(request, by: .after(patience))
    var milliseconds: [JSON] = []
    for _ in 0..<7 {
      let start = ContinuousClock.now
      try await lane.launch(request, by: .after(patience))
      milliseconds.append(.number((seconds(since: start) - watched) * 1000))
    }
    tell(["figure": "warm", "ms": .array(milliseconds)])
  }

  /// Bytes of the phone's port 9100, through the tunnel.
  private static func bulk(_ lane: PhoneLane) async throws(PhoneError) {
    let stream = try await lane.connectInTunnel(port: 9100, by: .after(patience))
    let start = ContinuousClock.now
    var bytes = 0
    while let part = try? stream.read(max: 1 << 16, by: .after(patience)), !part.isEmpty { bytes += part.count }
    stream.close()
    tell(["figure": "bulk", "bytes": .integer(Int64(bytes)), "seconds": .number(seconds(since: start))])
  }

  /// A launch on every phone at once; their tunnels stay open.
  private static func all(_ lanes: [PhoneLane], _ bundle: String) async throws(PhoneError) {
    let before = memoryKiB
    let start = ContinuousClock.now
    let failures = await withTaskGroup(of: PhoneError?.self) { group in
      for lane in lanes {
        group.addTask {
          do throws(PhoneError) {
            try await lane.launch(LaunchRequest(bundle: bundle), by: .after(patience))
            return nil
          } catch {
            return error
          }
        }
      }
      var failures: [PhoneError] = []
      for await failure in group { if let failure { failures.append(failure) } }
      return failures
    }
    let seconds = seconds(since: start)
    if let failure = failures.first { throw failure }
    tell([
      "figure": "all", "phones": .integer(Int64(lanes.count)), "seconds": .number(seconds),
      "kib_before": .integer(Int64(before)), "kib_after": .integer(Int64(memoryKiB)),
    ])
    // Whoever counts the open tunnels does so now.
    _ = readLine()
  }

  // MARK: - Telling

  private static func tell(_ figure: JSON) {
    print(figure.line)
    fflush(nil)
  }

  private static func fail(_ sentence: String) {
    let line = Array("tunnelbench: \(sentence)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(1)
  }

  private static func seconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .seconds(1)
  }

  /// Memory that the process has now.
  private static var memoryKiB: Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("VmRSS:") { return text.split(separator: " ").compactMap { Int($0) }.first ?? 0 }
    }
    return 0
  }
}
