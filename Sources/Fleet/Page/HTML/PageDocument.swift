import DeviceBridge
import Wire

/// The page as a whole. It needs nothing beside itself, and no script to be read.
struct PageDocument {
  var bodies: [BodyPresent]
  var host: HostPresent
  var round: RoundPresent?
  /// The latest, oldest first.
  var rows: [OutcomeReport]
  /// Why there are no rows, where the record can't be read.
  var rowsTrouble: String?
  /// Where the live page goes on.
  var mark: LiveMark
  var time: PageTime
  var version: String

  /// - Parameter nonce: lets this page's own script and style run, and no others.
  func html(nonce: String) -> String {
    let cards = bodies.map { BodyCard($0, time).html }.joined()
    let list = rows.reversed().map { RowLine($0).html }.joined()
    let trouble = rowsTrouble.map { "<p class=\"notice\">\(HTMLText.of($0.oneLine(limit: 1_000)))</p>\n" } ?? ""
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="icon" href="data:,">
      <noscript><meta http-equiv="refresh" content="30"></noscript>
      <title>\(HTMLText.of(Self.title(bodies, host)))</title>
      <style nonce="\(nonce)">\(PageStyle.text)</style>
      </head>
      <body data-mark="\(mark.text)" data-now="\(Self.milliseconds(time.now))">
      <header id="head">\(Self.head(bodies, host, round, time))</header>
      <main>
      <section aria-labelledby="bodies-title">
      <h2 id="bodies-title">Bodies</h2>
      <div id="bodies">
      \(cards)</div>
      \(bodies.isEmpty ? "<p class=\"quiet\" id=\"none\">No phone is attached, and fleet.yaml names none.</p>\n" : "")</section>
      <section aria-labelledby="rows-title">
      <h2 id="rows-title">Rows</h2>
      \(trouble)<ol id="rows" reversed>
      \(list)</ol>
      <p class="quiet">The latest \(LiveMark.rowsShown). All of them: <code>fleetctl outcomes</code></p>
      </section>
      </main>
      <footer class="quiet">fleetctl \(HTMLText.of(version)) <span id="live" role="status"></span></footer>
      <script nonce="\(nonce)">\(PageScript.text)</script>
      </body>
      </html>

      """
  }

  static func policy(nonce: String) -> String {
    "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; img-src data:; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  }

  static func title(_ bodies: [BodyPresent], _ host: HostPresent) -> String {
    let sick = bodies.count { !$0.isWellNow && $0.outOfService == nil }
    if host.words.kind != .up { return "Host: \(host.words.text) · fleetctl" }
    return sick == 0 ? "All well · fleetctl" : "\(sick) of \(bodies.count) not well · fleetctl"
  }

  /// What is to be known at one glance.
  static func head(_ bodies: [BodyPresent], _ host: HostPresent, _ round: RoundPresent?, _ time: PageTime) -> String {
    let well = bodies.count { $0.isWellNow }
    let out = bodies.count { $0.outOfService != nil }
    var html = "<h1>\(well) of \(bodies.count - out) well\(out > 0 ? ", \(out) out of service" : "")</h1>\n"
    if host.words.kind != .up {
      let detail = host.detail.map { " \(HTMLText.of($0.oneLine(limit: 600)))" } ?? ""
      let since = host.since.map { " Since \(HTMLText.of(PageTime.local($0)))." } ?? ""
      html +=
        "<p class=\"notice bad\"><b>The host: \(HTMLText.of(host.words.text)).</b> "
        + "\(HTMLText.of(host.words.phrase)).\(since)\(detail)</p>\n"
    }
    if host.unstored > 0 {
      html += "<p class=\"notice bad\">\(host.unstored) rows and notes wait for the record to take them.</p>\n"
    }
    let last = round.map { "Last round \(time.ago($0.at))." } ?? "No round has been completed yet."
    return html + "<p class=\"quiet\" id=\"round\">\(last)</p>\n"
  }

  private static func milliseconds(_ moment: Duration) -> Int64 { moment.inNanoseconds / 1_000_000 }
}
