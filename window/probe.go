package window

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// Look is a request by which a server may tell how much its models hold.
type Look struct {
	Method string
	Path   string // with a query; under /v1/ that of the common API, else of what the server has beside it
	Body   []byte // JSON; nil is none
	After  bool   // to be sent only if the server knew the path of the one before
}

// The paths on which servers tell. The query of a Look is not among them.
const (
	commonList = "/v1/models"     // vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
	llamaProps = "/props"         // llama.cpp
	ollamaRuns = "/api/ps"        // Ollama: what is loaded now, and with how much
	ollamaShow = "/api/show"      // Ollama: what a model is made to be loaded with
	studioList = "/api/v0/models" // LM Studio
	studioNext = "/api/v1/models" // LM Studio from 0.4 on
)

// Looks are the requests that may tell how much a model holds, in the order in which they are worth sending: the
// first answer that ReadProbe can read says it. own is for a server of the user's, which may be of any kind: none of
// these has it load a model or makes it answer one. Any other one is asked for the list of the common API alone.
func Looks(model string, own bool) []Look {
	list := Look{Method: "GET", Path: commonList}
	if !own {
		return []Look{list}
	}
	named, err := json.Marshal(map[string]string{"model": model})
	if err != nil {
		panic("BUG: a text cannot be written as JSON: " + err.Error())
	}
	return []Look{
		list,
		// One that serves a single model does not look at the query; one that has many would load the model without it.
		{Method: "GET", Path: llamaProps + "?model=" + url.QueryEscape(model) + "&autoload=false"},
		{Method: "GET", Path: ollamaRuns},
		{Method: "POST", Path: ollamaShow, Body: named, After: true},
		{Method: "GET", Path: studioList},
		{Method: "GET", Path: studioNext},
	}
}

// MostProbe bounds the bytes of an answer that are read. The lists of large hosts have hundreds of models with a page
// of text each; of what is longer the beginning counts.
const MostProbe = 4 << 20

// ReadProbe reads what a server has answered to the Look with the path: how many tokens the model holds there, if it
// says so. What a model could hold, or was trained with, is no answer: servers are run with less.
func ReadProbe(path string, body []byte, model string) (tokens int, ok bool) {
	body = body[:min(len(body), MostProbe)]
	path, _, _ = strings.Cut(path, "?")
	switch path {
	case commonList:
		tokens = searchCommonList(body, model)
	case ollamaRuns:
		tokens = smallestOf(readList(gjson.GetBytes(body, "models"), readOllamaModel), model)
	case studioList:
		tokens = smallestOf(readList(gjson.GetBytes(body, "data"), readStudioModel), model)
	case studioNext:
		tokens = smallestOf(readList(gjson.GetBytes(body, "models"), readStudioInstances), model)
	case llamaProps:
		tokens = readWhole(body, func(v gjson.Result) int { return readSize(v.Get("default_generation_settings.n_ctx")) })
	case ollamaShow:
		tokens = readWhole(body, func(v gjson.Result) int { return readNumCtx(v.Get("parameters").String()) })
	}
	return tokens, tokens > 0
}

// readWhole reads a body that counts as a whole: cut off, its numbers may be.
func readWhole(body []byte, read func(gjson.Result) int) int {
	if !json.Valid(body) {
		return 0
	}
	return read(gjson.ParseBytes(body))
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

// searchCommonList finds a model in the list of the common API. A whole list in which each model holds the same is
// that of a server that runs one, maybe with adapters, under whatever name it is asked for.
func searchCommonList(body []byte, model string) (tokens int) {
	list := gjson.ParseBytes(body)
	if !list.IsArray() {
		list = list.Get("data")
	}
	all := readList(list, readCommonModel)
	sizeAdapters(all)
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

// sizeAdapters lets adapters hold what the models do that they belong to.
func sizeAdapters(all []listed) {
	sizes := map[string]int{}
	for _, m := range all {
		if len(m.names) > 0 {
			sizes[m.names[0]] = m.tokens
		}
	}
	for i, m := range all {
		if m.tokens == 0 && m.parent != "" {
			all[i].tokens = sizes[m.parent]
		}
	}
}

// readCommonModel is an item of the common API's list. Its smallest size counts: a host may have the model's, and its
// own below that.
func readCommonModel(v gjson.Result) []listed {
	m := listed{names: namesIn(v, "id", "canonical_slug", "root"), parent: v.Get("parent").String()}
	v.Get("aliases").ForEach(func(_, alias gjson.Result) bool {
		m.names = append(m.names, alias.String())
		return true
	})
	for _, key := range []string{"max_model_len", "context_window", "context_length", "max_context_length", "top_provider.context_length"} {
		if n := readSize(v.Get(key)); n > 0 && (m.tokens == 0 || n < m.tokens) {
			m.tokens = n
		}
	}
	return []listed{m}
}

// readOllamaModel is an item of Ollama's list of what is loaded.
func readOllamaModel(v gjson.Result) []listed {
	return []listed{{names: namesIn(v, "name", "model"), tokens: readSize(v.Get("context_length"))}}
}

// readStudioModel is an item of LM Studio's list. What is not loaded will be loaded with less than it can hold.
func readStudioModel(v gjson.Result) []listed {
	return []listed{{names: namesIn(v, "id"), tokens: readSize(v.Get("loaded_context_length"))}}
}

// readStudioInstances are those that LM Studio has loaded of a model, each with a name of its own, and the model.
func readStudioInstances(v gjson.Result) []listed {
	key := listed{names: namesIn(v, "key")}
	all := []listed{}
	v.Get("loaded_instances").ForEach(func(_, loaded gjson.Result) bool {
		m := listed{names: namesIn(loaded, "id"), tokens: readSize(loaded.Get("config.context_length"))}
		if m.tokens > 0 && (key.tokens == 0 || m.tokens < key.tokens) {
			key.tokens = m.tokens
		}
		all = append(all, m)
		return true
	})
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

// readSize is a number of tokens that may be a window; 0 is none.
func readSize(v gjson.Result) int {
	if v.Type != gjson.Number && v.Type != gjson.String {
		return 0
	}
	n := v.Int()
	if n < Least || n > Most {
		return 0
	}
	return int(n)
}

// readNumCtx finds the window among the lines "NAME VALUE" of Ollama's parameters.
func readNumCtx(text string) (tokens int) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			tokens = readSize(gjson.Result{Type: gjson.String, Str: f[1]})
		}
	}
	return tokens
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
	degree := unlike
	for _, s := range m.names {
		degree = min(degree, likeness(s, model))
	}
	return degree
}

// likeness compares a name in a list with the one that a request has.
func likeness(listed, asked string) int {
	listed, asked = strings.ToLower(listed), strings.ToLower(asked)
	plain, _, variant := strings.Cut(asked, ":")
	switch {
	case listed == asked:
		return same
	case listed == asked+":latest", listed+":latest" == asked:
		return tagged
	case variant && listed == plain:
		return varied
	case fileOf(listed) == fileOf(asked) && fileOf(asked) != "":
		return shelved
	}
	return unlike
}

// fileOf is a name without the folders, or the host and maker, that stand before it.
func fileOf(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexAny(name, `/\`)+1:], ".gguf")
}
