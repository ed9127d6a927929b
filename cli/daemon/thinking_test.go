package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/summarize"
)

// muser is an agent that sends back all that the model thought, to a server that signs it.
type muser struct {
	t        *testing.T
	provider *fakeapi.Provider
	folder   string
	change   func(*config.Config)
	url      string
	end      func()
	model    string
	manual   bool
	mode     string // that it asks epitome for; empty for none
	tells    string // what the model says before it calls
	heals    bool   // where thinking is refused, it leaves all of it out and asks again
	said     []string
	refused  []string // what it was told that was not 200
	turns    int
}

const (
	bindsThinking = "claude-opus-5-5"
	mayBind       = "claude-new" // does, but nobody knows
	neverBinds    = "claude-opus-4-8"
)

// musing starts one before epitome, with a window that is known to be small.
func musing(t *testing.T, model string, change func(*config.Config)) *muser {
	t.Helper()
	c := &muser{t: t, model: model, folder: t.TempDir(), change: change,
		said: []string{`{"role":"user","content":[{"type":"text","text":"Mend the shop."}]}`}}
	binds := fakeapi.ModelOf(bindsThinking)
	binds.Manual, binds.Window = true, 64_000
	o := fakeapi.Options{Models: map[string]fakeapi.Model{mayBind: binds, bindsThinking: binds}}
	o.Answer = func(x fakeapi.Exchange) []fakeapi.Part {
		if asksForSummary(x.Body) {
			return []fakeapi.Part{fakeapi.Text(wellSummed)}
		}
		return []fakeapi.Part{fakeapi.Think(fmt.Sprintf("Part %d comes next.", c.turns)), fakeapi.Text("So. " + c.tells),
			fakeapi.Call("", "Bash", fmt.Sprintf(`{"command":"go test ./shop/part%d"}`, c.turns))}
	}
	c.provider = fakeapi.StartProvider(t, o)
	c.start()
	t.Cleanup(func() { c.end() })
	return c
}

// start starts epitome, over what an earlier one has left.
func (c *muser) start() {
	c.t.Helper()
	k := servingIn(c.t, c.folder, c.provider.URL, func(conf *config.Config) {
		conf.Summarize.Mode, conf.Window.Models = "intent", map[string]unit.Tokens{"claude-*": 16_000}
		c.change(conf)
	})
	c.end = func() { k.end(c.t) }
	c.url = "http://" + k.Address() + "/v1/messages"
}

