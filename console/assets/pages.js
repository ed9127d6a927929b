"use strict";
// Pages work without this script. It keeps their live parts up to date, follows the slider and the arrow keys of a
// conversation, and shows the beginning of what was taken out.
(() => {
  const status = document.getElementById("status");
  const slider = document.querySelector("input[type=range]");
  const originals = new Map(); // the beginnings of artifacts that were shown, by address

  // refresh fetches the page at an address and puts its live parts in the place of the old ones.
  function refresh(address) {
    const request = new XMLHttpRequest(); // it parses HTML, which the Content-Security-Policy forbids to scripts
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => {
      if (request.status !== 200 || !request.response) return;
      for (const old of document.querySelectorAll("[data-live]")) {
        const fresh = request.response.getElementById(old.id);
        if (!fresh || old.contains(document.activeElement)) continue;
        const open = Array.from(old.querySelectorAll("details"), (d) => d.open);
        fresh.querySelectorAll("details").forEach((d, i) => { d.open = Boolean(open[i]); });
        fresh.querySelectorAll("[data-from]").forEach((p) => { p.textContent = originals.get(p.dataset.from) ?? ""; });
        if (!fresh.isEqualNode(old)) old.replaceWith(document.importNode(fresh, true));
      }
    };
    request.send();
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
        status.textContent = "epitome does not answer. This page may be out of date.";
        if (current.readyState === EventSource.CLOSED) setTimeout(listen, 10000);
      };
      for (const name of ["exchange", "summary", "reset"]) current.addEventListener(name, later);
    };
    document.addEventListener("visibilitychange", () => { listen(); later(); });
    addEventListener("pagehide", () => { source?.close(); source = null; });
    listen();
  }

  // countdown counts the seconds down that the provider's cache still holds a conversation.
  function countdown() {
    for (const node of document.querySelectorAll("[data-left]")) {
      const whole = Number(node.dataset.left);
      node.ends ??= Date.now() + 1000 * whole;
      const left = Math.max(0, Math.min(whole, Math.ceil((node.ends - Date.now()) / 1000)));
      node.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
      if (left) continue;
      node.removeAttribute("data-left");
      refresh(location.href);
    }
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
    const from = event.target.querySelector("[data-from]")?.dataset.from;
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

  // Who drags over a chart sees the turns from one column to another, and all of them again after Escape.
  let dragged = null; // the column where it began
  document.addEventListener("pointerdown", (event) => { dragged = event.target.closest(".chart a"); });
  document.addEventListener("dragstart", (event) => { if (dragged) event.preventDefault(); });
  document.addEventListener("pointerup", (event) => {
    const end = document.elementFromPoint(event.clientX, event.clientY)?.closest(".chart a");
    if (!dragged || !end || end === dragged || end.parentNode !== dragged.parentNode) return;
    const address = new URL(end.getAttribute("href"), location.href);
    const turns = [dragged, end].flatMap((a) => [Number(a.dataset.first), Number(a.dataset.last)]);
    address.searchParams.set("from", Math.min(...turns));
    address.searchParams.set("to", Math.max(...turns));
    location.assign(address);
  });
  document.addEventListener("keydown", (event) => {
    const query = new URLSearchParams(location.search);
    if (event.key !== "Escape" || !query.has("from") && !query.has("to")) return;
    query.delete("from");
    query.delete("to");
    location.assign(location.pathname + "?" + query);
  });

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
    if (!said) status.textContent = "epitome does not answer.";
    else if (!answer.ok) status.textContent = said.error.message;
    else if (said.remains) status.textContent = "This conversation is forgotten. " + said.remains;
    else if (said.asked) {
      status.textContent = "The next request of this conversation will be compacted.";
      refresh(location.href);
    }
    else status.textContent = "The next request is sent whole, as far as the window allows.";
  });

  if (slider) slide(slider);
  if (document.querySelector("[data-live]")) watch();
  setInterval(countdown, 1000);
})();
