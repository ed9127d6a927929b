// How long pages take that have much to show, as a ratio to an empty one: no time stands on its own.

// draw is how long a page takes until it is drawn, in milliseconds.
async function draw(page, url) {
  const begun = performance.now();
  await page.goto(url);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  return performance.now() - begun;
}

const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1];

export const checks = {
  async "ten thousand exchanges are drawn in four times an empty page"(s) {
    const page = await s.owner("/-/");
    const list = (await s.api("/-/api/conversations")).items;
    const paths = ["/-/", "/-/conversations", `/-/conversations/${list[0].id}`];
    // what a browser shows at once and from its own cache: a text of some lines
    const empty = s.base + (await page.locator("link[rel=stylesheet]").getAttribute("href"));
    const visitor = await s.visitor({ storageState: await page.context().storageState(), expected: [/status of 404/] }); // of its icon
    let ratios;
    for (let round = 0; round < 3; round++) { // what else the machine does falls on one of three
      const took = Object.fromEntries([empty, ...paths.map((p) => s.base + p)].map((url) => [url, []]));
      for (let i = 0; i < 5; i++) {
        for (const url of Object.keys(took)) took[url].push(await draw(visitor, url));
      }
      const least = median(took[empty]);
      ratios = paths.map((p) => [p, median(took[s.base + p]) / least]);
      s.notes.push(`empty ${least.toFixed(0)} ms; ${ratios.map(([p, r]) => `${p} ${r.toFixed(2)}`).join(", ")}`);
      if (ratios.every(([, r]) => r <= 4)) return;
    }
    s.wrong.push(`pages take too long: ${JSON.stringify(ratios)}`);
  },

  async "the first page is small"(s) {
    const page = await s.owner("/-/config");
    const sizes = [];
    page.on("response", async (r) => sizes.push([new URL(r.url()).pathname, r.body().then((b) => b.length, () => 0)]));
    await page.goto(`${s.base}/-/`, { waitUntil: "load" });
    let all = 0;
    for (const [path, size] of sizes) {
      if (path === "/-/events") continue; // it does not end
      const n = await size;
      all += n;
      s.want(!path.endsWith(".js") || n <= 30e3, `${path} has ${n} bytes`);
      s.want(!path.endsWith(".css") || n <= 15e3, `${path} has ${n} bytes`);
    }
    s.want(all > 5e3 && all <= 100e3, `the first page has ${all} bytes with all that it asks for`);
    s.notes.push(`${all} bytes`);
  },
};
