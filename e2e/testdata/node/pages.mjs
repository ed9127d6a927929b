// The pages of one session, held against what was truly sent.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { conversation, numbers, overview, sentence } from "./numbers.mjs";

// all returns the pages by a name, of the session's own conversation.
const all = (s, page) => (s.pages ??= findAll(s, page));

async function findAll(s, page) {
  const talk = (await s.api("/-/api/conversations")).items.find((c) => c.turns === s.turns);
  const conversation = `/-/conversations/${talk.id}`;
  return {
    overview: "/-/", conversations: "/-/conversations", conversation, first: `${conversation}?turn=1`,
    troubles: "/-/troubles", config: "/-/config", nothing: "/-/conversations/nosuch",
  };
}

// compare wants the numbers of a page where the API has them, and none elsewhere.
async function compare(s, page, path, places) {
  await page.goto(s.base + path);
  await s.fits(page);
  const { texts, rest } = await page.evaluate((selectors) => {
    const main = document.querySelector("main");
    const found = selectors.map((selector) => [...main.querySelectorAll(selector)]);
    const texts = found.map((all) => all.map((e) => e.textContent));
    found.flat().forEach((e) => e.remove());
    return { texts, rest: main.textContent };
  }, Object.keys(places));
  let count = 0;
  Object.entries(places).forEach(([selector, values], i) => {
    const shown = numbers(texts[i].join("\n")), told = numbers(values.filter(Boolean).join("\n"));
    const at = shown.findIndex((n, k) => n !== told[k]);
    s.want(shown.length === told.length && at < 0, `${path}, ${selector}: the page has ${shown.length} numbers, the API ${told.length}; ` +
      `first ${shown.slice(at, at + 5)} for ${told.slice(at, at + 5)}`);
    count += shown.length;
  });
  s.notes.push(`${path}: ${count} numbers`);
  s.want(numbers(rest).length === 0, `${path} has numbers that no API has: ${numbers(rest)}`);
}

const missing = [/status of 404/]; // the page for what is not there

// held wants each number of the pages where the API has it, and pages that are no wider than the window.
async function held(s, page) {
  const path = (await all(s, page)).conversation;
  const [report, story, { items: conversations }] = await Promise.all(
    ["/-/api/summary", path.replace("/-/", "/-/api/"), "/-/api/conversations"].map((api) => s.api(api)));
  const reports = await Promise.all(["day", "model", "agent"].map((by) => s.api(`/-/api/summary?by=${by}`)));
  await compare(s, page, "/-/", overview({ report, reports, story, conversations }));
  const footer = await page.locator("footer").textContent();
  s.want(footer === `epitome ${report.version}`, `the footer is ${footer}`);
  const steps = ["offloaded", "cleared", "compacted"].map((step) => story.exchanges.find((e) => e[step]));
  for (const { turn } of [...steps, story.exchanges[0], story.exchanges.at(-1)]) {
    const { edits } = await s.api(`${path.replace("/-/", "/-/api/")}/edits?turn=${turn}`);
    await page.goto(`${s.base + path}?turn=${turn}`);
    s.want((await page.locator(".hero").textContent()) === sentence(story), `turn ${turn}: it is summed up as ${await page.locator(".hero").textContent()}`);
    const links = await page.locator(".pair a").evaluateAll((all) => all.map((a) => a.getAttribute("href").split("/").pop()));
    const artifacts = edits.map((e) => e.artifact).filter(Boolean);
    s.want(`${links}` === `${artifacts}`, `turn ${turn} leads to ${links}, not to ${artifacts}`);
    await compare(s, page, `${path}?turn=${turn}`, conversation({ story, edits }, turn));
  }
}

