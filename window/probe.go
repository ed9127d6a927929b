package window

import (
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// look is a question by which a server may tell how much its models hold, and where its answer says so: paths of the
// list of models, and of lists of the names and sizes in one of them.
type look struct {
	path                 string
	models, names, sizes string
	one                  bool // a list in which all models hold the same is of a server that runs one, however it is called
}

// looksFor returns the questions about a model in the order in which they are worth asking. A server of the user's may
// be of any kind; none of these has it load a model. Any other is asked for the list of the common API alone. What a
// model could hold is not read: servers are run with less.
func looksFor(model string, own bool) []look {
	looks := []look{
		// vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
		{path: "/v1/models", models: "data", names: "[id,canonical_slug,root,aliases]", one: true,
			sizes: "[max_model_len,context_window,context_length,max_context_length,top_provider.context_length]"},
		// llama.cpp; one that has many models would load this one without the last parameter
		{path: "/props?model=" + url.QueryEscape(model) + "&autoload=false",
			models: "default_generation_settings", sizes: "[n_ctx]", one: true},
		// Ollama: what is loaded now
		{path: "/api/ps", models: "models", names: "[name,model]", sizes: "[context_length]"},
		// LM Studio, and from 0.4 on
		{path: "/api/v0/models", models: "data", names: "[id]", sizes: "[loaded_context_length]"},
		{path: "/api/v1/models", models: "models", names: "[key,loaded_instances.#.id]",
			sizes: "[loaded_instances.#.config.context_length]"},
	}
	if !own {
		return looks[:1]
	}
	return looks
}

// read returns how much the model holds: the least of those whose names are most like its own; 0 is unknown.
func (l look) read(answer gjson.Result, model string) (tokens int) {
	models := answer.Get(l.models)
	if answer.IsArray() { // Together
		models = answer
	}
	best, all := 0, 0 // all is what each of them holds, -1 if they differ
	for _, m := range models.Array() {
		size := l.size(m)
		switch {
		case size == 0: // it does not say
			continue
		case all == 0:
			all = size
		case size != all:
			all = -1
		}
		degree := 0
		for _, name := range m.Get(l.names + "|@flatten").Array() {
			degree = max(degree, likeness(strings.ToLower(name.String()), strings.ToLower(model)))
		}
		if degree > best || degree == best && size < tokens {
			best, tokens = degree, size
		}
	}
	if best == 0 && l.one {
		return max(all, 0)
	}
	return tokens
}

// size is how much a model of the list holds: the least of what is said, as a host may tell the model's window and its
// own below that; 0 is unknown.
func (l look) size(m gjson.Result) (tokens int) {
	for _, v := range m.Get(l.sizes + "|@flatten").Array() {
		if n := v.Int(); n >= Least && n <= Most && (tokens == 0 || int(n) < tokens) {
			tokens = int(n)
		}
	}
	return tokens
}

// likeness is how closely the name of a listed model fits the one that is asked for; 0 is not at all.
func likeness(listed, asked string) int {
	base := func(name string) string {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		return strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ":latest")
	}
	plain, _, _ := strings.Cut(asked, ":")
	switch {
	case listed == asked:
		return 3
	case listed == plain: // the variant is not listed (":nitro")
		return 2
	case base(listed) == base(asked): // they differ in where the model lies, or in Ollama's usual tag
		return 1
	}
	return 0
}
