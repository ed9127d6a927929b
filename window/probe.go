package window

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// look is a request by which a server may tell how much its models hold, and how its answer is read.
type look struct {
	method, path string // the path is under /v1/ that of the common API, else of what the server has beside it
	body         []byte // JSON; nil is none
	after        bool   // to be sent only if the server knew the path of the one before
	read         func(answer gjson.Result, model string) (tokens int)
}

// looksFor are the requests that may tell how much a model holds, in the order in which they are worth sending. Those
// for a server of the user's, which may be of any kind, have it neither load a model nor answer with one. Any other is
// asked for the list of the common API alone. What a model could hold is not read: servers are run with less.
func looksFor(model string, own bool) []look {
	// vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
	common := look{method: "GET", path: "/v1/models", read: readCommonList}
	if !own {
		return []look{common}
	}
	named, _ := json.Marshal(map[string]string{"model": model}) // a string can always be written
	list := func(path, names, sizes string) func(gjson.Result, string) int {
		return func(v gjson.Result, model string) int {
			tokens, _ := smallest(readList(v.Get(path), names, sizes), model)
			return tokens
		}
	}
	return []look{
		common,
		{ // llama.cpp; one that has many models would load this one without the last parameter
			method: "GET", path: "/props?model=" + url.QueryEscape(model) + "&autoload=false",
			read: func(v gjson.Result, _ string) int { return sizeOf(v.Get("default_generation_settings.n_ctx")) },
		},
		// Ollama: what is loaded now, and what a model is to be loaded with
		{method: "GET", path: "/api/ps", read: list("models", "name model", "context_length")},
		{method: "POST", path: "/api/show", body: named, after: true, read: readParameters},
		// LM Studio, and from 0.4 on
		{method: "GET", path: "/api/v0/models", read: list("data", "id", "loaded_context_length")},
		{method: "GET", path: "/api/v1/models", read: list("models", "key loaded_instances.#.id",
			"loaded_instances.#.config.context_length")},
	}
}

// readParameters finds the window among the lines "NAME VALUE" of Ollama's parameters.
func readParameters(v gjson.Result, _ string) (tokens int) {
	for line := range strings.Lines(v.Get("parameters").String()) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			tokens = sizeOf(gjson.Result{Type: gjson.String, Str: f[1]})
		}
	}
	return tokens
}

// readCommonList finds a model in the list of the common API. A list in which each model holds the same is that of a
// server that runs one, maybe with adapters, under whatever name it is asked for.
func readCommonList(v gjson.Result, model string) (tokens int) {
	if !v.IsArray() {
		v = v.Get("data")
	}
	all := readList(v, "id canonical_slug root aliases",
		"max_model_len context_window context_length max_context_length top_provider.context_length")
	for i := range all { // an adapter holds what its model does
		at := slices.IndexFunc(all, func(m listed) bool { return slices.Contains(m.names, all[i].parent) })
		if all[i].tokens == 0 && at >= 0 {
			all[i].tokens = all[at].tokens
		}
	}
	tokens, known := smallest(all, model)
	for i, m := range all {
		if !known && (i == 0 || m.tokens == tokens) {
			tokens = m.tokens
		} else if !known {
			return 0
		}
	}
	return tokens
}

// listed is a model of a list.
type listed struct {
	names  []string
	tokens int    // 0: the list does not say
	parent string // of an adapter: the model that it belongs to
}

// readList reads the models of a list, whose names and sizes stand under these keys. Of several sizes, the smallest
// holds: a host may tell the model's, and its own below that.
func readList(list gjson.Result, names, sizes string) (all []listed) {
	if !list.IsArray() {
		return nil
	}
	for _, item := range list.Array() {
		m := listed{parent: item.Get("parent").String()}
		for key := range strings.FieldsSeq(names) {
			for _, name := range item.Get(key).Array() {
				m.names = append(m.names, name.String())
			}
		}
		for key := range strings.FieldsSeq(sizes) {
			for _, v := range item.Get(key).Array() {
				if n := sizeOf(v); n > 0 && (m.tokens == 0 || n < m.tokens) {
					m.tokens = n
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// sizeOf is a number of tokens that may be a window; 0 is none.
func sizeOf(v gjson.Result) int {
	if n := v.Int(); (v.Type == gjson.Number || v.Type == gjson.String) && n >= Least && n <= Most {
		return int(n)
	}
	return 0
}

// smallest is how much a model of the list holds: the smallest of those that are called most like it. known reports
// whether there is one.
func smallest(all []listed, model string) (tokens int, known bool) {
	best := 0
	for _, m := range all {
		alike := m.alike(strings.ToLower(model))
		if alike > best || alike == best && best > 0 && m.tokens > 0 && (tokens == 0 || m.tokens < tokens) {
			best, tokens = alike, m.tokens
		}
	}
	return tokens, best > 0
}

// alike is how much a model is called like the one that is asked for; 0 if not at all. Most if it is listed so, then if
// the variant is not listed (":nitro"), then if the names differ in where the model lies, or in Ollama's usual tag.
func (m listed) alike(asked string) (degree int) {
	plain, _, _ := strings.Cut(asked, ":")
	base := func(name string) string {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		return strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ":latest")
	}
	for _, name := range m.names {
		switch name = strings.ToLower(name); {
		case name == asked:
			degree = 3
		case name == plain:
			degree = max(degree, 2)
		case base(name) == base(asked):
			degree = max(degree, 1)
		}
	}
	return degree
}
