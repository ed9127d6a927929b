package window

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
)

// When servers are asked, and how long their answers hold.
const (
	keepProbed = 2 * time.Hour
	askAgain   = time.Hour
	askLoading = 30 * time.Second // an own server that does not say it: it may be loading the model
	probeWait  = 5 * time.Second  // for one answer of a server
)

// Get asks an upstream for what lies at a path, without a client's key.
type Get func(ctx context.Context, upstream, path string) (status int, answer []byte, err error)

// look is a question by which a server may tell how much its models hold, and where its answer says so: paths of the
// list of models, and of lists of the names and sizes in one of them.
type look struct {
	path                 string
	models, names, sizes string
	one                  bool // where all models hold the same, the server runs one, whatever it is called
}

// looks are in the order in which they are worth asking. None has a server load a model, and what a model could hold is
// not read: servers are run with less. A path that ends with "=" wants the model's name.
var looks = []look{
	// vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
	{path: "/v1/models", models: "data", names: "[id,canonical_slug,root,aliases]", one: true,
		sizes: "[max_model_len,context_window,context_length,max_context_length,top_provider.context_length]"},
	// llama.cpp; one that has many models would load this one without the first parameter
	{path: "/props?autoload=false&model=", models: "default_generation_settings", sizes: "[n_ctx]", one: true},
	// Ollama: what is loaded now
	{path: "/api/ps", models: "models", names: "[name,model]", sizes: "[context_length]"},
	// LM Studio, and from 0.4 on
	{path: "/api/v0/models", models: "data", names: "[id]", sizes: "[loaded_context_length]"},
	{path: "/api/v1/models", models: "models", names: "[key,loaded_instances.#.id]",
		sizes: "[loaded_instances.#.config.context_length]"},
}

// read returns how much the model holds; 0 is unknown. The model may be listed without its variant (":nitro"), in
// another folder, or with Ollama's usual tag. Of several sizes the least counts: a host tells the model's and its own.
func (l look) read(answer gjson.Result, model string) int {
	models := answer.Get(l.models)
	if answer.IsArray() { // Together
		models = answer
	}
	base := func(name string) string {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		return "base of " + strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ":latest")
	}
	lower := func(m, n int) int { return min(cmp.Or(m, n), n) } // of two sizes; 0 is unknown

	sizes := map[string]int{} // by name
	least, most := 0, 0       // of all sizes
	for _, m := range models.Array() {
		size := 0
		for _, v := range m.Get(l.sizes + "|@flatten").Array() {
			n := v.Int()
			if n >= Least && n <= Most {
				size = lower(size, int(n))
			}
		}
		if size == 0 {
			continue
		}
		least, most = lower(least, size), max(most, size)
		for _, v := range m.Get(l.names + "|@flatten").Array() {
			name := strings.ToLower(v.String())
			for _, key := range []string{name, base(name)} {
				sizes[key] = lower(sizes[key], size)
			}
		}
	}
	model = strings.ToLower(model)
	plain, _, _ := strings.Cut(model, ":")
	tokens := cmp.Or(sizes[model], sizes[plain], sizes[base(model)])
	if tokens == 0 && l.one && least == most {
		return least
	}
	return tokens
}

// Probe has a server asked through get, in the background, about a model to which a request goes, if that is due. One
// thing is asked at a time.
func (w *Windows) Probe(upstream, model string, get Get, log *slog.Logger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	k := w.of(upstream, model)
	own, ok := w.servers[upstream]
	if !ok || now.Before(k.askAt) || w.life.Err() != nil || !w.asking.TryLock() {
		return
	}
	k.askAt = now.Add(askAgain)
	if own {
		k.askAt = now.Add(askLoading)
	}
	w.running.Go(func() { w.probe(k.id, own, get, log) })
}

// probe keeps how much a model holds, if its server says so. It unlocks asking.
func (w *Windows) probe(q id, own bool, get Get, log *slog.Logger) {
	log = log.With("upstream", q.upstream, "model", event.Clip(q.model))
	defer w.asking.Unlock()
	defer func() {
		if caught := recover(); caught != nil {
			log.Error("panic while asking how much a model holds", "panic", caught, "stack", string(debug.Stack()))
		}
	}()
	tokens := w.ask(q, own, get)
	if tokens == 0 {
		return
	}
	believed := w.Of(q.upstream, q.model)
	w.mu.Lock()
	k := w.of(q.upstream, q.model)
	now := w.now()
	k.askAt = now.Add(askAgain)
	k.probed = lesson{tokens, now.Add(keepProbed)}
	w.mu.Unlock()
	log = log.With("window", tokens, "believed", believed.Tokens, "from", string(believed.Source))
	if tokens < believed.Tokens && believed.Source == Configured {
		log.Warn("a server says that a model holds less than is configured; its figure is used",
			"do", "write the smaller number in [window.models], or have the server hold more")
	} else if tokens != believed.Tokens {
		log.Info("a server says how much a model holds")
	}
}

// ask asks one question after the other until the server says how much the model holds. What fails within a server may
// not on another path; one that cannot be reached is asked nothing else, and one that is not the user's own nothing but
// the first.
func (w *Windows) ask(q id, own bool, get Get) (tokens int) {
	for _, l := range looks {
		path := l.path
		if strings.HasSuffix(path, "=") {
			path += url.QueryEscape(q.model)
		}
		ctx, cancel := context.WithTimeout(w.life, probeWait)
		status, answer, err := get(ctx, q.upstream, path)
		cancel()
		if status == http.StatusOK && gjson.ValidBytes(answer) {
			tokens = l.read(gjson.ParseBytes(answer), q.model)
		}
		if tokens > 0 || err != nil || !own {
			break
		}
	}
	return tokens
}

// Close ends what is being asked, and returns when nothing is any more.
func (w *Windows) Close() {
	w.mu.Lock()
	w.stop()
	w.mu.Unlock()
	w.running.Wait()
}