// ask sends what was said, and returns the answer.
func (c *muser) ask() (status int, answer []byte) {
	c.t.Helper()
	thinking := `{"type":"adaptive"}`
	if c.manual {
		thinking = `{"type":"enabled","budget_tokens":1024}`
	}
	body := fmt.Sprintf(`{"model":%q,"max_tokens":4000,"thinking":%s,"system":"You are an agent.",`+
		`"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[%s]}`,
		c.model, thinking, strings.Join(c.said, ","))
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	if c.mode != "" {
		req.Header.Set("x-epitome-mode", c.mode)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// turn has the model call its shell once, and reports whether it did. Its answer goes into the conversation as it is.
func (c *muser) turn(lines int) bool {
	c.t.Helper()
	c.turns++
	status, answer := c.ask()
	if status != 200 {
		c.refused = append(c.refused, string(answer))
		if !c.heals || !bytes.Contains(answer, []byte("bound to a different conversation")) {
			return false
		}
		for i := range c.said {
			c.said[i] = thoughtless(c.said[i])
		}
		if status, answer = c.ask(); status != 200 {
			c.t.Fatalf("turn %d: without any thinking: %s", c.turns, answer)
		}
	}
	var got struct{ Content []json.RawMessage }
	if err := json.Unmarshal(answer, &got); err != nil {
		c.t.Fatal(err)
	}
	var call struct{ ID string }
	if err := json.Unmarshal(got.Content[len(got.Content)-1], &call); err != nil {
		c.t.Fatal(err)
	}
	content, err := json.Marshal(got.Content)
	if err != nil {
		c.t.Fatal(err)
	}
	result := strings.Repeat(fmt.Sprintf(`an order in part %d was checked against the books and found as it should be\n`, c.turns), lines)
	c.said = append(c.said, `{"role":"assistant","content":`+string(content)+`}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+call.ID+`","content":"`+result+`"}]}`)
	return true
}

// work is so many turns, of which none may fail.
func (c *muser) work(turns int) {
	c.t.Helper()
	for range turns {
		if !c.turn(60) {
			c.t.Fatalf("turn %d: %s", c.turns, c.refused[len(c.refused)-1])
		}
	}
}

// thoughtless is a message without what was thought in it.
func thoughtless(message string) string {
	var m struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	if json.Unmarshal([]byte(message), &m) != nil {
		return message
	}
	kept := m.Content[:0]
	for _, b := range m.Content {
		if gjson.GetBytes(b, "type").Str != "thinking" {
			kept = append(kept, b)
		}
	}
	m.Content = kept
	out, _ := json.Marshal(m)
	return string(out)
}

// thoughtsIn is how many answers in a body begin with thinking, and how many there are.
func thoughtsIn(body []byte) (thinking, answers int) {
	return bytes.Count(body, []byte(`"signature"`)), bytes.Count(body, []byte(`"tool_use"`))
}

// Where thinking is bound to what stands before it, and the model is known for that, no server refuses anything: what
// was thought behind a change goes with it, and what is thought later stays, over restarts too.
func TestThinkingIsSentBehindNothingElseThanItWasThoughtBehind(t *testing.T) {
	t.Parallel()
	c := musing(t, bindsThinking, func(*config.Config) {})
	taken := 0
	for turn := range 60 {
		c.work(1)
		if turn%20 == 19 {
			c.end()
			c.start()
		}
	}
	for _, r := range c.provider.Exchanges() {
		if r.Refusal != nil {
			t.Errorf("request %d is refused: %v", r.N, r.Refusal)
		}
		if thinking, answers := thoughtsIn(r.Body); thinking < answers {
			taken++
		} else if taken > 0 && r.N > 3 {
			t.Errorf("request %d has all thoughts again", r.N)
		}
	}
	all := c.provider.Exchanges()
	if thinking, _ := thoughtsIn(all[len(all)-1].Body); taken == 0 || thinking == 0 {
		t.Errorf("%d requests are without some thinking, and the last one has %d thoughts", taken, thinking)
	}
}

// A question about the conversation has its thinking where it was thought, and none elsewhere.
func TestSummariesAreAskedForBehindBoundThinking(t *testing.T) {
	t.Parallel()
	c := musing(t, bindsThinking, func(conf *config.Config) {
		conf.Summarize.Mode, conf.Summarize.Prepare = summarize.LLM, summarize.PrepareOn
		conf.Window.Models = map[string]unit.Tokens{"claude-*": 48_000}
	})
	c.tells = strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 30)
	c.work(80)
	asked, thought := 0, 0
	for _, r := range c.provider.Exchanges() {
		if r.Refusal != nil {
			t.Errorf("request %d is refused: %v", r.N, r.Refusal)
		}
		if asksForSummary(r.Body) {
			thinking, _ := thoughtsIn(r.Body)
			asked, thought = asked+1, thought+thinking
		}
	}
	if asked == 0 || thought == 0 {
		t.Errorf("asked %d times, with %d thoughts", asked, thought)
	}
}

// A model that nobody knows to bind its thinking refuses once, which the client does not see. That is remembered.
func TestThatThinkingIsBoundIsLearned(t *testing.T) {
	t.Parallel()
	c := musing(t, mayBind, func(*config.Config) {})
	c.work(30)
	once := len(c.provider.Refusals())
	c.end()
	c.start()
	c.said, c.turns = c.said[:1], 0
	c.work(30)
	if n := len(c.provider.Refusals()); once != 1 || n != 1 {
		t.Errorf("refused %d times, then %d in all: %v", once, n, c.provider.Refusals())
	}
}

// Where thinking is not bound it stays with all that is sent.
func TestThinkingThatIsNotBoundStays(t *testing.T) {
	t.Parallel()
	c := musing(t, neverBinds, func(*config.Config) {})
	c.work(60)
	for _, r := range c.provider.Exchanges() {
		if thinking, answers := thoughtsIn(r.Body); r.Refusal != nil || thinking != answers {
			t.Errorf("request %d has %d thoughts of %d: %v", r.N, thinking, answers, r.Refusal)
		}
	}
}

// Who leaves epitome in mid-conversation meets one refusal, in the provider's words: what was thought behind a
// rewritten beginning does not stand behind the original. A client that heals itself by these words goes on, there and
// when it comes back. Another one does not, until it comes back.
func TestLeavingEpitomeInTheMiddleOfAConversation(t *testing.T) {
	t.Parallel()
	const words = "The block is bound to a different conversation. Remove the block"
	for _, heals := range []bool{true, false} {
		c := musing(t, bindsThinking, func(*config.Config) {})
		c.heals = heals
		c.work(30)
		c.mode = "off"
		went := c.turn(60)
		if went != heals || len(c.refused) != 1 || !strings.Contains(c.refused[0], words) {
			t.Fatalf("heals %v: it goes on %v, refused %v", heals, went, c.refused)
		}
		if heals {
			c.work(3)
		}
		c.mode = ""
		c.work(10)
		if len(c.refused) != 1 {
			t.Errorf("heals %v: refused %v", heals, c.refused)
		}
	}
}
