// What the pages show of one session, held against what was truly sent, and against the API.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answersOf, numbersIn, shownNumbers } from "./numbers.mjs";

// all are the pages by a name, of the session's own conversation and newest exchange.
const all = (s) => (s.pages ??= findAll(s));

async function findAll(s) {
  const talk = (await s.api("/-/api/conversations")).items.find((c) => c.turns === s.turns);
  const told = await s.api(`/-/api/conversations/${talk.id}`);
  const last = told.exchanges.at(-1).seq;
  return {
    overview: "/-/", today: "/-/?span=today&by=conversation", conversations: "/-/conversations",
    conversation: `/-/conversations/${talk.id}`, exchange: `/-/exchanges/${last}`,
    first: `/-/exchanges/${told.exchanges[0].seq}`, config: "/-/config", troubles: "/-/troubles",
    nothing: "/-/conversations/nosuch",
  };
}

// withEdit are all pages, and those of an edit that has an artifact and of the artifact.
const withEdit = async (s, page) => ({ ...(await all(s)), ...(await (s.edit ??= findEdit(s, page, await all(s)))) });

async function findEdit(s, page, pages) {
  await page.goto(s.base + pages.exchange);
  const edit = await page.locator("#edits ~ div[aria-label=Edits] tbody tr", { hasText: "read" }).first().locator("th a").getAttribute("href");
  await page.goto(s.base + edit);
  const artifact = await page.getByRole("link", { name: "what stood there, by itself" }).getAttribute("href");
  return { edit, artifact };
}

const missing = [/status of 404/]; // the page for what is not there

