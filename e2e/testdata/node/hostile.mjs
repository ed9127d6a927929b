// Content that wants to be more than text: no page may run it, fetch for it, or be changed by it.

// crawl follows every link to a page of epitome's own, and looks at each.
async function crawl(s, page, start, look, most) {
  const seen = new Set();
  const next = [start];
  while (next.length && seen.size < most) {
    const path = next.shift();
    if (seen.has(path)) continue;
    seen.add(path);
    await page.goto(s.base + path);
    await look(path);
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((a) => new URL(a.getAttribute("href"), location.href)).map((u) => [u.origin, u.pathname + u.search]));
    for (const [origin, to] of links) {
      s.want(origin === s.base, `${path} has a link to ${origin}${to}`.slice(0, 300));
      if (origin === s.base && /^\/-\/(?!login|assets)/.test(to) && !/^\/-\/artifacts\/[^/]+$/.test(to)) next.push(to);
    }
    // of many links of a kind the first ones do
    next.sort((a, b) => rank(a, seen) - rank(b, seen));
  }
  return seen;
}

const kindOf = (path) => path.replace(/\?.*/, "").replace(/\/[^/]*\d[^/]*|\/[a-z2-7]{26}/g, "/*");
const rank = (path, seen) => [...seen].filter((p) => kindOf(p) === kindOf(path)).length;

export const checks = {
  async "no content becomes a part of a page"(s) {
    const page = await s.owner("/-/", { expected: [/status of 404/] });
    const look = async (path) => {
      const found = await page.evaluate(() => ({
        evil: document.querySelectorAll("[data-evil], iframe, frame, object, embed, base, img, audio, video, math, style, template").length,
        scripts: [...document.scripts].filter((e) => e.textContent || !new URL(e.src).pathname.startsWith("/-/assets/")).length,
        handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on") || a.name === "style")).length,
        forms: [...document.forms].filter((f) => new URL(f.action).origin !== location.origin).length,
        hidden: [...document.documentElement.textContent.matchAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g)].length,
        bytes: document.documentElement.outerHTML.length,
      }));
      const { bytes, ...none } = found;
      s.want(Object.values(none).every((n) => n === 0), `${path} has ${JSON.stringify(none)}`.slice(0, 500));
      s.want(bytes < 2e6, `${path} is of ${bytes} bytes`.slice(0, 300));
      await s.fits(page);
    };
    const seen = await crawl(s, page, "/-/", look, s.most);
    const kinds = new Set([...seen].map(kindOf));
    for (const kind of ["/-/", "/-/conversations", "/-/conversations/*", "/-/troubles", "/-/config"]) {
      s.want(kinds.has(kind), `no page ${kind} was seen among ${[...kinds]}`);
    }
    s.notes.push(`${seen.size} pages: ${[...kinds].join(" ")}`);
  },

  async "what is searched for is text too"(s) {
    const page = await s.owner("/-/", { expected: [/status of 4\d\d/] });
    const stranger = await s.visitor(); // the owner would be led away from the login
    for (const path of ["/-/conversations?filter=", "/-/conversations?cursor=", "/-/conversations/", "/-/login?next="]) {
      const seen = path.startsWith("/-/login") ? stranger : page;
      await seen.goto(s.base + path + encodeURIComponent(s.evil));
      await seen.getByRole("heading", { level: 1 }).waitFor();
      const evil = await seen.evaluate(() => document.querySelectorAll("[data-evil], iframe").length + [...document.scripts].filter((e) => !e.src).length);
      s.want(evil === 0, `${path} takes what is searched for for a part of the page`);
    }
    await page.goto(`${s.base}/-/login?next=${encodeURIComponent(s.evil)}`);
    await page.waitForURL(`${s.base}/-/`);
  },
};
