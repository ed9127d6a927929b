"use strict";
// What the pages do beyond what the server has made: they stay up to date, say the numbers of a chart, and take keys.
(() => {
  const said = document.getElementById("said");
  let spoken = 0;

  // clock writes a time of day as all times of the pages are written.
  const clock = (time) => new Date(time).toTimeString().slice(0, 8);
  let gone = 0; // since when epitome does not answer; 0: it does

  // say tells a reader of the screen one thing, at most every five seconds. While epitome does not answer, that stays.
  function say(words) {
    if (gone || Date.now() - spoken < 5000) return;
    spoken = Date.now();
    said.textContent = words;
  }

  // tellGone says since when epitome does not answer; 0: it answers again.
  function tellGone(since) {
    if (gone === since) return;
    gone = since;
    said.classList.toggle("gone", since > 0);
    said.textContent = since ? "epitome does not answer since " + clock(since) + "." : "epitome answers again since " + clock(Date.now()) + ".";
    spoken = Date.now();
  }

  // refresh fetches the page as it is now, and puts its live parts in the place of the old ones.
  function refresh() {
    const ask = new XMLHttpRequest();
    ask.open("GET", location.pathname + location.search);
    ask.responseType = "document";
    ask.onload = () => {
      if (ask.status !== 200 || !ask.response) return;
      let changed = false;
      document.querySelectorAll("[data-live]").forEach((old) => {
        const fresh = ask.response.getElementById(old.id);
        if (!fresh || fresh.textContent === old.textContent || old.contains(document.activeElement)) return;
        const at = old.scrollLeft;
        const taken = document.importNode(fresh, true);
        const open = Array.from(old.querySelectorAll("details"), (d) => d.open);
        taken.querySelectorAll("details").forEach((d, i) => { d.open = !!open[i]; });
        old.replaceWith(taken);
        taken.scrollLeft = at;
        changed = true;
      });
      if (changed) say("The figures were brought up to date at " + clock(Date.now()) + ".");
    };
    ask.send();
  }

  // watch listens for events while somebody looks, and refreshes at most every three seconds. A browser has six
  // connections to a host, for all its tabs: of several one listens, and tells the others, also that epitome has ended.
  // It goes on trying, after two seconds at first and every thirty at last.
  function watch() {
    if (!document.querySelector("[data-live]") || !window.EventSource) return;
    const soon = 2000, late = 30000;
    let source = null, stop = null, waiting = 0, last = 0, lost = 0, again = 0, pause = soon;
    const seen = () => document.visibilityState === "visible";
    const later = () => {
      if (waiting) return;
      waiting = setTimeout(() => { waiting = 0; last = Date.now(); refresh(); }, Math.max(300, 3000 - (Date.now() - last)));
    };
    const others = window.BroadcastChannel ? new BroadcastChannel("epitome") : null;
    if (others) others.onmessage = (e) => { tellGone(e.data); if (seen() && !e.data) later(); };
    const tell = () => { tellGone(0); later(); if (others) others.postMessage(0); };
    const loaded = Date.now();
    const quit = () => {
      if (source) source.close();
      clearTimeout(again);
      source = null;
    };
    const listen = () => {
      quit();
      source = new EventSource("/-/events");
      // What happened while nobody listened is told to nobody: all look again, but for a page that has just been loaded.
      source.addEventListener("open", () => {
        lost = 0;
        pause = soon;
        if (Date.now() - loaded > 1000) tell();
      });
      source.addEventListener("error", () => {
        quit();
        lost = lost || Date.now();
        const since = lost, ask = new XMLHttpRequest(); // a refusal is an answer, too
        ask.open("GET", "/-/health");
        ask.onerror = () => {
          if (!stop || since !== lost) return;
          tellGone(since);
          if (others) others.postMessage(since);
        };
        ask.send();
        again = setTimeout(() => { if (stop) listen(); }, pause);
        pause = Math.min(late, 2 * pause);
      });
      ["message", "exchange", "compaction", "summary", "warning", "reset", "gap"].forEach((name) => source.addEventListener(name, tell));
    };
    // begin listens, or waits until the tab that does so is closed or hidden.
    const begin = () => {
      if (!navigator.locks) { // the address is neither of this machine nor https
        listen();
        return () => {};
      }
      const turn = new AbortController();
      let leave = null;
      const left = new Promise((resolve) => { leave = resolve; });
      navigator.locks.request("epitome-events", { signal: turn.signal }, () => {
        if (turn.signal.aborted) return null;
        listen();
        return left;
      }).catch(() => {});
      return () => { turn.abort(); leave(); };
    };
    const look = () => {
      if (seen() && !stop) {
        stop = begin();
        if (last) later();
      } else if (!seen() && stop) {
        stop();
        stop = null;
        quit();
        last = last || 1;
      }
    };
    document.addEventListener("visibilitychange", look);
    addEventListener("pagehide", quit);
    look();
  }

  // The chart says the numbers of the turn that is pointed at, or that arrow keys have chosen.
  const out = document.querySelector("[data-readout]");
  let at = -1;
  function show(i) {
    const columns = document.querySelectorAll("[data-chart] .column");
    if (!out || !columns.length) return;
    at = Math.max(0, Math.min(columns.length - 1, i));
    columns.forEach((c, k) => c.classList.toggle("at", k === at));
    out.hidden = false;
    out.textContent = columns[at].textContent;
  }
  document.addEventListener("pointerover", (e) => {
    const column = e.target instanceof Element && e.target.closest("[data-chart] .column");
    if (column) show(Array.from(document.querySelectorAll("[data-chart] .column")).indexOf(column));
  });
  document.addEventListener("keydown", (e) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    const inside = e.target instanceof Element && e.target.matches("[data-chart]");
    if (!by || !inside || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    show(at < 0 && by < 0 ? Infinity : at + by);
    say(out.textContent);
  });

  // lines wraps lines without asking the server, and goes from hit to hit.
  const table = document.querySelector("table.lines");
  function lines() {
    const wrap = document.querySelector("[data-wrap]");
    if (!wrap || !table) return;
    wrap.addEventListener("click", (e) => {
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      wrap.textContent = table.classList.toggle("wrap") ? "Do not wrap lines" : "Wrap lines";
    });
  }
  let hit = -1;
  function go(by) {
    const marks = Array.from(document.querySelectorAll("table.lines mark"));
    if (!marks.length) return;
    if (marks[hit]) marks[hit].classList.remove("at");
    hit = (hit + by + marks.length) % marks.length;
    marks[hit].classList.add("at");
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    marks[hit].scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  }

  // Keys: "/" goes to the search, "[" and "]" to the page before and after, "n" and "N" from hit to hit.
  document.addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLElement && e.target.closest("input,textarea,select");
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    const to = { "[": "a[rel=prev]", "]": "a[rel=next]" }[e.key];
    const link = to && document.querySelector(to);
    const field = e.key === "/" && document.querySelector("input[type=search]");
    if (link) link.click();
    else if (field) { e.preventDefault(); field.focus(); }
    else if (e.key === "n") go(1);
    else if (e.key === "N") go(-1);
  });

  // A button that forgets takes its row away.
  document.querySelectorAll("[data-forget]").forEach((b) => {
    b.hidden = false;
    b.onclick = () => {
      const ask = new XMLHttpRequest();
      ask.open("POST", "/-/api/memory/forget");
      ask.setRequestHeader("Content-Type", "application/json");
      ask.onload = () => {
        if (ask.status === 200) b.closest("tr").remove();
        say(ask.status === 200 ? "Forgotten." : "It could not be forgotten.");
      };
      ask.send(JSON.stringify({ owner: JSON.parse(decodeURIComponent(b.dataset.owner)), id: b.dataset.forget }));
    };
  });

  watch();
  lines();
})();
