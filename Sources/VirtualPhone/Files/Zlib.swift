import CZlib

/// Compression as PNG and zip use it.
enum Zlib {
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    UInt32(truncatingIfNeeded: bytes.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) })
  }

  /// Undoes a zip entry's compression: deflate without header.
  ///
  /// - Returns: nil for damaged bytes, and for more than `limit` bytes.
  static func inflated(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
    // zlib remembers where its own state's owner stands, so it must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    // Negative: no header of zlib's own.
    guard inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(stream) }
    var output = [UInt8](repeating: 0, count: limit + 1)
    var input = bytes
    let code = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        stream.pointee.next_in = source.baseAddress
        stream.pointee.avail_in = UInt32(source.count)
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = UInt32(target.count)
        return inflate(stream, Z_FINISH)
      }
    }
    let size = Int(stream.pointee.total_out)
    guard code == Z_STREAM_END, size <= limit else { return nil }
    return Array(output[..<size])
  }

  /// Compresses piece by piece, so that a large picture is never in memory as a whole.
  final class Deflater {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let isReady: Bool
    private(set) var output: [UInt8] = []

    init() {
      stream.initialize(to: z_stream())
      // The lowest level: screens are even areas, and it is quick.
      isReady = deflateInit_(stream, 1, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
      if isReady { deflateEnd(stream) }
      stream.deallocate()
    }

    func add(_ bytes: [UInt8]) { run(bytes, Z_NO_FLUSH) }

    /// - Returns: everything that was added, compressed, with zlib's header and checksum.
    func finish() -> [UInt8] {
      run([], Z_FINISH)
      return output
    }

    private func run(_ bytes: [UInt8], _ flush: Int32) {
      guard isReady else { return }
      var input = bytes
      var portion = [UInt8](repeating: 0, count: 16 << 10)
      input.withUnsafeMutableBufferPointer { source in
        stream.pointee.next_in = source.baseAddress
        stream.pointee.avail_in = UInt32(source.count)
        repeat {
          let left = portion.withUnsafeMutableBufferPointer { target -> UInt32 in
            stream.pointee.next_out = target.baseAddress
            stream.pointee.avail_out = UInt32(target.count)
            _ = deflate(stream, flush)
            return stream.pointee.avail_out
          }
          output += portion[..<(portion.count - Int(left))]
          if left > 0 { break }
        } while true
      }
    }
  }
}
