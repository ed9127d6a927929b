package daemon

import (
	"strings"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi"
)

const (
	bindsThinking = "claude-opus-5-5"
	mayBind       = "claude-new" // does, but nobody knows
	neverBinds    = "claude-opus-4-8"
)

// thinker is an agent that sends back all that the model thought, to a provider that signs it.
func thinker(t *testing.T, model string) (*agent, *program, *fakeapi.Provider) {
	t.Helper()
	binds := fakeapi.ModelOf(bindsThinking)
	models := map[string]fakeapi.Model{mayBind: binds, bindsThinking: binds}
	a, p, provider := strict(t, "messages", model, fakeapi.Options{Models: models}, windowOf(16_000))
	a.thinking = `{"type":"adaptive"}`
	return a, p, provider
}

// restart replaces an epitome by another one over the same folder.
func restart(t *testing.T, a *agent, p *program) *program {
	t.Helper()
	p.stop()
	conf := p.started
	p = run(t, conf.Data, conf.Upstreams["up"].URL, func(c *config.Config) { *c = conf })
	a.url = p.url
	return p
}

// thoughtsIn is how many answers in a body begin with thinking, and how many there are.
func thoughtsIn(body []byte) (thinking, answers int) {
	return strings.Count(string(body), `"signature"`), strings.Count(string(body), `"tool_use"`)
}

// Where thinking is bound to what stands before it, and the model is known for that, no server refuses anything: what
// was thought behind a change goes with it, and later thoughts stay, over restarts too.
func TestThinkingIsSentBehindNothingElseThanItWasThoughtBehind(t *testing.T) {
	t.Parallel()
	a, p, provider := thinker(t, bindsThinking)
	a.work(25)
	restart(t, a, p)
	a.work(25)
	all, taken := provider.Exchanges(), 0
	for _, x := range all {
		if x.Refusal != nil {
			t.Errorf("request %d is refused: %v", x.N, x.Refusal)
		}
		if thinking, answers := thoughtsIn(x.Body); thinking < answers {
			taken++
		} else if taken > 0 && x.N > 3 {
			t.Errorf("request %d has all thoughts again", x.N)
		}
	}
	if thinking, _ := thoughtsIn(all[len(all)-1].Body); taken == 0 || thinking == 0 {
		t.Errorf("%d requests are without some thinking, and the last one has %d thoughts", taken, thinking)
	}
}

// A model that nobody knows to bind its thinking refuses once, which the client does not see. That is remembered.
func TestThatThinkingIsBoundIsLearned(t *testing.T) {
	t.Parallel()
	a, p, provider := thinker(t, mayBind)
	a.work(30)
	once := len(provider.Refusals())
	restart(t, a, p)
	a.items = a.items[:1]
	a.work(30)
	if n := len(provider.Refusals()); once != 1 || n != 1 {
		t.Errorf("refused %d times, then %d in all: %v", once, n, provider.Refusals())
	}
}

// Where thinking is not bound it stays with all that is sent.
func TestThinkingThatIsNotBoundStays(t *testing.T) {
	t.Parallel()
	a, _, provider := thinker(t, neverBinds)
	a.work(40)
	for _, x := range provider.Exchanges() {
		if thinking, answers := thoughtsIn(x.Body); x.Refusal != nil || thinking != answers {
			t.Errorf("request %d has %d thoughts of %d: %v", x.N, thinking, answers, x.Refusal)
		}
	}
}

// Whatever a provider has against a history that epitome has changed, the agent of each API goes on: its own bytes are
// sent while they fit, and the provider is not asked again and again to take the same change.
func TestRefusedChangesEndNoConversation(t *testing.T) {
	t.Parallel()
	for api := range modelIn {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			a := new(agent)
			provider := fakeapi.StartProvider(t, fakeapi.Options{
				Answer: func(fakeapi.Exchange) []fakeapi.Part { return a.parts() },
				Refuse: func(x fakeapi.Exchange) *fakeapi.Refusal {
					if strings.Contains(string(x.Body), "[epitome: ") {
						return &fakeapi.Refusal{Status: 400, Type: "invalid_request_error", Message: "The history was altered."}
					}
					return nil
				}})
			*a = *working(run(t, t.TempDir(), provider.URL, windowOf(150_000)), api, modelIn[api])
			a.lines = 400
			a.work(12)
			refused := 0
			for _, x := range provider.Exchanges() {
				if x.Refusal != nil {
					refused++
				}
			}
			if refused == 0 || refused > 12 {
				t.Errorf("%d requests were refused; epitome did %v", refused, a.acted)
			}
			t.Logf("%d of %d requests were refused; epitome did %v", refused, len(provider.Exchanges()), a.acted)
		})
	}
}
