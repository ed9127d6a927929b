// Plays checks in one browser, and prints a line of JSON for each: its name, and what is wrong.
//   node drive.mjs CHROMIUM
// Each line of the input says what to play, and where everything is; its "module" exports the checks, in their order.
// A line behind those of a module says that it has ended.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { Stage } from "./stage.mjs";

const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: [
    // nothing beyond this machine, whatever a page or the browser asks for
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  ],
});
const say = (line) => console.log(JSON.stringify(line));

async function play(facts) {
  const { checks } = await import(`./${facts.module}`);
  const stage = new Stage(browser, facts);
  for (const [name, check] of Object.entries(checks)) {
    if (!name.match(facts.only)) continue;
    const begun = Date.now();
    let wrong = [];
    try {
      await check(stage);
    } catch (error) {
      wrong.push(String(error?.stack ?? error).split("\n").slice(0, 4).join("\n"));
    }
    wrong.push(...(await stage.end()));
    say({ name, wrong, notes: stage.notes.splice(0), ms: Date.now() - begun });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  await play(JSON.parse(line));
  say({ ended: true });
}
await browser.close();
