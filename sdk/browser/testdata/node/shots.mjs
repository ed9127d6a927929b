// Pictures of the pages, of a session of the demo.
import { join } from "node:path";

export const checks = {
  async "pictures are taken"(s) {
    const first = await s.owner("/-/");
    const state = await first.context().storageState();
    const talk = (await s.api("/-/api/conversations")).items.toSorted((a, b) => b.turns - a.turns)[0];
    const told = await s.api(`/-/api/conversations/${talk.id}`);
    const compacting = told.exchanges.find((e) => e.compacted > 0);
    const paths = { overview: "/-/", conversation: `/-/conversations/${talk.id}`, exchange: `/-/exchanges/${compacting.seq}` };
    const seen = {}; // a page for each look
    for (const shot of s.shots) {
      const [name, look] = shot.replace(".png", "").split("-");
      const page = seen[look] ??= await s.visitor({ viewport: { width: 1240, height: 1000 }, ...s.looks[look], storageState: state, timezoneId: "UTC" });
      await page.goto(s.base + paths[name]);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.screenshot({ path: join(s.folder, shot) });
    }
  },
};