export const checks = {
  async "from the overview to an artifact"(s) {
    const page = await s.owner("/-/");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Conversations" }).click();
    await page.waitForURL(`${s.base}/-/conversations`);
    const link = page.locator("tbody tr", { hasText: `${s.turns} turns` }).first().locator("th a");
    s.want((await link.textContent()).startsWith("Another task: make the build faster"), `it is called ${await link.textContent()}`);
    await link.click();
    const mark = page.locator('svg.chart a:has(text.compact)').first();
    const turn = new URL(await mark.getAttribute("href"), s.base).searchParams.get("turn");
    await mark.locator("text").click();
    await page.getByRole("heading", { name: `Turn ${turn}`, exact: true }).waitFor();
    s.want(/\d+ old messages compacted/.test(await page.locator("#at").textContent()), "the sign of compact leads to a turn without it");
    const edit = page.locator(".pair tr.changed", { has: page.getByRole("link", { name: "read" }) }).first();
    const href = await edit.getByRole("link", { name: "read" }).getAttribute("href");
    const text = await page.evaluate(async (href) => (await fetch(href)).text(), href);
    const file = readFileSync(join(s.data, "artifacts", `${href.split("/").pop().replace(/\.txt$/, "")}.txt`), "utf8");
    s.want(text === file, `the text at ${href} is not the file's`);
    await edit.getByText("the first lines").click();
    const shown = edit.locator("pre[data-from]");
    await shown.waitFor();
    const head = file.split("\n").slice(0, 40).join("\n").slice(0, 4000);
    s.want((await shown.textContent()).trim() === head.trim(), `the first lines of ${href} are shown otherwise`);
  },

  async "each number is the API's"(s) {
    await held(s, await s.owner("/-/"));
  },

  async "each number is the API's on a narrow screen"(s) {
    await held(s, await s.owner("/-/", { viewport: s.looks.narrow.viewport }));
  },

  async "what the model saw"(s) {
    const page = await s.owner("/-/");
    await page.goto(s.base + (await all(s, page)).conversation);
    const listed = new Set();
    for (const text of await page.locator(".pair tr.changed th > b").allTextContents()) {
      const [from, to = from] = text.match(/\d+/g).map(Number);
      for (let i = from; i <= to; i++) listed.add(i - 1); // pages count messages from 1
    }
    const lacking = s.unseen.filter((i) => !listed.has(i));
    s.want(s.unseen.length > 0 && lacking.length === 0, `the newest request lacks the messages ${lacking}, which are not listed (${[...listed]})`);
    const whole = [...listed].filter((i) => s.texts.includes(i) && !s.unseen.includes(i));
    s.want(whole.length === 0, `the messages ${whole} are listed, and were sent as they came`);
  },

  async "the slider shows another turn"(s) {
    const page = await s.owner("/-/");
    await page.goto(s.base + (await all(s, page)).conversation);
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    await page.getByRole("heading", { name: "Turn 1", exact: true }).waitFor();
    s.want(page.url().endsWith("?turn=1"), `the address is ${page.url()}`);
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "Turn 2", exact: true }).waitFor();
  },

  async "the arrow keys go from turn to turn"(s) {
    const page = await s.owner("/-/");
    const { conversation } = await all(s, page);
    await page.goto(`${s.base + conversation}?turn=5`);
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("heading", { name: "Turn 4", exact: true }).waitFor();
    s.want(page.url().endsWith("?turn=4"), `the address is ${page.url()}`);
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "Turn 5", exact: true }).waitFor();
    await page.locator(".chart a:not([tabindex])").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    s.want((await page.evaluate(() => getComputedStyle(document.activeElement.querySelector(".column")).stroke)) !== "none", "the bar shows no focus");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${s.base + conversation}?turn=7`);
  },

  async "a saving below zero is called extra cost"(s) {
    const dear = (await s.api("/-/api/conversations")).items.filter((c) => c.sums.money.saved_nano < 0);
    s.want(dear.length > 0, "no conversation cost more than it would have without epitome");
    const page = await s.owner("/-/");
    for (const c of dear) {
      await page.goto(`${s.base}/-/conversations/${c.id}`);
      const tiles = await page.locator("dl.tiles dt").allTextContents();
      s.want(tiles.some((t) => t.includes("Extra cost")), `the page of ${c.id} has the figures ${tiles}`);
    }
  },

  async "a list is sorted and filtered"(s) {
    const page = await s.owner("/-/conversations");
    const turns = async () => (await page.locator(".list tbody > tr:visible > td:nth-child(4)").allTextContents()).map((text) => parseInt(text, 10));
    const head = page.getByRole("columnheader", { name: "Turns" });
    for (const [order, sign] of [["descending", -1], ["ascending", 1]]) {
      await head.getByRole("button").click();
      const found = await turns();
      s.want(found.length > 1 && `${found}` === `${found.toSorted((a, b) => sign * (a - b))}`, `${order}: ${found}`);
      s.want((await head.getAttribute("aria-sort")) === order, `aria-sort is ${await head.getAttribute("aria-sort")}`);
    }
    await page.getByRole("searchbox").fill("make the BUILD");
    s.want(`${await turns()}` === `${s.turns}`, `the filter shows ${await turns()}`);
    await s.accessible(page);
    await page.goto(s.base + (await all(s, page)).conversation);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    s.want(height <= 4000, `a conversation is ${height} high, more than five screens`);
  },

  async "every page in every look"(s) {
    const page = await s.owner("/-/", { expected: missing });
    const pages = await all(s, page);
    const widths = await s.widths({ storageState: await page.context().storageState(), expected: missing });
    for (const [name, path] of Object.entries(pages)) {
      await s.looked(widths, path, async (seen, look) => {
        s.want(await seen.getByRole("heading", { level: 1 }).isVisible(), `${name} has no heading`);
        await s.fits(seen);
        if (look === "light" || look === "dark" && name === "conversation") await s.accessible(seen);
      });
    }
  },

  async "by keyboard alone"(s) {
    const page = await s.owner("/-/");
    const { conversation } = await all(s, page);
    await page.goto(`${s.base}/-/`);
    await page.keyboard.press("Tab");
    s.want((await page.evaluate(() => document.activeElement.className)) === "skip", "the first key does not lead to the skip link");
    await page.keyboard.press("Enter");
    s.want((await page.evaluate(() => document.activeElement.id)) === "main", "the skip link does not lead to the content");
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((h) => document.activeElement.getAttribute("href") === h, conversation)) break;
    }
    s.want((await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)) !== "none", "the link shows no focus");
    await page.keyboard.press("Enter");
    await page.waitForURL(s.base + conversation);
  },

  async "without a script"(s) {
    const page = await s.owner("/-/", { expected: missing });
    const pages = await all(s, page);
    const plain = await s.visitor({ javaScriptEnabled: false, storageState: await page.context().storageState(), expected: missing });
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(s.base + path);
      await plain.goto(s.base + path);
      const texts = await Promise.all([page, plain].map((p) => p.locator("main").textContent()));
      const [has, lacks] = texts.map((text) => text.replace(/\b\d:\d\d; after/, "")); // seconds that pass
      s.want(has === lacks, `${name} shows something else without a script`);
    }
  },

  async "nothing of a body without a login"(s) {
    const pages = await all(s, await s.owner("/-/"));
    const page = await s.visitor({ expected: [/status of/] });
    const clean = (what, text) => {
      const leak = s.secrets.find((secret) => text.includes(secret));
      s.want(!leak, `${what} tells ${leak}`);
    };
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(s.base + path);
      clean(name, await page.content());
    }
    const talk = pages.conversation.replace("/-/", "/-/api/");
    const open = ["/-/api/conversations", "/-/api/troubles", talk, "/-/status", "/-/metrics", "/-/session",
      ...["day", "model", "upstream"].map((by) => `/-/api/summary?by=${by}`)];
    for (const path of [...open, `${talk}/edits`]) {
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
