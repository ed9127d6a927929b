// Who is let in, and who is not.
const refused = [/status of 401/];

export const checks = {
  async "a code lets a browser in once"(s) {
    const link = s.link();
    const page = await s.visitor();
    await page.goto(link.replace("login#", "login?next=%2F-%2Fconfig#"));
    await page.waitForURL(`${s.base}/-/config`);
    s.want((await page.evaluate(() => history.length)) <= 2, "the page to log in stays in the history");
    const [cookie] = await page.context().cookies();
    s.want(cookie.httpOnly && cookie.sameSite === "Strict" && cookie.path === "/-/" && cookie.name === `epitome-${new URL(s.base).port}`,
      `the cookie is ${JSON.stringify(cookie)}`);
    const session = () => page.evaluate(async () => (await (await fetch("/-/session")).json()).owner);
    s.want(await session(), "who has logged in is not the owner");

    // once more in this browser it does no harm
    await page.goto(link.replace("login#", "login?next=%2F-%2Fconfig#"));
    await page.waitForURL(`${s.base}/-/config`);
    s.want(await session(), "the link, followed again, has ended the session");

    // in another one it opens nothing
    const stranger = await s.visitor({ expected: refused });
    await stranger.goto(link);
    await stranger.getByRole("status").getByText("wrong or used code").waitFor();
    s.want(!stranger.url().includes("#"), "a code that is no good stays in the address");
    s.want((await stranger.context().cookies()).length === 0, "a used code has opened a session");
  },

  async "a code can be typed"(s) {
    const page = await s.visitor({ expected: refused });
    await page.goto(`${s.base}/-/login?next=/-/config`);
    await page.keyboard.press("Tab");
    await page.keyboard.type("WRONG");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("wrong or used code").waitFor();
    await page.getByLabel("A code").fill(` ${s.link().split("#")[1]} `);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${s.base}/-/config`);
    await page.goto(`${s.base}/-/login?next=/-/conversations`); // who is in goes on at once
    await page.waitForURL(`${s.base}/-/conversations`);
  },

  async "the login leads to no other site"(s) {
    const page = await s.owner("/-/config");
    for (const next of ["https://evil.example/", "//evil.example/-/", "javascript:alert(1)", "/v1/models", "/-/../v1/models", "http://127.0.0.1:1/-/"]) {
      await page.goto(`${s.base}/-/login?next=${encodeURIComponent(next)}`);
      await page.waitForURL(`${s.base}/-/`);
    }
  },

  async "the page to log in is for everybody"(s) {
    await s.looked(await s.widths(), "/-/login", async (page, name) => {
      await page.getByRole("button").waitFor();
      await s.fits(page);
      if (name !== "forced") await s.accessible(page);
    });
  },

  async "a page of another origin gets nothing"(s) {
    const page = await s.owner("/-/config", { expected: [/./] });
    const cookies = await page.context().cookies();
    await s.end();
    s.base = s.other; // its own requests are none of a stranger's
    try {
      const context = await s.browser.newContext();
      s.contexts.push(context);
      await context.addCookies(cookies);
      const stranger = await context.newPage();
      await stranger.goto(`${s.other}/`);
      const got = await stranger.evaluate(async (base) => {
        const tried = [];
        const say = async (how, ask) => tried.push(`${how}: ${await ask().then((v) => v, () => "nothing")}`);
        const ask = (path, options) => () => fetch(base + path, { credentials: "include", ...options }).then((r) => r.text());
        await say("fetch", ask("/-/session"));
        await say("blind", () => fetch(`${base}/-/session`, { mode: "no-cors", credentials: "include" }).then((r) => r.text()));
        await say("post", ask("/-/login/code", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }));
        await say("blind post", () => fetch(`${base}/-/login/code`, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }).then((r) => r.text()));
        await say("stream", () => new Promise((resolve, reject) => {
          const source = new EventSource(`${base}/-/events`, { withCredentials: true });
          source.onmessage = source.onopen = () => resolve("a stream");
          source.onerror = () => reject(new Error("refused"));
        }));
        const frame = document.createElement("iframe");
        frame.src = `${base}/-/login`;
        const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
        document.body.append(frame);
        await loaded;
        await say("frame", async () => frame.contentDocument?.body.textContent ?? "nothing");
        return tried;
      }, s.own);
      s.want(got.every((g) => g.endsWith(": nothing") || g.endsWith(": ")), `a stranger got ${JSON.stringify(got)}`);
      s.want(stranger.frames().every((f) => !f.url().includes("/-/login")), `a frame shows ${stranger.frames().map((f) => f.url())}`);
      // the session was not ended from there
      s.base = s.own;
      const back = await context.newPage();
      await back.goto(`${s.own}/-/config`);
      s.want(!(await back.textContent("header")).includes("Log in"), "a stranger has ended the session");
    } finally {
      s.base = s.own;
    }
  },

  async "a link of another site shows a page, and then its owner"(s) {
    const page = await s.owner("/-/config");
    const abroad = s.other.replace("127.0.0.1", "localhost"); // another site, as the cookie has it
    s.base = abroad;
    await page.goto(`${abroad}/`);
    await page.evaluate((href) => {
      const link = document.createElement("a");
      link.href = href;
      link.textContent = "a dashboard's link";
      document.body.append(link);
    }, `${s.own}/-/conversations`);
    s.base = s.own;
    await page.getByRole("link").click();
    await page.waitForURL(`${s.own}/-/conversations`);
    s.want((await page.textContent("header")).includes("Log in"), "the cookie was sent with a request of another site");
    const login = page.getByRole("link", { name: "Log in" });
    await login.click();
    await login.waitFor({ state: "detached" });
    await page.waitForURL(`${s.own}/-/conversations`);
  },
};
