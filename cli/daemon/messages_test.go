package daemon

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/summarize"
)

// coder is an agent that speaks Messages: each turn the model calls its shell, and gets a long result.
type coder struct {
	t        *testing.T
	provider *fakeapi.Provider
	url      string
	model    string
	stream   bool
	tells    string // what the model says before it calls
	said     []string
	turns    atomic.Int64
	acted    map[string]int // what epitome did, by its header
}

// coding starts one, with a daemon as it comes before a strict server.
func coding(t *testing.T, o fakeapi.Options, change func(*config.Config)) *coder {
	t.Helper()
	c := &coder{t: t, acted: map[string]int{},
		said: []string{`{"role":"user","content":[{"type":"text","text":"Mend the shop."}]}`}}
	o.Answer = func(x fakeapi.Exchange) []fakeapi.Part {
		if asksForSummary(x.Body) {
			return []fakeapi.Part{fakeapi.Text(wellSummed)}
		}
		id, input := c.call()
		return []fakeapi.Part{fakeapi.Call(id, "Bash", input)}
	}
	c.provider = fakeapi.StartProvider(t, o)
	c.url = serving(t, c.provider.URL, change) + "/v1/messages?beta=true"
	return c
}

// serving starts a daemon as it comes in front of an upstream, and returns where it is.
func serving(t *testing.T, upstream string, change func(*config.Config)) (url string) {
	t.Helper()
	k := servingIn(t, t.TempDir(), upstream, change)
	t.Cleanup(func() { k.end(t) })
	return "http://" + k.Address()
}

// servingIn starts one over a data folder. The caller ends it.
func servingIn(t *testing.T, folder, upstream string, change func(*config.Config)) *kept {
	t.Helper()
	conf := config.Defaults(configtest.Text())
	conf.Listen, conf.Data, conf.Upstream = "127.0.0.1:0", folder, "up"
	conf.Upstreams["up"] = proxy.UpstreamConfig{URL: upstream}
	conf.Window.Probe = false
	change(&conf)
	k, err := serve(conf)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// body is the next request. Its last block is marked, as clients do.
func (c *coder) body() string {
	list := strings.TrimSuffix(strings.Join(c.said, ","), "}]}")
	return fmt.Sprintf(`{"model":%q,"max_tokens":4000,"stream":%v,"thinking":{"type":"disabled"},`+
		`"system":[{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}}],`+
		`"tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}],`+
		`"messages":[%s,"cache_control":{"type":"ephemeral"}}]}]}`, c.model, c.stream, list)
}

// call is what the model calls in this turn.
func (c *coder) call() (id, input string) {
	n := c.turns.Load()
	return fmt.Sprintf("toolu_%d", n), fmt.Sprintf(`{"command":"go test ./shop/part%d"}`, n)
}

// post sends a request, and returns what epitome did with it and the answer.
func (c *coder) post(url, body string) (action string, answer []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("x-api-key", "sk-client")
	req.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		c.t.Fatalf("turn %d: %d %.600s (%v)", c.turns.Load(), resp.StatusCode, answer, err)
	}
	return resp.Header.Get("x-epitome-action"), answer
}

// turn has the model call its shell once, and fails if the agent would see an error.
func (c *coder) turn() {
	c.t.Helper()
	c.turns.Add(1)
	id, input := c.call()
	action, answer := c.post(c.url, c.body())
	if !bytes.Contains(answer, []byte(id)) || c.stream && bytes.Count(answer, []byte("event: message_start")) != 1 {
		c.t.Fatalf("turn %d: %.600s", c.turns.Load(), answer)
	}
	c.acted[action]++
	result := strings.Builder{}
	for n := range 60 {
		fmt.Fprintf(&result, `the refund of order %d in part %d was checked against the books and found as it should be\n`, n, c.turns.Load())
	}
	c.said = append(c.said,
		`{"role":"assistant","content":[{"type":"text","text":"So. `+c.tells+`"},{"type":"tool_use","id":"`+id+`","name":"Bash","input":`+input+`}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"`+result.String()+`"}]}`)
}

// Whatever the server says when its window is full, the agent meets no error, and no rewrite breaks a rule.
func TestAgentsOfMessagesOutgrowAWindowThatNobodyKnows(t *testing.T) {
	t.Parallel()
	for name, overflow := range map[string]fakeapi.Overflow{
		"too long": fakeapi.SaysTooLong, "too large": fakeapi.TooLarge, "by Bedrock": fakeapi.SaysBedrock,
		"through LiteLLM": fakeapi.SaysLiteLLM, "by a gateway": fakeapi.SaysGateway,
		"in a stream": fakeapi.FailsInStream, "by stopping at once": fakeapi.EndsAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, stream := range []bool{true, false} {
				m := fakeapi.ModelOf("claude-opus-4-6")
				m.Window, m.Overflow = 40_000, overflow
				c := coding(t, fakeapi.Options{Models: map[string]fakeapi.Model{"claude-opus-4-6": m}}, func(*config.Config) {})
				c.model, c.stream = "claude-opus-4-6", stream
				for range 40 {
					c.turn()
				}
				if n := c.acted["rescue"]; n < 1 || n > 2 {
					t.Errorf("stream %v: acted %v", stream, c.acted)
				}
				for _, r := range c.provider.Exchanges() {
					if r.Judged && r.Tokens <= m.Window {
						t.Errorf("stream %v: request %d of %d tokens is refused: %v", stream, r.N, r.Tokens, r.Refusal)
					}
				}
			}
		})
	}
}

