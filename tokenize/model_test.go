package tokenize_test

import (
	"testing"

	"epitome/tokenize"
)

func TestModelsAreFound(t *testing.T) {
	f := func(name string, ratio float64) {
		t.Helper()
		if m := tokenize.ModelOf(name); m.Ratio != ratio || m.Exact != (ratio == 1) {
			t.Errorf("%s has the ratio %v, exact %v; want %v", name, m.Ratio, m.Exact, ratio)
		}
	}
	for _, exact := range []string{"gpt-5", "openai/gpt-4.1", "ft:gpt-4o-mini:acme::id", "chatgpt-4o-latest", "o3-mini",
		"gpt-oss-120b"} {
		f(exact, 1)
	}
	f("anthropic/claude-opus-4-8", 1.53)
	for _, old := range []string{"claude-opus-4@20250514", "claude-opus-4-0", "anthropic/claude-opus-4",
		"anthropic/claude-opus-4:thinking", "claude-4-sonnet-20250514", "claude-2.1",
		"claude-instant-1.2", "anthropic.claude-v2:1", "us.anthropic.claude-sonnet-4-5-v1:0",
		"jp.anthropic.claude-sonnet-4-5-v1:0", "us-gov.anthropic.claude-3-5-sonnet", "databricks-claude-opus-4-5"} {
		f(old, 1.18)
	}
	f("gemini-2.5-pro", 1.11)
	f("us.deepseek.r1-v1:0", 1.33)
	for _, other := range []string{"meta-llama/llama-3.3-70b-instruct:free", "o1ympus-7b", "o3d-x", "gpt-4chan",
		"gpt-40b",
		"codexqwen", "text-embedding-004", "text-embedding-v3", ""} {
		f(other, 1.1)
	}
}

// The published example of the provider's cookbook, with the count that its API gave for gpt-4o.
func TestToolsCostWhatTheCookbookSays(t *testing.T) {
	const tools = `[{"type": "function", "function": {"name": "get_current_weather",
		"description": "Get the current weather in a given location", "parameters": {"type": "object", "properties": {
			"location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
			"unit": {"type": "string", "description": "The unit of temperature to return",
				"enum": ["celsius", "fahrenheit"]}}, "required": ["location"]}}}]`
	texts := []string{
		"You are a helpful assistant that can answer to questions about the weather.",
		"What's the weather like in San Francisco?",
	}
	n := tokenize.Tools(tokenize.CountString, []byte(tools))
	n += tokenize.PerReply
	for i, role := range []string{"system", "user"} {
		n += tokenize.PerMessage + tokenize.CountString(role) + tokenize.CountString(texts[i])
	}
	if n != 101 {
		t.Errorf("the example counts %d, want 101", n)
	}
}

func TestImagesCostWhatTheirModelsSay(t *testing.T) {
	f := func(model string, width, height int, low bool, want int) {
		t.Helper()
		if got := tokenize.ModelOf(model).Image(width, height, low); got != want {
			t.Errorf("%s: %dx%d (low %v) costs %d, want %d", model, width, height, low, got, want)
		}
	}
	f("gpt-4o", 1024, 1024, false, 765)
	f("gpt-4o", 2048, 4096, false, 1105)
	f("gpt-4o", 4096, 8192, true, 85)
	f("gpt-4o", 0, 0, false, 765)
	f("gpt-5", 1024, 1024, false, 630)
	f("gpt-4o-mini", 1024, 1024, false, 2833+4*5667)
	f("gpt-4.1-mini", 1024, 1024, false, 1659)
	f("claude-opus-4-8", 1000, 1000, false, 1333)
	f("claude-opus-4-8", 8000, 8000, false, 4784)
	f("claude-sonnet-4-5", 8000, 8000, false, 1600)
	f("gpt-4o", 1<<40, 1<<40, false, 765)
	f("gemini-2.5-pro", 4000, 4000, false, 258)
}
