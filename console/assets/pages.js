"use strict";
// Pages work without this script. It keeps their live parts up to date, sorts and filters tables, follows the slider and
// the arrow keys of a conversation, and shows the beginning of what was taken out.
(() => {
  const status = document.getElementById("status");
  const slider = document.querySelector("input[type=range]");
  const originals = new Map(); // the beginnings of artifacts that were shown, by address
  const orders = new Map(); // by which column a table is sorted, by the name of the table

  // refresh fetches the page at an address and puts its live parts in the place of the old ones.
  function refresh(address) {
    const request = new XMLHttpRequest(); // it parses HTML, which the Content-Security-Policy forbids to scripts
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => {
      if (request.status !== 200 || !request.response) return;
      for (const old of document.querySelectorAll("[data-live]")) {
        const fresh = request.response.getElementById(old.id);
        const head = Array.from(old.querySelectorAll("thead button")).indexOf(document.activeElement);
        if (!fresh || old.contains(document.activeElement) && head < 0) continue;
        arrange(fresh);
        const open = new Map(Array.from(old.querySelectorAll("details"), (d) => [nameOf(d), d.open]));
        fresh.querySelectorAll("details").forEach((d) => { d.open = open.get(nameOf(d)) ?? d.open; });
        fresh.querySelectorAll("[data-from]").forEach((p) => { p.textContent = originals.get(p.dataset.from) ?? ""; });
        if (fresh.isEqualNode(old)) continue;
        const shown = document.importNode(fresh, true);
        old.replaceWith(shown);
        shown.querySelectorAll("thead button")[head]?.focus({ preventScroll: true });
      }
    };
    request.send();
  }

  // nameOf returns a text by which a section that opens is found in the page as it is later.
  function nameOf(details) {
    const row = details.closest("tr, [data-live]");
    return (row.querySelector("a")?.getAttribute("href") ?? "") + Array.from(row.querySelectorAll("details")).indexOf(details);
  }

  // arrange sorts the tables of a part of a page by the columns that were chosen, whose heads are buttons, and hides the
  // rows that a filter excludes.
  function arrange(part) {
    for (const table of part.querySelectorAll("table[data-sort]")) {
      const order = orders.get(table.dataset.sort);
      Array.from(table.tHead.rows[0].cells).forEach((th, column) => {
        if (!th.querySelector("button")) {
          const button = document.createElement("button");
          button.type = "button";
          button.append(...th.childNodes);
          th.append(button);
        }
        th.removeAttribute("aria-sort");
        if (order?.column === column) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      });
      if (!order) continue;
      const rows = Array.from(table.tBodies[0].rows, (row) => [...keyOf(row.cells[order.column]), row]);
      rows.sort(([n, text], [m, other]) => (isNaN(n) - isNaN(m) || n - m || text.localeCompare(other)) * (order.down ? -1 : 1));
      table.tBodies[0].append(...rows.map((row) => row[2]));
    }
    for (const input of document.querySelectorAll("[data-filter]")) {
      const wanted = input.value.trim().toLowerCase();
      for (const row of part.querySelectorAll(`${input.dataset.filter} > tbody > tr`)) {
        const text = row.textContent + (row.querySelector("a")?.getAttribute("href") ?? "");
        row.hidden = !text.toLowerCase().includes(wanted);
      }
    }
  }

  // keyOf returns by what a cell is sorted: its number as a page writes one, and its text.
  function keyOf(cell) {
    const text = cell.dataset.key ?? cell.textContent.trim();
    const isNumber = cell.tagName === "TD" && text.match(/^(?:≥ )?(−?)\$?([\d,]+\.?\d*)\s?([kMG]?)(?![\w-])/);
    if (!isNumber) return [NaN, text];
    const [, minus, digits, unit] = isNumber;
    const amount = Number(digits.replaceAll(",", "")) * { k: 1e3, M: 1e6, G: 1e9, "": 1 }[unit];
    return [minus ? -amount : amount, text];
  }

  // watch refreshes the page when events come, at most every two seconds. It listens only while the page is seen: a
  // browser has six connections to a host, for all its tabs.
  function watch() {
    let source = null, timer = 0;
    const later = () => {
      timer ||= setTimeout(() => { timer = 0; refresh(location.href); }, 2000);
    };
    const listen = () => {
      source?.close();
      source = null;
      if (document.visibilityState !== "visible") return;
      const current = source = new EventSource("/-/events");
      let lost = false;
      current.onopen = () => {
        if (status.textContent || lost) later();
        status.textContent = "";
        lost = false;
      };
      current.onerror = () => {
        if (current !== source) return;
        lost = true;
        status.className = "";
        status.textContent = "epitome does not answer. This page may be out of date.";
        if (current.readyState === EventSource.CLOSED) setTimeout(listen, 10000);
      };
      for (const name of ["exchange", "summary", "reset"]) {
        current.addEventListener(name, () => {
          if (status.className) status.textContent = status.className = ""; // what was asked for may be done
          later();
        });
      }
    };
    document.addEventListener("visibilitychange", () => { listen(); later(); });
    addEventListener("pagehide", () => { source?.close(); source = null; });
    listen();
  }

  // slide shows the turn that the slider is moved to.
  function slide(slider) {
    let timer = 0;
    slider.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const query = new URLSearchParams(location.search);
        query.set("turn", slider.value);
        const address = location.pathname + "?" + query;
        history.replaceState(null, "", address);
        refresh(address);
      }, 100);
    });
  }

  // A text that is taken out is fetched when it is first opened. What is invisible is replaced, as it is by epitome.
  document.addEventListener("toggle", async (event) => {
    const from = event.target.querySelector(":scope > [data-from]")?.dataset.from;
    if (!from || !event.target.open || originals.has(from)) return;
    const answer = await fetch(from).catch(() => null);
    const text = answer?.ok ? (await answer.text()).slice(0, 4000) : "It is not kept any more.";
    originals.set(from, text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "\ufffd"));
    for (const pre of document.querySelectorAll("[data-from]")) pre.textContent = originals.get(pre.dataset.from) ?? "";
  }, true);

  // The arrow keys go from one turn to the next: from bar to bar within a chart, else with the slider.
  document.addEventListener("keydown", (event) => {
    const forward = { ArrowLeft: false, ArrowRight: true }[event.key];
    if (forward === undefined || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const bars = Array.from(event.target.closest(".chart")?.querySelectorAll("a") ?? []);
    const at = bars.indexOf(event.target);
    if (at >= 0) {
      bars[forward ? at + 1 : at - 1]?.focus();
    } else if (slider && !event.target.closest("input, .wide, pre")) {
      slider.focus({ preventScroll: true });
      slider.stepUp(forward ? 1 : -1);
      slider.dispatchEvent(new Event("input"));
    } else {
      return;
    }
    event.preventDefault();
  });

  // Who clicks on the head of a column sorts by it, numbers from the largest down at first.
  document.addEventListener("click", (event) => {
    const th = event.target.closest("table[data-sort] thead th");
    if (!th) return;
    const table = th.closest("table");
    const first = table.tBodies[0].rows[0]?.cells[th.cellIndex];
    const was = th.getAttribute("aria-sort");
    const down = was ? was === "ascending" : Boolean(first) && !isNaN(keyOf(first)[0]);
    orders.set(table.dataset.sort, { column: th.cellIndex, down });
    arrange(table.parentNode);
  });
  document.addEventListener("input", (event) => { if (event.target.matches("[data-filter]")) arrange(document); });

  // A button with the path of an action does it, with the fields of its form, and says how that went.
  document.addEventListener("click", async (event) => {
    const path = event.target.dataset.post;
    const question = event.target.dataset.confirm;
    if (!path) return;
    const form = event.target.form;
    if (form) event.preventDefault();
    if (question && !confirm(question)) return;
    const headers = { "Content-Type": "application/json" };
    const query = form ? "?" + new URLSearchParams(new FormData(form)) : "";
    const answer = await fetch(path + query, { method: "POST", headers }).catch(() => null);
    const said = answer && await answer.json();
    status.classList.toggle("done", Boolean(answer?.ok));
    if (!said) status.textContent = "epitome does not answer.";
    else if (!answer.ok) status.textContent = said.error.message;
    else if (said.remains) status.textContent = "This conversation is forgotten. " + said.remains;
    else if (said.asked) {
      status.textContent = "The next request of this conversation will be compacted.";
      refresh(location.href);
    }
    else status.textContent = "The next request is sent whole, as far as the window allows.";
  });

  for (const input of document.querySelectorAll("[data-filter]")) input.parentNode.hidden = false;
  arrange(document);
  if (slider) slide(slider);
  if (document.querySelector("[data-live]")) watch();
})();
