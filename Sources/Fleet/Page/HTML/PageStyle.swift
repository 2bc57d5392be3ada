/// The page's looks: readable at 375 points' width, in the dark and in the light.
enum PageStyle {
  static let text = """

    :root{--back:#fff;--text:#1c1e21;--quiet:#5b6168;--line:#d5d9de;--card:#f6f7f9;--link:#0a58ca;
    --good:#1a7f37;--bad:#c62828;--odd:#8a5a00;--aside:#57606a}
    @media (prefers-color-scheme:dark){:root{--back:#14161a;--text:#e6e8eb;--quiet:#a3abb4;--line:#343a42;--card:#1d2026;
    --link:#7ab7ff;--good:#56d364;--bad:#ff7b72;--odd:#e3b341;--aside:#9aa4af}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:90rem;padding:1rem;background:var(--back);color:var(--text);
    font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
    h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}
    h2{font-size:1.2rem;margin:1.5rem 0 .5rem}
    h3{font-size:1.1rem;margin:0 0 .25rem}
    p{margin:.25rem 0}
    .quiet,dt{color:var(--quiet)}
    .notice{border-left:4px solid var(--odd);padding:.5rem .75rem;background:var(--card);margin:.5rem 0}
    .notice.bad{border-color:var(--bad)}
    #bodies{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:.75rem;align-items:start}
    .card{min-width:0;padding:.75rem;background:var(--card);border:1px solid var(--line);border-left:5px solid var(--aside);
    border-radius:4px;order:3}
    .card.sick{border-left-color:var(--bad);order:1}.card.aside{border-left-color:var(--odd);order:2}
    .card.new{order:3}.card.well{border-left-color:var(--good);order:4}.card.out{order:5}
    .sick .outcome b{color:var(--bad)}.aside .outcome b{color:var(--odd)}.well .outcome b{color:var(--good)}
    .now{font-weight:600}
    .warning{color:var(--odd);font-weight:600}
    .detail{font:.85rem/1.4 ui-monospace,monospace;color:var(--quiet);max-height:8.4em;overflow:auto}
    dl{margin:.5rem 0 0;font-size:.9rem}
    dl div{display:flex;gap:.5rem}
    dt{flex:0 0 5.5rem}
    dd{margin:0;min-width:0}
    .exact{color:var(--quiet);white-space:nowrap}
    .identity{margin:.5rem 0 0;font-size:.8rem;color:var(--quiet)}
    .identity code{display:inline-block}
    code{font:.8rem ui-monospace,monospace}
    time{font-variant-numeric:tabular-nums}
    #rows{list-style:none;margin:0;padding:0}
    #rows li{padding:.4rem 0;border-top:1px solid var(--line)}
    #rows time{color:var(--quiet);margin-right:.5rem}
    @media (max-width:30rem){#rows time{display:block}}
    footer{margin-top:2rem;border-top:1px solid var(--line);padding-top:.5rem}
    .off{color:var(--bad)}

    """
}
