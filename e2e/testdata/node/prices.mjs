// Prices made-up usages by genai-prices itself. Arguments: how many, and the providers. A line of JSON for each.
import { calcPrice, findProvider } from "@pydantic/genai-prices"

const [count, ...providers] = process.argv.slice(2)

// A generator of its own, so that each run asks the same.
let state = 1
const below = n => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0
  return Math.floor((state / 2 ** 32) * n)
}

// texts are what names of a model have in them.
const texts = match =>
  Object.entries(match).flatMap(([kind, value]) =>
    Array.isArray(value) ? value.flatMap(texts) : kind === "regex" ? [] : [value])

const ends = [...Array(10).fill(""), "-20260801", "-latest", "-2026-08-01", "-tts", "-x"]
const asked = providers.map(id => findProvider({ providerId: id }))
const lines = []
for (let i = 0; i < Number(count); i++) {
  const provider = asked[below(asked.length)]
  const own = provider.models[below(provider.models.length)]
  const names = [own.id, ...texts(own.match)]
  let model = names[below(names.length)] + ends[below(ends.length)]
  if (below(8) === 0) model = model.toUpperCase()
  const input = below(2) ? below(20_000) : below(600_000)
  const read = below(2) ? below(input + 1) : 0
  const write5m = below(5) ? 0 : below(input - read + 1)
  const write1h = below(8) ? 0 : below(input - read - write5m + 1)
  const output = below(20_000)
  const time = new Date(Date.UTC(2025, 0, 1) + below(700 * 24 * 60) * 60_000)
  const usage = {
    input_tokens: input, output_tokens: output, cache_read_tokens: read, cache_write_tokens: write5m + write1h,
    cache_write_1h_tokens: write1h,
  }
  const priced = calcPrice(usage, model, { providerId: provider.id, timestamp: time })
  const prices = priced?.model_price ?? {}
  lines.push(JSON.stringify({
    provider: provider.id, model, time, input, read, write5m, write1h, output,
    found: priced?.model.id ?? "", total: priced?.total_price ?? 0,
    whole: "input_mtok" in prices && "output_mtok" in prices && !("output_reasoning_mtok" in prices),
    reads: "cache_read_mtok" in prices, writes: "cache_write_mtok" in prices, hours: "cache_write_1h_mtok" in prices,
  }))
}
console.log(lines.join("\n"))
