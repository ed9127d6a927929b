package rules

import "strings"

// A Model says what a server does for one model.
type Model struct {
	Window     int      // tokens of the input
	MaxOutput  int      // tokens; more in max_output_tokens is refused
	Overflow   Overflow // how an input beyond the window is told
	SumsOutput bool     // input and max_output_tokens must fit together; else only the input must
	Reasons    bool     // reasoning is served, and temperature is not
	Breaks     bool     // the cache is written at breakpoints, and writing it is told of
	Maker      Maker    // whose server it is
}

// A Maker is whoever made a server that speaks this API.
type Maker int

// Servers that speak this API. All but OpenAI's keep nothing, and take fewer kinds of items.
const (
	OpenAI Maker = iota
	LlamaCpp
	VLLM
	Ollama
)

// models are what ModelOf knows, by the beginning of a name; the first that fits counts. Source: the vendor's pages on
// models and prompt caching, as of November 2026.
var models = []struct {
	prefix string
	model  Model
}{
	{"gpt-5.6", Model{Window: 272_000, MaxOutput: 128_000, Reasons: true, Breaks: true}},
	{"gpt-6", Model{Window: 272_000, MaxOutput: 128_000, Reasons: true, Breaks: true}},
	{"gpt-5", Model{Window: 272_000, MaxOutput: 128_000, Reasons: true}},
	{"gpt-4", Model{Window: 128_000, MaxOutput: 32_768}},
	{"o", Model{Window: 200_000, MaxOutput: 100_000, Reasons: true}},
	{"", Model{Window: 272_000, MaxOutput: 128_000, Reasons: true}},
}

// ModelOf returns what the API does for the model with this name; one that it does not know is like the newest but one.
func ModelOf(name string) Model {
	for _, m := range models {
		if strings.HasPrefix(name, m.prefix) {
			return m.model
		}
	}
	return Model{}
}
