// The numbers of a page, worked out from what the API answers, to compare with those that the page shows.

// numbers returns the numbers in a text, with their units.
export const numbers = (text) => text.match(/(?<![\p{L}\d])\$?\d+(?:[.,:/-]\d+)*[kMG]?(?:\s%)?/gu) ?? [];

// How pages write amounts. A half is rounded to the even number, as Go does.
const whole = (v) => String(v % 1 === 0.5 ? 2 * Math.round(v / 2) : Math.round(v));
export const tokens = (n) => {
  const unit = [1, 1e3, 1e6, 1e9].findIndex((size) => n / size < 999.5 || size === 1e9);
  return Number((n / 1000 ** unit).toPrecision(3)) + ["", "k", "M", "G"][unit];
};
const comma = (n) => n.toLocaleString("en-US");
export const dollars = (nano) => {
  const v = Math.abs(nano) / 1e9;
  if (v === 0 || v >= 0.9995) return `$${v.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${v.toFixed(v >= 0.01 ? 3 : 4)}`;
};
const percent = (part, of) => {
  const v = part / of;
  return `${v > 0 && v < 0.0995 ? (100 * v).toFixed(1) : whole(100 * v)} %`;
};
const clock = (time) => {
  const t = new Date(time);
  const two = (n) => String(n).padStart(2, "0");
  return `${t.getDate()} ${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
};
const took = (ns) => (ns >= 1e9 ? (ns / 1e9).toFixed(1) : (ns / 1e6).toFixed(1));
const bytes = (n) => {
  const unit = Math.max(0, Math.min(3, Math.floor(Math.log2(Math.max(n, 1)) / 10)));
  const v = Math.round((n / 1024 ** unit) * 10) / 10;
  return unit > 0 && v < 10 ? v.toFixed(1) : whole(v);
};

const total = (t = {}) => Object.values(t).reduce((sum, n) => sum + n, 0);
const small = (miss) => (miss === "small" ? "1,024" : "");
const lost = (of) => (of.rebilled ? tokens(of.rebilled) : "");
const done = (e) => [e.offloaded, e.cleared, e.compacted].filter(Boolean).join(" ");
const failed = (e) => (e.status >= 400 ? `${e.status} ` : "") + (e.error ?? "");
const isChanged = (e) => done(e) || e.rescue || e.action === "bypass";
const isLoss = (miss) => miss && !["first", "small", "unknown"].includes(miss);
const knowsCache = (u) => u?.source === "provider" && !u.odd && !u.cache_unknown;

// sumsOf returns the sums of one exchange, as the API has them of many.
function sumsOf({ usage: u = {}, bill = {}, ...e }) {
  const cache = knowsCache(u);
  return {
    exchanges: 1, failed: e.status >= 400 || e.fault ? 1 : 0, tokens_before: total(e.tokens_before), tokens_after: total(e.tokens_after),
    usage: { cache_input: cache ? u.input ?? 0 : 0, read: cache ? u.read ?? 0 : 0 },
    money: {
      beyond: bill.beyond ? 1 : 0, outgrown: bill.outgrew ? 1 : 0, beyond_billed_nano: bill.beyond ? bill.billed_nano ?? 0 : 0, ruled: bill.ruled ? 1 : 0, own_nano: 0, raw_nano: bill.raw_nano ?? 0, sent_nano: bill.sent_nano ?? 0,
      saved_nano: (bill.raw_nano ?? 0) - (bill.sent_nano ?? 0), measured: bill.measured ? 1 : 0, billed_nano: bill.billed_nano ?? 0,
      rebilled_nano: bill.rebilled_nano ?? 0,
    },
  };
}

// tiles returns what the tiles of some sums say.
function tiles({ money: m, usage: u, ...s }) {
  const all = [];
  if (s.tokens_before) all.push(tokens(s.tokens_before), tokens(s.tokens_after));
  if (m.beyond) all.push(comma(m.outgrown || m.beyond), comma(m.beyond));
  if (m.beyond_billed_nano) all.push(dollars(m.beyond_billed_nano));
  if (m.ruled) {
    const isWorse = m.beyond && m.saved_nano < 0;
    all.push(...(isWorse ? [dollars(m.raw_nano), dollars(m.sent_nano)] : [dollars(m.saved_nano)]));
    all.push(comma(m.ruled), dollars(m.raw_nano), dollars(m.sent_nano));
  }
  if (m.own_nano) all.push(dollars(m.own_nano));
  if (m.distill_nano) all.push(dollars(m.distill_nano));
  if (m.measured) all.push(dollars(m.billed_nano));
  if (m.measured && m.measured < s.exchanges) all.push(comma(m.measured), comma(s.exchanges));
  if (m.rebilled_nano) all.push(percent(m.rebilled_nano, m.billed_nano));
  if (u.cache_input) all.push(percent(u.read, u.cache_input), tokens(u.read));
  if (s.failed) all.push(comma(s.failed), comma(s.exchanges));
  return all;
}

// sentence returns the sentence that sums up a conversation.
export function sentence({ sums, ...c }) {
  const { money } = sums;
  const gain = money.beyond ? money.saved_nano : money.saved_nano - money.own_nano;
  const isKnown = money.beyond ? money.ruled && gain > 0 : money.ruled || money.own_nano;
  const fitting = money.beyond ? ` on ${money.ruled} request${money.ruled === 1 ? "" : "s"} that fit` : "";
  const saved = dollars(gain) + (gain < 0 ? " extra cost" : ` saved${fitting}`);
  return [`${c.turns} turns`, `${tokens(c.raw)} → ${tokens(c.tokens)} tokens`, c.beyond_from && `passed the window at turn ${c.beyond_from}`,
    isKnown && saved, sums.read_again && `read again ${sums.read_again} times`].filter(Boolean).join(", ") + ".";
}

// size returns what else stands above the chart.
const size = (c) => [c.raw > c.window ? (c.raw / c.window).toFixed(1) : percent(c.tokens, c.window),
  ...(c.clock ? [clock(c.clock.until), tokens(c.clock.tokens), dollars(c.clock.cost_nano)] : [])];

// lines returns what the legend of a chart says of the lines of the ladder.
const lines = (exchanges) => {
  const { clear_line, compact_line } = exchanges.findLast((e) => e.window) ?? {};
  return compact_line ? [tokens(clear_line), tokens(compact_line)] : [];
};

// again returns what is said of what was read again in a conversation.
const again = ({ compactions, read_again: n, read_again_tokens }) => [compactions && comma(compactions), ...(n ? [comma(n), comma(read_again_tokens)] : [])];

// runs returns the edits of a turn in runs of one kind.
function runs(edits) {
  const found = [];
  const kind = (e) => JSON.stringify([e.rung, e.reason, e.new]);
  for (const e of edits) {
    const run = found.at(-1);
    if (run && kind(run[0]) === kind(e)) run.push(e);
    else found.push([e]);
  }
  return found;
}

// runText returns what stands in the row of a run, and then in each of its own.
function runText(run) {
  const first = (text) => shorten(text.slice(0, 4096).replace(/^[\n ]+/, "").split("\n")[0], 160);
  const each = run.flatMap((x) => [x.item + 1, x.last > x.item ? x.last + 1 : "",
    x.before && tokens(x.before), tokens(x.after), x.reason, x.text && `${first(x.text)}\n${shorten(x.text, 4000)}`]);
  if (run.length < 3) return each;
  const [before, after] = ["before", "after"].map((key) => run.reduce((sum, x) => sum + x[key], 0));
  return [run.length, run[0].item + 1, run.at(-1).last + 1, before && tokens(before), tokens(after), run[0].reason, ...each];
}

// chart returns what the chart of a conversation says, with the texts for a pointer that rests on a column.
function chart({ exchanges }) {
  const before = (e) => total(e.tokens_before), after = (e) => total(e.tokens_after);
  const held = Math.max(...exchanges.flatMap((e) => [after(e), e.window ?? 0])); // the chart ends at three times that
  const largest = Math.max(...exchanges.map(before));
  const most = Math.min(Math.max(1, held, largest), held > 0 ? 3 * held : Infinity);
  const all = [exchanges[0].turn, exchanges.at(-1).turn];
  const step = [...Array(12).keys()].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power)).find((n) => most <= 5 * n);
  for (let n = 0; n <= most; n += step) all.push(tokens(n));
  const size = Math.floor((exchanges.length + 239) / 240);
  const columns = Array.from({ length: Math.ceil(exchanges.length / size) }, (_, i) => exchanges.slice(i * size, (i + 1) * size));
  const between = Math.floor((columns.length + 9) / 10);
  columns.forEach((turns, i) => {
    const [first, last] = [turns[0], turns.at(-1)];
    if (i % between === 0) all.push(first.turn);
    if (first === last) {
      all.push(first.turn, tokens(before(first)), tokens(after(first)));
      if (knowsCache(first.usage) && first.usage.input) all.push(percent(first.usage.read ?? 0, first.usage.input));
      all.push(done(first));
    } else {
      all.push(first.turn, last.turn);
      for (const of of [before, after]) all.push(tokens(Math.min(...turns.map(of))), tokens(Math.max(...turns.map(of))));
    }
  });
  const { window } = exchanges.findLast((e) => e.window) ?? {};
  if (window) all.push(tokens(window));
  if (largest > most) all.push(tokens(largest));
  return all;
}

// columns returns what the columns of a table of sums say.
function columns({ money: m, usage: u, ...s }) {
  const known = (is, text) => is ? text() : "";
  return [String(s.exchanges), String(s.failed), String(s.rescued), tokens(s.tokens_before), tokens(s.tokens_after),
    known(s.tokens_before, () => percent(s.tokens_before - s.tokens_after, s.tokens_before)), known(u.cache_input, () => percent(u.read, u.cache_input)),
    known(u.told, () => tokens(u.output)), known(m.measured, () => dollars(m.billed_nano)), known(m.ruled, () => dollars(m.saved_nano))];
}

// days returns the texts for a pointer that rests on a bar.
const days = ({ rows }) => rows.flatMap(({ key, sums: s }) => [key, comma(s.exchanges), tokens(s.tokens_before), tokens(s.tokens_after)]);
const dayOf = (time) => time.toLocaleDateString("sv");

const list = (conversations) => conversations.flatMap((c) => [c.title, c.agent, c.folder, c.model, percent(c.tokens, c.window), tokens(c.window),
  c.turns, tokens(c.raw), tokens(c.tokens), clock(c.last)]);

// overview returns the places of the first page that show numbers: selectors, with what stands there in order.
export const overview = ({ report, reports, story, conversations }) => ({
  "#newest h2": [story.title],
  "#newest .hero": [sentence(story)],
  "#newest > p:not([class])": size(story),
  "#newest .note": [lost(story), small(story.miss)],
  "#newest svg.chart": chart(story),
  "#newest .legend": lines(story.exchanges),
  "main > h2": ["30"],
  "#figures dd": tiles(report.total),
  "#figures svg": days(reports[0]),
  "#figures .legend": [dayOf(new Date(Date.now() - 29 * 86400e3)), tokens(Math.max(1, ...reports[0].rows.map((r) => r.sums.tokens_before))), dayOf(new Date())],
  "#figures :is(tbody th, tbody td)": reports.flatMap(({ rows }) => rows.flatMap((r) => [r.key, ...columns(r.sums)])),
  "#recent :is(th[scope=row], td)": list(conversations),
  "main > p:last-of-type": [report.prices.date.slice(0, 10), report.since.slice(0, 10)],
});

// conversation returns the places of the page of a conversation at a turn.
export function conversation({ story: s, edits }, turn) {
  const e = s.exchanges.find((x) => x.turn === turn);
  const parts = Object.keys({ ...e.tokens_before, ...e.tokens_after });
  const order = ["system", "tools", "user", "assistant", "results", "summary", "images", "other"].filter((p) => parts.includes(p));
  const events = s.exchanges.filter((x) => isChanged(x) || failed(x) || isLoss(x.miss)).reverse();
  return {
    h1: [s.title],
    "main > p.soft:first-of-type": [s.agent, s.folder, s.model, s.upstream, clock(s.first), clock(s.last), s.id],
    "#chart .hero": [sentence(s)],
    "#chart > p:not([class])": size(s),
    "#chart .note": [lost(s), small(s.miss)],
    "#chart svg.chart": chart(s),
    "#chart .legend": lines(s.exchanges),
    "#at h2": [turn],
    "#at dd": tiles(sumsOf(e)),
    "#at > p": [done(e), e.reason, ...(e.compact_line && !e.compacted ? [tokens(e.compact_line), tokens(total(e.tokens_after))] : []), small(e.miss), lost(e), failed(e), ...summary(e),
      e.usage?.source === "provider" && comma(e.usage.output ?? 0), e.usage?.reasoning && comma(e.usage.reasoning),
      ...(e.read_again ? [comma(e.read_again), comma(e.read_again_tokens ?? 0)] : []), edits.length === 0 && e.items],
    "#at .sizes td": [...order.flatMap((p) => [comma(e.tokens_before?.[p] ?? 0), comma(e.tokens_after?.[p] ?? 0)]),
      comma(total(e.tokens_before)), comma(total(e.tokens_after))],
    "#at > details > summary": [edits.length],
    "#at > details:last-of-type p": [e.clear_line && tokens(e.clear_line), clock(e.start), e.path, e.status,
      took(e.duration_ns), took(e.first_byte_ns), took(e.shape_ns), bytes(e.request_bytes), bytes(e.response_bytes)],
    ".pair :is(th[scope=row], td:not([colspan]))": edits.length > 0 ? runs(edits).flatMap(runText) : [],
    "dl:not(#at dl) dd": tiles(s.sums),
    "dl:not(#at dl) + p": again(s.sums),
    '[aria-label^="What happened"] :is(th[scope=row], td)': events.flatMap((x) => [
      x.turn, tokens(total(x.tokens_before)), tokens(total(x.tokens_after)), done(x), failed(x), x.reason, small(x.miss), lost(x),
    ]),
  };
}

// summary returns what is said of the summary that a turn has made.
const summary = ({ compacted, compaction: { why, cost, receipt = [] } = {} }) => compacted ? [
  ...receipt.flatMap((part) => [comma(part.sent), comma(part.all)]), why,
  ...(cost?.requests ? [tokens(cost.input_tokens), tokens(cost.cached_tokens), tokens(cost.output_tokens)] : [])] : [];

function shorten(text, most) {
  const all = Array.from(text);
  return all.length > most ? `${all.slice(0, most - 1).join("")}…` : text;
}
