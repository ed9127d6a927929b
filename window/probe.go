package window

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// look is a request by which a server may tell how much its models hold, and where its answer says so.
type look struct {
	method, path string
	body         []byte // JSON; nil is none

	models, names, sizes string // paths of the list of models, and of the names and sizes in one of them
	one                  bool   // a list in which all models hold the same is of a server that runs one, however it is called
	after                bool   // to be sent only if the server knew the path of the look before
}

// looksFor returns the requests that may tell how much a model holds, in the order in which they are worth sending. A
// server of the user's may be of any kind; none of these has it load a model. Any other is asked for the list of the
// common API alone. What a model could hold is not read: servers are run with less.
func looksFor(model string, own bool) []look {
	// vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
	common := look{method: "GET", path: "/v1/models", models: "data", names: "id canonical_slug root aliases", one: true,
		sizes: "max_model_len context_window context_length max_context_length top_provider.context_length"}
	if !own {
		return []look{common}
	}
	named, _ := json.Marshal(map[string]string{"model": model}) // a string can always be written
	return []look{
		common,
		// llama.cpp; one that has many models would load this one without the last parameter
		{method: "GET", path: "/props?model=" + url.QueryEscape(model) + "&autoload=false",
			models: "default_generation_settings", sizes: "n_ctx", one: true},
		// Ollama: what is loaded now, and what a model is to be loaded with
		{method: "GET", path: "/api/ps", models: "models", names: "name model", sizes: "context_length"},
		{method: "POST", path: "/api/show", body: named, after: true, models: "parameters"},
		// LM Studio, and from 0.4 on
		{method: "GET", path: "/api/v0/models", models: "data", names: "id", sizes: "loaded_context_length"},
		{method: "GET", path: "/api/v1/models", models: "models", names: "key loaded_instances.#.id",
			sizes: "loaded_instances.#.config.context_length"},
	}
}

// parameter is the window among the lines "NAME VALUE" of Ollama's parameters.
var parameter = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)\s*$`)

// read returns how much the model holds: the smallest of those that are called most like it; 0 is unknown.
func (l look) read(answer gjson.Result, model string) (tokens int) {
	models := answer.Get(l.models)
	switch {
	case l.sizes == "":
		if m := parameter.FindStringSubmatch(models.String()); m != nil {
			tokens = sizeOf(gjson.Result{Type: gjson.String, Str: m[1]})
		}
		return tokens
	case answer.IsArray():
		models = answer
	case l.names != "" && !models.IsArray():
		return 0
	}
	best, all := 0, 0 // all is what each of them holds, -1 if they differ
	for i, m := range models.Array() {
		size := l.size(models, m)
		if i == 0 {
			all = size
		} else if size != all {
			all = -1
		}
		alike := l.alike(m, strings.ToLower(model))
		if alike > best || alike == best && best > 0 && size > 0 && (tokens == 0 || size < tokens) {
			best, tokens = alike, size
		}
	}
	if best == 0 && l.one {
		return max(all, 0)
	}
	return tokens
}

// size is the smallest of the sizes of a model: a host may tell the model's, and its own below that. An adapter holds
// what its parent does.
func (l look) size(models, m gjson.Result) (tokens int) {
	for path := range strings.FieldsSeq(l.sizes) {
		for _, v := range m.Get(path).Array() {
			if n := sizeOf(v); n > 0 && (tokens == 0 || n < tokens) {
				tokens = n
			}
		}
	}
	if parent := m.Get("parent").String(); tokens == 0 && parent != "" {
		for _, other := range models.Array() {
			if other.Get("id").String() == parent && other.Get("parent").String() == "" {
				return l.size(models, other)
			}
		}
	}
	return tokens
}

// sizeOf is a number of tokens that may be a window; 0 is none.
func sizeOf(v gjson.Result) int {
	if n := v.Int(); (v.Type == gjson.Number || v.Type == gjson.String) && n >= Least && n <= Most {
		return int(n)
	}
	return 0
}

// alike is how much a model is called like the one that is asked for; 0 if not at all. Most if it is listed so, then if
// the variant is not listed (":nitro"), then if the names differ in where the model lies, or in Ollama's usual tag.
func (l look) alike(m gjson.Result, asked string) (degree int) {
	plain, _, _ := strings.Cut(asked, ":")
	base := func(name string) string {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		return strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ":latest")
	}
	for path := range strings.FieldsSeq(l.names) {
		for _, v := range m.Get(path).Array() {
			switch name := strings.ToLower(v.String()); {
			case name == asked:
				return 3
			case name == plain:
				degree = 2
			case base(name) == base(asked):
				degree = max(degree, 1)
			}
		}
	}
	return degree
}
