// Prints the prices of genai-prices as event/prices.go reads them, a model a line.
import { findProvider } from "@pydantic/genai-prices"

const providers = [
  "anthropic", "azure", "cerebras", "cohere", "deepseek", "fireworks", "google", "groq", "minimax", "mistral",
  "moonshotai", "openai", "openrouter", "x-ai", "zai", "zhipuai",
]
const keys = [
  "api_pattern", "model_match", "fallback_model_providers",
  "or", "and", "not", "equals", "starts_with", "ends_with", "contains", "regex",
  "start_date", "start_time", "end_time", "base", "tiers", "start", "price",
  "input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok", "output_reasoning_mtok",
]
const pricesOf = model => Array.isArray(model.prices)
  ? model.prices.map(p => ({ ...p.constraint, prices: p.prices }))
  : [{ prices: model.prices }]
const table = providers.map(id => {
  const provider = findProvider({ providerId: id })
  const models = provider.models.map(m => ({ id: `${id}/${m.id}`, match: m.match, prices: pricesOf(m) }))
  return { ...provider, models }
})
const read = (key, value) =>
  typeof value === "number" && key.endsWith("_mtok") ? { base: value }
    : key === "" || /^\d+$/.test(key) || ["id", "models", "match", "prices", ...keys].includes(key) ? value : undefined
// Go compiles no expressions that look ahead: not a model for speech, and a name without a maker, which has no slash
// anyway.
console.log(JSON.stringify(table, read)
  .replaceAll('{"regex":"^(?!.*-[tT][tT][sS](?:$|-))"}', '{"not":{"regex":"-tts(?:$|-)"}}')
  .replaceAll('{"regex":"^(?![^/]+/)', '{"regex":"^')
  .replaceAll('{"id":', '\n{"id":'))
