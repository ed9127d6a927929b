"use strict";
// Pages work without this script. It keeps their live parts up to date, and follows the slider of a conversation.
(() => {
  const status = document.getElementById("status");

  // refresh fetches the page at an address and puts its live parts in the place of the old ones.
  function refresh(address) {
    const request = new XMLHttpRequest(); // it parses HTML, which the Content-Security-Policy forbids to scripts
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => {
      if (request.status !== 200 || !request.response) return;
      for (const old of document.querySelectorAll("[data-live]")) {
        const fresh = request.response.getElementById(old.id);
        if (!fresh || fresh.isEqualNode(old) || old.contains(document.activeElement)) continue;
        const open = Array.from(old.querySelectorAll("details"), (d) => d.open);
        const node = document.importNode(fresh, true);
        node.querySelectorAll("details").forEach((d, i) => { d.open = Boolean(open[i]); });
        old.replaceWith(node);
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
        const address = location.pathname + "?turn=" + slider.value;
        history.replaceState(null, "", address);
        refresh(address);
      }, 100);
    });
  }

  // A button with the path of an action does it, and says how that went.
  document.addEventListener("click", async (event) => {
    const path = event.target.dataset.post;
    const question = event.target.dataset.confirm;
    if (!path || question && !confirm(question)) return;
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(path, { method: "POST", headers }).catch(() => null);
    const said = answer && await answer.json();
    if (!said) status.textContent = "epitome does not answer.";
    else if (!answer.ok) status.textContent = said.error.message;
    else if (said.remains) status.textContent = "This conversation is forgotten. " + said.remains;
    else status.textContent = "The next request is sent whole, as far as the window allows.";
  });

  const slider = document.querySelector("input[type=range]");
  if (slider) slide(slider);
  if (document.querySelector("[data-live]")) watch();
  setInterval(countdown, 1000);
})();
