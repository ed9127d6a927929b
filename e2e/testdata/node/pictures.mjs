// Screenshots of the pages at the end of a demo: light and dark, wide and narrow.
import { join } from "node:path";

export const checks = {
  async "every page is drawn"(s) {
    const owner = await s.owner("/-/");
    const { id } = (await s.api("/-/api/conversations")).items[0];
    const { exchanges } = await s.api(`/-/api/conversations/${id}`);
    const { turn } = exchanges.findLast((e) => e.compacted);
    const { edits } = await s.api(`/-/api/conversations/${id}/edits?turn=${turn}`);
    const pages = {
      overview: "/-/", conversation: `/-/conversations/${id}`, turn: `/-/conversations/${id}?turn=${turn}`,
      artifact: `/-/artifacts/${edits[0].readable ?? edits[0].artifact}`,
    };
    const storageState = await owner.context().storageState();
    for (const [name, path] of Object.entries(pages)) {
      for (const [width, height] of [[1280, 720], [400, 800]]) {
        for (const colorScheme of ["light", "dark"]) {
          const page = await s.visitor({ viewport: { width, height }, colorScheme, storageState, expected: [/favicon|status of/] });
          await page.goto(s.base + path);
          if (name !== "artifact") await s.fits(page);
          if (name === "turn") {
            await page.locator(".pair details summary").first().click();
            await page.locator(".pair .changed td summary").first().click();
            await page.locator("pre[data-from]:not(:empty)").first().waitFor();
          }
          const file = (kind) => join(s.folder, `${name}${kind}-${colorScheme}-${width}.png`);
          await page.screenshot({ path: file(""), fullPage: name !== "artifact" });
          if (name === "conversation") await page.screenshot({ path: file("-top") });
        }
      }
    }
  },
};
