/// The page's looks: readable on a phone of 375 points' width, in the dark and in the light.
enum HTMLStyle {
  static let text = """

    :root{--back:#fff;--text:#1c1e21;--quiet:#5b6168;--line:#d5d9de;--card:#f6f7f9;--link:#0a58ca;
    --good:#1a7f37;--bad:#c62828;--odd:#8a5a00;--aside:#57606a}
    @media (prefers-color-scheme:dark){:root{--back:#14161a;--text:#e6e8eb;--quiet:#a3abb4;--line:#343a42;--card:#1d2026;
    --link:#7ab7ff;--good:#56d364;--bad:#ff7b72;--odd:#e3b341;--aside:#9aa4af}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--back);color:var(--text);
    font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
    h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
    h2{font-size:1.2rem;margin:2rem 0 .5rem}
    h3{font-size:1rem;margin:1rem 0 .25rem}
    a{color:var(--link)}
    a:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
    .quiet,dt{color:var(--quiet)}
    .notice,.message{border-left:4px solid var(--odd);padding:.25rem .75rem;background:var(--card)}
    .message{border-color:var(--line);margin:.5rem 0}
    .facts{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:.5rem 0}
    .facts div{display:flex;gap:.5rem;min-width:0}
    dt{flex:none}
    dd{margin:0;min-width:0}
    .bad li{margin:.5rem 0}
    .finding{font:.9rem/1.4 ui-monospace,monospace}
    .case{margin:.5rem 0;padding:.5rem .75rem;border:1px solid var(--line);border-left-width:5px;border-radius:4px}
    .case.passed{border-left-color:var(--good)}.case.failed,.case.error{border-left-color:var(--bad)}
    .case.flaky{border-left-color:var(--odd)}.case.skipped,.case.quarantined{border-left-color:var(--aside)}
    summary{cursor:pointer}
    .passed>summary .verdict{color:var(--good)}.failed>summary .verdict,.error>summary .verdict{color:var(--bad)}
    .flaky>summary .verdict{color:var(--odd)}
    .steps{padding-left:1.5rem;margin:.5rem 0}
    .steps li{margin:.35rem 0}
    .steps .not>code{color:var(--bad)}
    .exchanges{margin:.25rem 0;padding-left:1.25rem;font:.85rem/1.4 ui-monospace,monospace;color:var(--quiet)}
    code{font:.9rem ui-monospace,monospace}
    pre{white-space:pre-wrap;font:.8rem/1.4 ui-monospace,monospace;background:var(--card);padding:.5rem;margin:.5rem 0}
    .row{display:flex;align-items:center;gap:.75rem;margin:.3rem 0}
    .name{flex:0 0 8rem;min-width:0;font-size:.9rem}
    .track{position:relative;flex:1;height:1.5rem;background:var(--card);border-radius:3px;overflow:hidden}
    .bar{position:absolute;top:0;bottom:0;min-width:4px;background:var(--aside);border-right:1px solid var(--back)}
    .bar:focus-visible{outline-offset:-3px}
    .bar.passed{background:var(--good)}.bar.failed,.bar.error{background:var(--bad)}.bar.flaky{background:var(--odd)}
    @media (max-width:40rem){.row{display:block}.track{display:block}.name{display:block}}

    """
}
