// The numbers of a page, and those of the answers that it is made of.

// answersOf is all that the API says of what a page shows.
export async function answersOf(s, path) {
  const [, kind, id, , item] = path.match(/^\/-\/(?:(conversations|exchanges)(?:\/([^/?]+)(?:\/(edits)\/(\d+))?)?)?/) ?? [];
  if (kind === "exchanges") {
    const exchange = await s.api(`/-/api/exchanges/${id}`);
    const talk = exchange.conversation ? await s.api(`/-/api/conversations/${exchange.conversation}`) : {};
    const edits = exchange.decision ? await s.api(`/-/api/exchanges/${id}/edits`) : { edits: [] };
    const compared = 2000; // lines, a number of the page's own
    return [exchange, edits, placesOf(edits), item ? compared : { earlier: talk.exchanges?.map((e) => e.seq) }];
  }
  if (kind === "conversations" && id) {
    const talk = await s.api(`/-/api/conversations/${id}`);
    const last = talk.exchanges.at(-1);
    const edits = last.decision ? await s.api(`/-/api/exchanges/${last.seq}/edits`) : { edits: [] };
    return [talk, edits, placesOf(edits)];
  }
  if (kind === "conversations") return [await s.api("/-/api/conversations")];
  if (path === "/-/troubles") return [await s.api("/-/api/troubles")];
  const by = ["day", "hour", "model", "upstream", "conversation"];
  return [...(await Promise.all(by.map((b) => s.api(`/-/api/summary?by=${b}`)))), await s.api("/-/api/conversations"),
    await s.api("/-/api/troubles")];
}

// placesOf are where edits stand, as people count, and how many there are.
const placesOf = ({ edits }) => [edits.length, edits.filter((e) => e.new).length, ...edits.map((e) => [e.item + 1, e.last + 1])];

// numbersIn is every number of the answers, as pages write them.
export function numbersIn(answers) {
  const known = new Set();
  const walk = (v) => {
    if (typeof v === "number") known.add(String(v));
    else if (v && typeof v === "object") Object.values(v).forEach(walk);
  };
  walk(answers);
  return known;
}

// holds reports whether an object in the answers gives value by the words of data-made.
function holds(answers, made, value) {
  const sum = (v) => (v && typeof v === "object" ? Object.values(v).reduce((a, b) => a + b, 0) : v);
  const of = (o, name) => name.trim().replace(/^(sum of|largest) /, "").split(".").reduce((v, key) => v?.[key], o);
  const parts = made.split(/\s*([-/])\s*/);
  const worth = (o) => {
    const [a, b] = [sum(of(o, parts[0])), parts[2] === undefined ? undefined : sum(of(o, parts[2]))];
    if (parts[1] === "-") return a - b;
    if (parts[1] === "/") return Math.round((a / b) * 1e4) / 1e4;
    return a;
  };
  const walk = (v) => v && typeof v === "object" && (Math.abs(worth(v) - value) < 1e-4 || Object.values(v).some(walk));
  return walk(answers);
}

// shownNumbers are the numbers of a page: what stands in an element <data>, and any other digits in its text, but for
// times, names, and words that come with a number of their own.
export async function shownNumbers(page, answers) {
  const found = await page.evaluate(() => {
    const around = (e) => (e.closest("tr, p, div, li") ?? e).textContent.trim().replace(/\s+/g, " ").slice(0, 120);
    const all = [...document.querySelectorAll("main data")].map((e) => ({
      value: e.value, made: e.dataset.made ?? "", shown: e.textContent, around: around(e),
    }));
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest("data, time, bdi, code, pre, svg, title, h1, details, .choice, .quote, form, small")) continue;
      for (const [digits] of node.data.matchAll(/\d[\d,.]*\d|\d/g)) {
        all.push({ value: digits.replaceAll(",", ""), made: "", shown: digits, around: around(node.parentElement), plain: true });
      }
    }
    return all;
  });
  for (const n of found) n.true = n.made !== "" && holds(answers, n.made, Number(n.value));
  return found;
}
