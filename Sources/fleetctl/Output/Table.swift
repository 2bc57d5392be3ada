import Wire

/// Rows of cells in columns that line up on a terminal.
struct Table {
  private var rows: [[String]] = []

  /// - Parameter cells: shown as they are, except that what could steer the terminal is escaped; an empty one shows as `-`.
  mutating func add(_ cells: [String]) {
    rows.append(cells.map { $0.isEmpty ? "-" : $0.printable })
  }

  /// One line a row, without line ends; no blanks after the last cell.
  var lines: [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
    }
    return rows.map { row in
      row.enumerated().map { index, cell in
        index == row.count - 1
          ? cell : cell + String(repeating: " ", count: widths[index] - DisplayWidth.of(cell))
      }.joined(separator: "  ")
    }
  }
}
