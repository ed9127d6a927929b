"use strict";
// Lets a browser in, by the code behind the # or by what is typed, and goes on to the page that was asked for.
const form = document.getElementById("login");
const said = document.getElementById("said");

// The page to go on to: one of epitome's own, whatever the address says.
function next() {
  try {
    const url = new URL(new URLSearchParams(location.search).get("next") || "/-/", location.origin);
    if (url.origin === location.origin && url.pathname.startsWith("/-/") && url.pathname !== "/-/login") {
      return url.pathname + url.search;
    }
  } catch {
    // not an address
  }
  return "/-/";
}

async function login(secret) {
  said.textContent = "";
  try {
    const answer = await fetch("/-/login", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ secret }),
    });
    if (answer.ok) {
      location.replace(next());
      return;
    }
    said.textContent = (await answer.json()).error.message;
  } catch {
    said.textContent = "epitome does not answer. Is it still running?";
  }
}

async function start() {
  const code = location.hash.slice(1);
  if (code) {
    await login(code);
    history.replaceState(null, "", location.pathname + location.search);
    return;
  }
  const answer = await fetch("/-/session").catch(() => null);
  if (answer && answer.ok && (await answer.json()).owner) {
    location.replace(next());
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  login(form.elements.secret.value);
});
addEventListener("hashchange", start); // a link that is opened where this page stands already
start();
