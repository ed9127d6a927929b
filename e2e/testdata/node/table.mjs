// Prints the prices of genai-prices, without what event/prices.go does not read, a model a line.
import { findProvider } from "@pydantic/genai-prices"

const providers = [
  "anthropic", "azure", "cerebras", "cohere", "deepseek", "fireworks", "google", "groq", "minimax", "mistral",
  "moonshotai", "openai", "openrouter", "x-ai", "zai", "zhipuai",
]
const read = (key, value) => [
  "name", "description", "extractors", "pricing_urls", "price_comments", "provider_match", "context_window", "deprecated",
].includes(key) ? undefined : value
const text = JSON.stringify(providers.map(id => findProvider({ providerId: id })), read)
console.log(text.replaceAll('{"id":', '\n{"id":'))
