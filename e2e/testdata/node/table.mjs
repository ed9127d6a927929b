// Prints the prices of genai-prices as event/prices.go reads them, a model a line.
import { findProvider } from "@pydantic/genai-prices"

const providers = [
  "anthropic", "azure", "cerebras", "cohere", "deepseek", "fireworks", "google", "groq", "minimax", "mistral",
  "moonshotai", "openai", "openrouter", "x-ai", "zai", "zhipuai",
]
const keys = [
  "api_pattern", "model_match", "fallback_model_providers", "like", "unlike", "regex",
  "start_date", "start_time", "end_time", "base", "tiers", "start", "price",
  "input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok",
]
// rule has what a match says as patterns of names in lower case, in which * is any run of characters, and as an
// expression where that does not suffice.
const patterns = { equals: v => v, starts_with: v => v + "*", ends_with: v => "*" + v, contains: v => "*" + v + "*" }
const rule = match => {
  const [kind, value] = Object.entries(match)[0]
  if (kind === "or" || kind === "and") {
    const all = value.map(rule)
    return {
      like: all.flatMap(r => r.like), unlike: all.find(r => r.unlike)?.unlike,
      regex: all.flatMap(r => r.regex ?? []).join("|") || undefined,
    }
  }
  if (kind !== "regex") return { like: [patterns[kind](value).toLowerCase()] }
  // Go compiles no expressions that look ahead: not a model for speech, and a name without a maker, which has no slash
  // anyway.
  if (value === "^(?!.*-[tT][tT][sS](?:$|-))") return { like: [], unlike: "*-tts*" }
  return { like: [], regex: value.replace("(?![^/]+/)", "") }
}
// priceOf has a price with its name; none if it is not for text, or another one for reasoning.
const priceOf = (id, { input_mtok: input, output_mtok: output, output_reasoning_mtok: reasoning, ...p }) =>
  input == null || output == null || reasoning != null ? null : { input_mtok: input, ...p, output_mtok: output, id }
const pricesOf = (id, { prices }) => Array.isArray(prices)
  ? prices.map(p => ({ ...p.constraint, price: priceOf(id, p.prices) }))
  : [{ price: priceOf(id, prices) }]
const table = providers.map(id => {
  const provider = findProvider({ providerId: id })
  const models = provider.models.map(m => ({ match: rule(m.match), prices: pricesOf(`${id}/${m.id}`, m) }))
  return { ...provider, model_match: provider.model_match && rule(provider.model_match), models }
})
const read = (key, value) =>
  typeof value === "number" && key.endsWith("_mtok") ? { base: value }
    : key === "" || /^\d+$/.test(key) || ["id", "models", "match", "prices", ...keys].includes(key) ? value : undefined
console.log(JSON.stringify(table, read).replaceAll(/\{"(id|match)":/g, "\n$&"))