export const checks = {
  async "from the overview to what was taken out"(s) {
    const page = await s.owner("/-/");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Conversations" }).click();
    await page.waitForURL(`${s.base}/-/conversations`);
    await page.locator("tbody tr", { hasText: String(s.turns) }).first().locator("th a").click();
    await page.getByRole("heading", { name: /^Conversation/ }).waitFor();
    const mark = page.locator('a:has(use[href="#K"])').first();
    const says = await mark.locator("title").first().textContent();
    await mark.locator("use").click();
    await page.getByRole("heading", { name: /^Exchange/ }).waitFor();
    const done = await page.locator("p", { hasText: "What was done:" }).textContent();
    s.want(/compact/i.test(done), `the mark K (${says}) leads to an exchange of which is said: ${done}`);
    await page.locator("#edits ~ div[aria-label=Edits] tbody tr", { hasText: "read" }).first().locator("th a").click();
    await page.waitForURL(/\/edits\/\d+$/);
    await page.getByRole("link", { name: "what stood there, by itself" }).click();
    await page.getByRole("heading", { name: /^Artifact/ }).waitFor();
    const name = (await page.locator("h1 bdi").textContent()).trim();
    const file = readFileSync(join(s.data, "artifacts", `${name}.txt`), "utf8");
    const raw = await page.evaluate(async (href) => (await fetch(href)).text(),
      await page.getByRole("link", { name: "As plain text" }).getAttribute("href"));
    s.want(raw === file, `the plain text of ${name} is not the file's`);
    let lines = [];
    for (;;) {
      lines = lines.concat(await page.locator("table.lines td").allTextContents());
      const later = page.locator("a[rel=next]");
      if (!(await later.count())) break;
      await later.click();
      await page.waitForLoadState();
    }
    s.want(lines.join("\n") === file.replace(/\n$/, ""), `the lines of ${name} on its page are not the file's`);
    s.notes.push(`${lines.length} lines of ${name}`);
  },

  async "what the model no longer sees"(s) {
    const pages = await all(s);
    const page = await s.owner(pages.conversation);
    const listed = new Set();
    for (const text of await page.locator("#unseen ~ div[aria-label=Edits] tbody th a").allTextContents()) {
      const [from, to = from] = text.match(/\d+/g).map(Number);
      for (let i = from; i <= to; i++) listed.add(i);
    }
    const told = (await page.locator("#unseen ~ p").allTextContents()).join(" ");
    const lacking = s.unseen.filter((i) => !listed.has(i));
    s.want(s.unseen.length > 0 && lacking.length === 0, `the newest request lacks the messages ${lacking}, which are not listed (${[...listed]}): ${told}`);
    const whole = [...listed].filter((i) => s.texts.includes(i) && !s.unseen.includes(i));
    s.want(whole.length === 0, `the messages ${whole} are listed, and were sent as they came`);
    s.notes.push(`${s.unseen.length} messages`);
  },

  async "a saving below zero is called extra cost"(s) {
    const page = await s.owner("/-/conversations");
    const dear = (await s.api("/-/api/conversations")).items.filter((c) => c.sums.money.saved_nano < 0);
    s.want(dear.length > 0, "no conversation cost more than it would have without epitome");
    for (const c of dear) {
      const row = await page.locator("tbody tr", { has: page.locator(`a[href$="${c.id}"]`) }).textContent();
      s.want(row.includes("extra cost $") && !row.includes("−$"), `the list says of it: ${row}`);
      const own = await s.owner(`/-/conversations/${c.id}`);
      s.want((await own.locator("dl.tiles dt").allTextContents()).includes("Extra cost"), "the page of it does not say so");
    }
  },

  async "each number is the API's"(s) {
    const page = await s.owner("/-/");
    const pages = await withEdit(s, page);
    delete pages.config; // what is in force has no API
    delete pages.nothing;
    delete pages.artifact; // has the text of somebody else
    let count = 0;
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(s.base + path);
      const answers = await answersOf(s, path);
      const known = numbersIn(answers);
      const shown = await shownNumbers(page, answers);
      count += shown.length;
      for (const n of shown.filter((n) => !n.true && !known.has(n.value))) {
        s.wrong.push(`${name} shows ${n.shown} (${n.value}${n.made ? `, made of ${n.made}` : ""}) in "${n.around}", which no answer of the API has`);
      }
    }
    s.want(count > 100, `only ${count} numbers were found`);
    s.notes.push(`${count} numbers`);
  },

  async "every page in every look"(s) {
    const page = await s.owner("/-/");
    const pages = await withEdit(s, page);
    const state = await page.context().storageState();
    const widths = await s.widths({ storageState: state, expected: missing });
    for (const [name, path] of Object.entries(pages)) {
      await s.looked(widths, path, async (seen, look) => {
        s.want(await seen.getByRole("heading", { level: 1 }).isVisible(), `${name} has no heading`);
        await s.fits(seen);
        if (look === "light" || look === "dark" && ["conversation", "exchange", "edit"].includes(name)) await s.accessible(seen);
      });
    }
  },

  async "by keyboard alone"(s) {
    const pages = await all(s);
    const page = await s.owner("/-/");
    await page.keyboard.press("Tab");
    s.want((await page.evaluate(() => document.activeElement.className)) === "skip", "the first key does not lead to the skip link");
    await page.keyboard.press("Enter");
    s.want((await page.evaluate(() => document.activeElement.id)) === "main", "the skip link does not lead to the content");
    const tabTo = async (what, href) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((h) => document.activeElement.getAttribute("href") === h, href)) {
          const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
          s.want(ring !== "none", `${what} shows no focus`);
          return page.keyboard.press("Enter");
        }
      }
      throw new Error(`no key leads to ${what}`);
    };
    await tabTo("the conversation", pages.conversation);
    await page.waitForURL(s.base + pages.conversation);
    await page.locator("[data-chart]").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    s.want(/\d/.test(await page.locator("[data-readout]").textContent()), "the chart says nothing to the arrow keys");
    await page.goto(`${s.base}/-/conversations`);
    await page.keyboard.press("/");
    await page.keyboard.type("nosuch");
    await page.keyboard.press("Enter");
    await page.waitForURL(/match=nosuch/);
    await page.goto(s.base + pages.exchange);
    await page.keyboard.press("[");
    await page.waitForURL((u) => u.pathname !== pages.exchange);
    await page.keyboard.press("]");
    await page.waitForURL(s.base + pages.exchange);
  },

  async "without a script"(s) {
    const page = await s.owner("/-/", { expected: missing });
    const pages = await withEdit(s, page);
    const plain = await s.visitor({ javaScriptEnabled: false, storageState: await page.context().storageState(), expected: missing });
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(s.base + path);
      await plain.goto(s.base + path);
      const [has, lacks] = await Promise.all([page, plain].map((p) => p.locator("main").textContent()));
      s.want(has === lacks, `${name} shows something else without a script`);
    }
  },

  async "nothing of a body without a login"(s) {
    const pages = await withEdit(s, await s.owner("/-/"));
    const page = await s.visitor({ expected: [/status of/] });
    const clean = (what, text) => {
      const leak = s.secrets.find((secret) => text.includes(secret));
      s.want(!leak, `${what} tells ${leak}`);
    };
    for (const [name, path] of Object.entries(pages)) {
      if (name === "artifact") continue; // its address has the name, which is the right to read it
      await page.goto(s.base + path);
      clean(name, await page.content());
    }
    const talk = pages.conversation.replace("/-/", "/-/api/"), last = pages.exchange.replace("/-/", "/-/api/");
    const open = ["/-/api/conversations", "/-/api/troubles", talk, last, "/-/status", "/-/metrics", "/-/totals", "/-/session", "/-/identity?nonce=1",
      ...["day", "hour", "model", "upstream", "conversation"].map((by) => `/-/api/summary?by=${by}`)];
    for (const path of [...open, `${talk}/edits`, `${last}/edits`]) {
      const answer = await fetch(s.base + path);
      clean(path, await answer.text());
      s.want(answer.ok === open.includes(path), `${path} is answered ${answer.status} without a login`);
    }
    const stop = new AbortController();
    const stream = await fetch(`${s.base}/-/events?since=0`, { signal: stop.signal });
    s.exchange();
    const text = new TextDecoder(), reader = stream.body.getReader();
    let told = "";
    while (!told.includes("event: exchange")) told += text.decode((await reader.read()).value, { stream: true });
    stop.abort();
    clean("/-/events", told);
  },
};
