package daemon

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/scripted/scriptedtest"
)

// talks takes any number of conversations.
const talks = "-- POST /v1/chat/completions --\nrepeat\nstatus 200 OK\nbody hello\n"

// looks are the requests to the upstream that were no conversations, in order.
func (r *asking) looks() (all []string) {
	for _, q := range r.up.Requests() {
		if !strings.HasSuffix(q.Target, "/chat/completions") {
			all = append(all, q.Method+" "+q.Target)
		}
	}
	return all
}

// converse sends a conversation, and returns by which window it was shaped; 0 if it was not shaped.
func (r *asking) converse(lines ...string) (believed int) {
	r.t.Helper()
	r.shape = func(a rewrite.Input) rewrite.Output {
		s := r.live.Shape(a)
		believed = s.Report.Window
		return s
	}
	req, err := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(clientsBody))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", clientsKey)
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		req.Header.Set(name, value)
	}
	resp, err := scriptedtest.Direct().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return believed
}

// inputOf is a conversation with a model.
func inputOf(model string) rewrite.Input {
	limits := config.Defaults(configtest.Text()).Rewrite
	body := strings.Replace(clientsBody, `"m"`, `"`+model+`"`, 1)
	return rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &limits}
}

func TestServersAreAskedWithoutTheClientsKey(t *testing.T) {
	r := askingWith(t, t.TempDir(), asDefault, "-- GET /v1/models --\nexpect-no-header Authorization\n"+
		"expect-header User-Agent: epitome\nstatus 200 OK\n"+`body {"data":[{"id":"m","max_model_len":24576}]}`+"\n"+talks)
	if got := r.converse(); got != 128_000 {
		t.Errorf("before it was asked, the model was believed to hold %d", got)
	}
	if !scriptedtest.Eventually(func() bool { return r.converse() == 24_576 }) {
		t.Errorf("what the server says does not count:\n%s", r.log)
	}
	r.end()
	if strings.Contains(r.log.String(), "sk-client") {
		t.Errorf("logged: %s", r.log)
	}
}

// Models of one server are asked about one after the other: once the last is, no other waits.
func TestOnlyConversationsThatAreShapedHaveServersAsked(t *testing.T) {
	t.Parallel()
	f := func(what string, do func(r *asking)) {
		t.Helper()
		r := askingWith(t, t.TempDir(), asDefault, "-- GET * --\nrepeat\nstatus 404 Not Found\nbody no\n"+talks)
		do(r)
		r.live.Shape(inputOf("last"))
		isOf := func(model string) bool {
			return slices.ContainsFunc(r.looks(), func(l string) bool { return strings.Contains(l, "model="+model+"&") })
		}
		if !scriptedtest.Eventually(func() bool { return isOf("last") }) {
			t.Fatalf("%s: not asked at all: %q", what, r.looks())
		}
		if isOf("m") {
			t.Errorf("%s: asked %q", what, r.looks())
		}
	}
	f("mode observe", func(r *asking) { r.converse("x-epitome-mode: observe") })
	f("mode off", func(r *asking) { r.converse("x-epitome-mode: off") })
	f("the shadow", func(r *asking) { r.shadow.Shape(inputOf("m")) })
	f("by hand", func(r *asking) { r.byHand().Shape(inputOf("m")) })
}

func TestOnlyServersThatTellAreAsked(t *testing.T) {
	f := func(bare, keyed bool, bases ...string) {
		t.Helper()
		for _, base := range bases {
			asks := func(headers map[string]string) bool {
				conf := config.Defaults(configtest.Text())
				conf.Upstreams = map[string]proxy.UpstreamConfig{"up": {URL: base, Headers: headers}}
				_, asked := probedOf(conf)["up"]
				return asked
			}
			if asks(nil) != bare || asks(map[string]string{"Authorization": "", "X-Team": "ours"}) != bare ||
				asks(map[string]string{"authorization": "Bearer sk-ours"}) != keyed {
				t.Errorf("%s is asked otherwise than %v, with a key %v", base, bare, keyed)
			}
		}
	}
	f(true, true, "http://127.0.0.1:8000/v1", "http://localhost:11434", "http://gpu:8000/v1", "https://openrouter.ai/api/v1")
	f(false, true, "https://api.groq.com/openai/v1", "https://api.together.xyz/v1", "https://api.fireworks.ai/inference/v1",
		"https://API.mistral.ai/v1", "https://api.moonshot.ai/v1", "https://api.moonshot.cn/v1")
	f(false, false, "https://api.openai.com/v1", "https://api.anthropic.com", "https://example.com/openrouter.ai",
		"https://openrouter.ai.example.com", "https://llm.example.com/v1", "::")
}
