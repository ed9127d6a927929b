package window

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// look is a request by which a server may tell how much its models hold.
type look struct {
	method string
	path   string // under /v1/ that of the common API, else of what the server has beside it
	body   []byte // JSON; nil is none
	after  bool   // to be sent only if the server knew the path of the one before

	read func(body []byte, model string) (tokens int)
}

// mostProbe bounds the bytes of an answer that are read: the lists of large hosts have hundreds of models with a page
// of text each. Of what is longer the beginning counts.
const mostProbe = 4 << 20

// looksFor are the requests that may tell how much a model holds, in the order in which they are worth sending. Those
// for a server of the user's, which may be of any kind, have it neither load a model nor answer with one. Any other is
// asked for the list of the common API alone. What a model could hold is not read: servers are run with less.
func looksFor(model string, own bool) []look {
	// vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
	list := look{method: "GET", path: "/v1/models", read: readCommonList}
	if !own {
		return []look{list}
	}
	named, err := json.Marshal(map[string]string{"model": model})
	if err != nil {
		panic("BUG: a text cannot be written as JSON: " + err.Error())
	}
	studio := func(v gjson.Result) []listed {
		return []listed{{names: namesIn(v, "id"), tokens: sizeIn(v, "loaded_context_length")}}
	}
	return []look{
		list,
		{ // llama.cpp; one that has many models would load this one without the last parameter
			method: "GET", path: "/props?model=" + url.QueryEscape(model) + "&autoload=false",
			read: func(body []byte, _ string) int { return readNumber(body, "default_generation_settings.n_ctx") },
		},
		{ // Ollama: what is loaded now
			method: "GET", path: "/api/ps", read: func(body []byte, model string) int {
				return smallestOf(readList(gjson.GetBytes(body, "models"), func(v gjson.Result) []listed {
					return []listed{{names: namesIn(v, "name", "model"), tokens: sizeIn(v, "context_length")}}
				}), model)
			},
		},
		// Ollama: what a model is to be loaded with
		{method: "POST", path: "/api/show", body: named, after: true, read: readNumCtx},
		{ // LM Studio
			method: "GET", path: "/api/v0/models", read: func(body []byte, model string) int {
				return smallestOf(readList(gjson.GetBytes(body, "data"), studio), model)
			},
		},
		{ // LM Studio from 0.4 on
			method: "GET", path: "/api/v1/models", read: func(body []byte, model string) int {
				return smallestOf(readList(gjson.GetBytes(body, "models"), readInstances), model)
			},
		},
	}
}

// readNumber reads one number of a whole body: cut off, it may be another one.
func readNumber(body []byte, path string) int {
	if !json.Valid(body) {
		return 0
	}
	return sizeIn(gjson.ParseBytes(body), path)
}

// readNumCtx finds the window among the lines "NAME VALUE" of Ollama's parameters.
func readNumCtx(body []byte, _ string) (tokens int) {
	if !json.Valid(body) {
		return 0
	}
	for line := range strings.Lines(gjson.GetBytes(body, "parameters").String()) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			tokens = sizeOf(gjson.Result{Type: gjson.String, Str: f[1]})
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

// readList reads the items of a list, without one that is cut off: its numbers may be, too.
func readList(list gjson.Result, read func(gjson.Result) []listed) (all []listed) {
	if !list.IsArray() {
		return nil
	}
	list.ForEach(func(_, item gjson.Result) bool {
		if item.IsObject() && json.Valid([]byte(item.Raw)) {
			all = append(all, read(item)...)
		}
		return true
	})
	return all
}

// readCommonList finds a model in the list of the common API. A whole list in which each model holds the same is that
// of a server that runs one, maybe with adapters, under whatever name it is asked for.
func readCommonList(body []byte, model string) (tokens int) {
	list := gjson.ParseBytes(body)
	if !list.IsArray() {
		list = list.Get("data")
	}
	sizes := map[string]int{}
	all := readList(list, func(v gjson.Result) []listed {
		m := listed{names: namesIn(v, "id", "canonical_slug", "root"), parent: v.Get("parent").String()}
		for _, alias := range v.Get("aliases").Array() {
			m.names = append(m.names, alias.String())
		}
		// A host may tell the model's size, and its own below that.
		m.tokens = sizeIn(v, "max_model_len", "context_window", "context_length", "max_context_length",
			"top_provider.context_length")
		sizes[v.Get("id").String()] = m.tokens
		return []listed{m}
	})
	for i, m := range all {
		if m.tokens == 0 && m.parent != "" {
			all[i].tokens = sizes[m.parent]
		}
	}
	if bestLikeness(all, model) < unlike || !json.Valid(body) {
		return smallestOf(all, model)
	}
	for _, m := range all {
		if m.tokens == 0 || tokens != 0 && m.tokens != tokens {
			return 0
		}
		tokens = m.tokens
	}
	return tokens
}

// readInstances are those that LM Studio has loaded of a model, each with a name of its own, and the model.
func readInstances(v gjson.Result) (all []listed) {
	key := listed{names: namesIn(v, "key")}
	for _, loaded := range v.Get("loaded_instances").Array() {
		m := listed{names: namesIn(loaded, "id"), tokens: sizeIn(loaded, "config.context_length")}
		if m.tokens > 0 && (key.tokens == 0 || m.tokens < key.tokens) {
			key.tokens = m.tokens
		}
		all = append(all, m)
	}
	return append(all, key)
}

func namesIn(v gjson.Result, keys ...string) (all []string) {
	for _, key := range keys {
		if s := v.Get(key).String(); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// sizeIn is the smallest number of tokens under the keys that may be a window; 0 is none.
func sizeIn(v gjson.Result, keys ...string) (tokens int) {
	for _, key := range keys {
		if n := sizeOf(v.Get(key)); n > 0 && (tokens == 0 || n < tokens) {
			tokens = n
		}
	}
	return tokens
}

func sizeOf(v gjson.Result) int {
	if n := v.Int(); (v.Type == gjson.Number || v.Type == gjson.String) && n >= Least && n <= Most {
		return int(n)
	}
	return 0
}

// smallestOf is how much a model of the list holds: the smallest of those that are called most like it.
func smallestOf(all []listed, model string) (tokens int) {
	degree := bestLikeness(all, model)
	for _, m := range all {
		if degree < unlike && m.likeness(model) == degree && m.tokens > 0 && (tokens == 0 || m.tokens < tokens) {
			tokens = m.tokens
		}
	}
	return tokens
}

// bestLikeness is how much a model of the list is called like this one at most.
func bestLikeness(all []listed, model string) int {
	degree := unlike
	for _, m := range all {
		degree = min(degree, m.likeness(model))
	}
	return degree
}

// How much two names are alike, from the nearest on.
const (
	same    = iota
	tagged  // one has the tag by which Ollama lists a model that has none
	varied  // what is asked for is a variant, as ":nitro", which hosts do not list
	shelved // they differ in where the model lies
	unlike
)

func (m listed) likeness(model string) int {
	asked, degree := strings.ToLower(model), unlike
	plain, _, variant := strings.Cut(asked, ":")
	for _, name := range m.names {
		switch name = strings.ToLower(name); {
		case name == asked:
			return same
		case name == asked+":latest", name+":latest" == asked:
			degree = min(degree, tagged)
		case variant && name == plain:
			degree = min(degree, varied)
		case fileOf(name) == fileOf(asked) && fileOf(asked) != "":
			degree = min(degree, shelved)
		}
	}
	return degree
}

// fileOf is a name without the folders, or the host and maker, that stand before it.
func fileOf(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexAny(name, `/\`)+1:], ".gguf")
}
