/// What keeps an open page current: it takes the server's finished pieces, and counts times on.
enum PageScript {
  static let text = #"""

    (() => {
      "use strict";
      const page = document.body, live = document.getElementById("live"), rows = document.getElementById("rows");
      const bodies = document.getElementById("bodies");
      // This device's clock may be wrong; spans are counted from the server's.
      const ahead = Date.now() - Number(page.dataset.now);
      const two = number => String(number).padStart(2, "0");
      const span = milliseconds => {
        const s = Math.max(0, Math.floor(milliseconds / 1000));
        if (s >= 172800) return Math.floor(s / 86400) + " days";
        const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
        return h > 0 ? h + ":" + two(m) + ":" + two(s % 60) : m + ":" + two(s % 60);
      };
      const tick = () => {
        const now = Date.now() - ahead;
        for (const time of document.querySelectorAll("time[data-kind]")) {
          const at = Date.parse(time.dateTime), kind = time.dataset.kind;
          const text = kind === "in" ? (at > now ? "in " + span(at - now) : "now") : span(now - at) + (kind === "ago" ? " ago" : "");
          if (time.textContent !== text) time.textContent = text;
        }
      };
      setInterval(tick, 1000);
      const piece = html => { const box = document.createElement("template"); box.innerHTML = html; return box.content; };
      const told = event => JSON.parse(event.data);
      const source = new EventSource("events?" + page.dataset.mark);
      source.onopen = () => { live.textContent = "· live"; live.className = ""; };
      source.onerror = () => {
        live.textContent = "· not connected: what is shown may be old";
        live.className = "off";
        // A refusal, of one page too many for example, is not tried again by the browser itself.
        if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 30000);
      };
      source.addEventListener("head", event => {
        const head = told(event);
        document.title = head.title;
        document.getElementById("head").replaceChildren(piece(head.html));
        tick();
      });
      source.addEventListener("card", event => {
        const card = told(event), old = document.getElementById(card.id), none = document.getElementById("none");
        if (none) none.remove();
        if (old) old.replaceWith(piece(card.html)); else bodies.append(piece(card.html));
        tick();
      });
      source.addEventListener("answers", event => {
        for (const [id, at] of Object.entries(told(event))) {
          const time = document.querySelector("#" + CSS.escape(id) + " .answer time");
          if (time) time.dateTime = at;
        }
        tick();
      });
      source.addEventListener("bodies", event => {
        const ids = new Set(told(event));
        for (const card of [...bodies.children]) if (!ids.has(card.id)) card.remove();
      });
      source.addEventListener("anew", () => rows.replaceChildren());
      source.addEventListener("row", event => {
        const row = piece(told(event).html), seq = row.firstElementChild.value;
        // After a break in the line the same row may come again.
        if ([...rows.children].some(other => other.value === seq)) return;
        rows.prepend(row);
        while (rows.children.length > 50) rows.lastElementChild.remove();
      });
    })();

    """#
}
