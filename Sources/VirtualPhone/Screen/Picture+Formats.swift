extension Picture {
  /// As PNG: eight bits each of red, green and blue, in sRGB.
  ///
  /// - Source: the PNG specification, third edition.
  var png: [UInt8] {
    let deflater = Zlib.Deflater()
    for stripe in stripes {
      // No filter: equal rows are what compresses best here.
      let line = [0] + stripe.row
      for _ in 0..<stripe.count { deflater.add(line) }
    }
    let header = Self.big(UInt32(width)) + Self.big(UInt32(height)) + [8, 2, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header) + Self.chunk("sRGB", [0])
      + Self.chunk("IDAT", deflater.finish()) + Self.chunk("IEND", [])
  }

  /// As TIFF, the way old phones send it: big-endian, one strip, not compressed.
  ///
  /// - Source: TIFF 6.0, baseline RGB.
  var tiff: [UInt8] {
    let size = width * height * 3
    // Behind the pixels: three numbers for the bits of each colour, then the directory.
    let (bits, directory) = (8 + size, 8 + size + 6)
    var bytes = Array("MM".utf8) + [0, 42] + Self.big(UInt32(directory))
    bytes.reserveCapacity(directory + 128)
    for stripe in stripes {
      for _ in 0..<stripe.count { bytes += stripe.row }
    }
    bytes += [0, 8, 0, 8, 0, 8]
    let entries: [(tag: UInt16, type: UInt16, count: Int, value: Int)] = [
      (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 8),
      (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, size),
    ]
    bytes += Self.big(UInt16(entries.count))
    for entry in entries {
      // A short value stands at the front of its four bytes.
      let isShort = entry.type == 3 && entry.count == 1
      bytes += Self.big(entry.tag) + Self.big(entry.type) + Self.big(UInt32(entry.count))
      bytes += isShort ? Self.big(UInt16(entry.value)) + [0, 0] : Self.big(UInt32(entry.value))
    }
    return bytes + [0, 0, 0, 0]
  }

  private static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + payload
    return big(UInt32(payload.count)) + body + big(Zlib.checksum(body))
  }

  private static func big(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
