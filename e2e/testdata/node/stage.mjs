// A browser, and what is watched while it is used: whatever a page does that none may do is wrong in every check.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export class Stage {
  constructor(browser, facts) {
    Object.assign(this, facts); // base, program, data, and what a check needs besides
    this.browser = browser;
    this.contexts = [];
    this.wrong = [];
    this.notes = []; // what is worth telling of a check that has passed
  }

  // visitor is a page of a new browser. expected are messages of its console that are not wrong here.
  async visitor({ expected = [], ...options } = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US", ...options });
    context.setDefaultTimeout(120_000); // of a busy machine
    this.contexts.push(context);
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (e) =>
        console.error(`policy: ${e.violatedDirective} stops ${e.blockedURI} ${e.sample}`));
    });
    context.on("request", (r) => {
      if (![this.base, this.own].includes(new URL(r.url()).origin)) this.wrong.push(`a foreign request: ${r.url().slice(0, 200)}`);
    });
    context.on("page", (page) => {
      page.on("dialog", (d) => {
        this.wrong.push(`a dialog: ${d.message()}`);
        d.dismiss();
      });
      page.on("pageerror", (e) => this.wrong.push(`a script has failed: ${e}`));
      page.on("console", (m) => {
        if (["error", "warning"].includes(m.type()) && !expected.some((e) => e.test(m.text()))) {
          this.wrong.push(`${page.url()} says: ${m.text().slice(0, 300)}`);
        }
      });
    });
    return context.newPage();
  }

  // end closes what is open, and returns what was wrong.
  async end() {
    await Promise.all(this.contexts.splice(0).map((c) => c.close()));
    return this.wrong.splice(0);
  }

  // link is a new link to log in.
  link() {
    return execFileSync(this.program, ["--data", this.data, "open", "--print"], { encoding: "utf8" }).trim();
  }

  // owner is a visitor who is let in, at path: the first one by a link, others have its session.
  async owner(path = "/-/", options = {}) {
    const page = await this.visitor({ storageState: this.session, ...options });
    const link = this.session ? this.base + path : this.link().replace("/-/login#", `/-/login?next=${encodeURIComponent(path)}#`);
    await page.goto(link);
    await page.waitForURL(this.base + path);
    this.session ??= await page.context().storageState();
    return page;
  }

  // looked shows a path in every look, and calls see with the page and the look's name. Each width is loaded; colours, of
  // which no script knows, change on what is loaded.
  async looked(pages, path, see) {
    for (const page of Object.values(pages)) await page.goto(this.base + path);
    for (const [look, { viewport, ...colours }] of Object.entries(this.looks)) {
      const page = viewport ? pages.narrow : pages.wide;
      await page.emulateMedia({ colorScheme: "light", forcedColors: "none", ...colours });
      await see(page, look);
    }
  }

  // widths are a page for each width of the looks.
  async widths(options) {
    return { wide: await this.visitor(options), narrow: await this.visitor({ ...options, viewport: this.looks.narrow.viewport }) };
  }

  // api is what a path answers to the owner, as JSON.
  async api(path) {
    this.reader ??= await this.asOwner();
    const answer = await fetch(this.base + path, { headers: { Cookie: this.reader } });
    if (!answer.ok) throw new Error(`${path} is answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  // exchange has a client send a request, and waits for its answer.
  async exchange() {
    const answer = await fetch(`${this.base}/v1/chat/completions`, {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model: "gpt-5.2", messages: [{ role: "user", content: "Is somebody there?" }] }),
    });
    await answer.text();
  }

  // asOwner is a cookie of a login.
  async asOwner() {
    const answer = await fetch(`${this.base}/-/login`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ secret: this.link().split("#")[1] }),
    });
    return answer.headers.get("Set-Cookie").split(";")[0];
  }

  // want makes a finding of whatever is not so.
  want(ok, what) {
    if (!ok) this.wrong.push(what);
  }

  // accessible lets axe look at the page.
  async accessible(page) {
    await page.evaluate(`${axe}; undefined`);
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    for (const v of found.violations) {
      this.wrong.push(`axe, ${page.url()}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
    }
  }

  // fits wants a page that is no wider than the window.
  async fits(page) {
    const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    this.want(scroll <= inner, `${page.url()} is ${scroll} wide in a window of ${inner}`);
  }
}
