// Pages that stay up to date while something happens, and say when nothing can.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

  async "a page says that epitome has ended, and goes on when it is back"(s) {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = `127.0.0.1:${taken.address().port}`;
    taken.close();
    const data = mkdtempSync(join(tmpdir(), "epitome-ends-"));
    const start = async () => {
      const program = spawn(s.program, ["--listen", address, "--data", data, "--upstream", s.base], { stdio: "ignore" });
      await until("the start", () => fetch(`http://${address}/-/ready`).then((r) => r.ok, () => false));
      return program;
    };
    const end = async (program) => {
      program.kill("SIGINT");
      await once(program, "exit");
    };
    s.own = `http://${address}`;
    let program = await start();
    try {
      const page = await s.visitor({ expected: [/ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK|ABORTED)/] });
      const tries = [];
      await page.goto(`${s.own}/-/`);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.waitForTimeout(1500);
      const status = page.getByRole("status");
      await end(program);
      page.on("request", (r) => { if (r.url().endsWith("/-/events")) tries.push(Date.now()); });
      await status.getByText(/^epitome does not answer since \d\d:\d\d:\d\d\.$/).waitFor();
      await s.accessible(page);
      await until("three tries were waited for", () => tries.length >= 3);
      s.want(tries[2] - tries[1] > 1.5 * (tries[1] - tries[0]), `it tries at ${tries}, no slower than at first`);
      program = await start();
      await status.getByText("epitome answers again since").waitFor();
      s.want(!(await status.evaluate((e) => e.classList.contains("gone"))), "it looks as if epitome were gone");
    } finally {
      program.kill("SIGKILL");
    }
  },
};
