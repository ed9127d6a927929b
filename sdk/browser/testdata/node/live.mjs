// Pages that stay up to date while something happens.

// said is what the overview says of the number of exchanges.
const said = (page) => page.evaluate(() => {
  const tile = [...document.querySelectorAll("dl.tiles div")].find((d) => d.querySelector("dt").textContent === "Exchanges");
  return Number(tile?.querySelector("dd data").value ?? 0);
});

async function until(what, ok) {
  for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((go) => setTimeout(go, 200))) {
    if (await ok()) return;
  }
  throw new Error(`${what} in vain`);
}

export const checks = {
  async "eight tabs stay up to date"(s) {
    const first = await s.owner("/-/");
    const tabs = [first];
    for (let i = 1; i < 8; i++) {
      const tab = await first.context().newPage();
      await tab.goto(`${s.base}/-/`);
      tabs.push(tab);
    }
    const before = await said(first);
    for (let i = 0; i < 3; i++) await s.exchange();
    for (const [i, tab] of tabs.entries()) await until(`tab ${i + 1} was waited for`, async () => (await said(tab)) === before + 3);
    for (const tab of tabs.slice(0, 5)) await tab.close(); // whichever of them listened for the others
    await s.exchange();
    for (const tab of tabs.slice(5)) await until("a tab that stayed was waited for", async () => (await said(tab)) === before + 4);
  },
};
