// Pages that stay up to date while something happens, and say when nothing can.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

// said returns the page's number of turns of the conversation that was used last.
const said = async (page) => Number((await page.locator("#recent tbody tr").first().textContent()).match(/(\d+) turn/)[1]);

async function until(what, ok) {
  for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((go) => setTimeout(go, 200))) {
    if (await ok()) return;
  }
  throw new Error(`${what} in vain`);
}

export const checks = {
  async "two tabs stay up to date"(s) {
    await s.exchange();
    const first = await s.owner("/-/");
    const second = await first.context().newPage();
    await second.goto(`${s.base}/-/`);
    const before = await said(first);
    for (let i = 0; i < 3; i++) await s.exchange();
    for (const tab of [first, second]) await until("a tab was waited for", async () => (await said(tab)) === before + 3);
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
      await page.goto(`${s.own}/-/`);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.waitForTimeout(1500);
      const status = page.getByRole("status");
      await end(program);
      await status.getByText("epitome does not answer").waitFor();
      await s.accessible(page);
      program = await start();
      await until("the page was waited for", async () => (await status.textContent()) === "");
    } finally {
      program.kill("SIGKILL");
    }
  },
};