// wellSummed is what a model answers that is asked for a summary.
const wellSummed = "## Goal\nmend the shop\n## Constraints\nnone\n## Progress\nparts are checked\n## Key Decisions\nnone\n" +
	"## Failed Approaches\nnone\n## Open Issues\nnone\n## Next Steps\ncheck the next part\n## Critical Values\nnone\n"

// asksForSummary reports whether a request is one of epitome's own, in either way.
func asksForSummary(body []byte) bool {
	return bytes.Contains(body, []byte("Write the summary that will stand")) ||
		bytes.Contains(body, []byte("You keep the memory of an agent at work"))
}

// A model is asked for a summary in the conversation's own dialect, with the client's credential, behind what is
// cached.
func TestSummariesOfMessagesAreAskedForInTheirOwnDialect(t *testing.T) {
	t.Parallel()
	m := fakeapi.ModelOf("claude-opus-4-6")
	c := coding(t, fakeapi.Options{Key: "sk-client"}, func(conf *config.Config) {
		conf.Window.Models = map[string]unit.Tokens{"claude-opus-4-6": 32_000}
		conf.Summarize.Mode = summarize.LLM
		conf.Summarize.Prepare = summarize.PrepareOn
	})
	c.model, c.stream = "claude-opus-4-6", true
	c.tells = strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 30)
	for range 60 {
		c.turn()
	}
	asked, seen := 0, 0
	for _, r := range c.provider.Exchanges() {
		switch {
		case r.Refusal != nil:
			t.Errorf("request %d is refused: %v", r.N, r.Refusal)
		case asksForSummary(r.Body):
			if asked++; r.Usage.Read < m.Minimum || r.Usage.Read < r.Tokens/2 {
				t.Errorf("of %d tokens of the question %d were read from the cache", r.Tokens, r.Usage.Read)
			}
		case bytes.Contains(r.Body, []byte("check the next part")):
			seen++
		}
	}
	if asked == 0 || seen == 0 {
		t.Errorf("asked %d times, and %d requests have the answer; acted %v", asked, seen, c.acted)
	}
}

// A count is of what is sent, and changes nothing: what is asked about for the first time is counted as it came, and
// decided when it is sent.
func TestCountsOfMessagesAreOfWhatIsSent(t *testing.T) {
	t.Parallel()
	play := func(counts bool) (sent, counted [][]byte) {
		c := coding(t, fakeapi.Options{}, func(conf *config.Config) {
			conf.Window.Models = map[string]unit.Tokens{"claude-opus-4-6": 16_000}
		})
		c.model = "claude-opus-4-6"
		for range 30 {
			body := c.body()
			if counts {
				c.post(strings.Replace(c.url, "?", "/count_tokens?", 1), uncapped(body)) // not sent before
			}
			c.turn()
			if counts {
				action, answer := c.post(strings.Replace(c.url, "?", "/count_tokens?", 1), uncapped(body))
				if action != "none" || !bytes.Contains(answer, []byte(`"input_tokens"`)) {
					t.Errorf("a count is %s, %s", action, answer)
				}
			}
		}
		for _, r := range c.provider.Exchanges() {
			if r.Counting {
				counted = append(counted, r.Body)
			} else {
				sent = append(sent, r.Body)
			}
		}
		return sent, counted
	}
	plain, _ := play(false)
	sent, counted := play(true)
	if len(sent) != 30 || len(plain) != 30 || len(counted) != 60 {
		t.Fatalf("%d requests, without counts %d; %d counts", len(sent), len(plain), len(counted))
	}
	shorter := 0
	for i := range sent {
		if uncapped(string(sent[i])) != string(counted[2*i+1]) {
			t.Errorf("request %d is counted as %.300s, and was sent as %.300s", i, counted[2*i+1], sent[i])
		}
		if len(sent[i]) != len(plain[i]) { // folders of artifacts have other names
			t.Errorf("request %d has %d bytes, and without counts %d", i, len(sent[i]), len(plain[i]))
		}
		if len(counted[2*i]) > len(counted[2*i+1]) {
			shorter++
		}
	}
	if shorter == 0 {
		t.Error("nothing was decided between a count before and one after")
	}
}

// uncapped is a body as it is sent to be counted.
func uncapped(body string) string {
	return strings.Replace(body, `"max_tokens":4000,"stream":false,`, "", 1)
}

// With a key of epitome's own, a model is asked as its API wants a key shown, in a request of its own.
func TestSummariesOfMessagesAreAskedForWithAKey(t *testing.T) {
	t.Setenv("EPITOME_TEST_KEY", "sk-ours")
	c := coding(t, fakeapi.Options{}, func(conf *config.Config) {
		conf.Window.Models = map[string]unit.Tokens{"claude-opus-4-6": 32_000}
		conf.Summarize.Mode, conf.Summarize.Upstream, conf.Summarize.Model = summarize.LLM, "up", "claude-opus-4-6"
		conf.Summarize.KeyEnv = "EPITOME_TEST_KEY"
	})
	c.model, c.stream = "claude-opus-4-6", true
	c.tells = strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 30)
	for range 25 {
		c.turn()
	}
	asked := 0
	for _, r := range c.provider.Exchanges() {
		key := "sk-client"
		if asksForSummary(r.Body) {
			asked++
			key = "sk-ours"
		}
		if r.Refusal != nil || r.Header.Get("x-api-key") != key {
			t.Errorf("request %d with the key %s is refused: %v", r.N, r.Header.Get("x-api-key"), r.Refusal)
		}
	}
	if asked == 0 {
		t.Errorf("nobody was asked; acted %v", c.acted)
	}
}
