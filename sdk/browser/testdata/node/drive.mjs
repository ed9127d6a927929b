// Plays checks in a browser, and prints a line of JSON for each: its name, and what is wrong.
//   node drive.mjs STAGE.json CHECKS
// STAGE.json says where everything is; CHECKS is a module whose exports are the checks, in their order.
import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";
import { Stage } from "./stage.mjs";

const facts = JSON.parse(await readFile(process.argv[2], "utf8"));
const { checks } = await import(`./${process.argv[3]}`);
const browser = await chromium.launch({
  executablePath: facts.chromium,
  args: [
    // nothing beyond this machine, whatever a page or the browser asks for
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  ],
});
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
  console.log(JSON.stringify({ name, wrong, notes: stage.notes.splice(0), ms: Date.now() - begun }));
}
await browser.close();
