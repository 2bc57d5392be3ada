import Wire

/// One row of the record on the page.
struct RowLine {
  let html: String

  init(_ row: OutcomeReport) {
    let who = row.udid.map { row.body ?? $0.description } ?? "host"
    let was = row.was.map { "\(HTMLText.of($0.text)) → " } ?? ""
    var more: [String] = []
    if let silent = row.silent { more.append("silent \(PageTime.span(silent))") }
    if row.launched { more.append("launched") }
    if let detail = row.detail { more.append(HTMLText.of(detail.oneLine())) }
    html =
      "<li value=\"\(row.seq ?? 0)\"><time datetime=\"\(HTMLText.of(WallClock.rfc3339(row.at)))\">"
      + "\(HTMLText.of(PageTime.local(row.at)))</time> <b>\(HTMLText.of(who.oneLine()))</b> "
      + "<span class=\"change\">\(was)<b>\(HTMLText.of(row.words.text))</b></span>"
      + (more.isEmpty ? "" : " <span class=\"quiet\">\(more.joined(separator: ", "))</span>") + "</li>\n"
  }
}
