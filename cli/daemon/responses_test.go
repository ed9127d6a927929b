package daemon

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/summarize"
	"epitome/tokenize"
)

// solver is an agent that speaks Responses as Codex does: each turn the model thinks, says something and calls its
// shell, and gets a long result. All of it is sent back with each request.
type solver struct {
	t        *testing.T
	provider *fakeapi.Provider
	url      string
	model    string
	stream   bool
	packs    bool   // what is sent is compressed
	settings string // of its requests, each with a comma behind
	tells    string // what the model says before it calls
	lines    int    // of a result
	said     []string
	turns    atomic.Int64
	acted    map[string]int // what epitome did, by its header
}

const plainSettings = `"store":false,"include":["reasoning.encrypted_content"],"parallel_tool_calls":true,` +
	`"prompt_cache_key":"k1","tool_choice":"auto",`

// solving starts one, with a daemon as it comes before a strict server.
func solving(t *testing.T, o fakeapi.Options, change func(*config.Config)) *solver {
	t.Helper()
	c := &solver{t: t, acted: map[string]int{}, model: "gpt-5", stream: true, lines: 60, settings: plainSettings}
	c.said = []string{
		`{"type":"message","id":"msg_a","role":"developer","content":[{"type":"input_text","text":"You are an agent."}]}`,
		`{"type":"message","id":"msg_b","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/shop</cwd>\n</environment_context>"}]}`,
		`{"type":"message","id":"msg_c","role":"user","content":[{"type":"input_text","text":"Mend the shop."}]}`,
	}
	var counters tokenize.Counters
	o.Count = CountIn(tokenize.O200k, &counters)
	o.Answer = func(x fakeapi.Exchange) []fakeapi.Part {
		if asksForSummary(x.Body) {
			return []fakeapi.Part{fakeapi.Text(wellSummed)}
		}
		return []fakeapi.Part{fakeapi.Think("hm"), fakeapi.Text("So. " + c.tells),
			fakeapi.Call("", "shell", fmt.Sprintf(`{"command":"go test ./shop/part%d"}`, c.turns.Load()))}
	}
	c.provider = fakeapi.StartProvider(t, o)
	c.url = serving(t, c.provider.URL, change) + "/v1/responses"
	return c
}

// body is the next request.
func (c *solver) body(more ...string) string {
	return fmt.Sprintf(`{"model":%q,"stream":%v,%s"tools":[{"type":"function","name":"shell","parameters":`+
		`{"type":"object","properties":{"command":{"type":"string"}}}}],"input":[%s]}`,
		c.model, c.stream, c.settings, strings.Join(append(c.said[:len(c.said):len(c.said)], more...), ","))
}

// post sends a request, and returns what epitome did with it, and the answer.
func (c *solver) post(path, body string) (resp *http.Response, answer []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.packs {
		packer, err := zstd.NewWriter(nil)
		if err != nil {
			c.t.Fatal(err)
		}
		packed := packer.EncodeAll([]byte(body), nil)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(packed)), int64(len(packed))
		req.Header.Set("Content-Encoding", "zstd")
	}
	req.Header.Set("Authorization", "Bearer sk-client")
	req.Header.Set("Content-Type", "application/json")
	if resp, err = http.DefaultClient.Do(req); err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		c.t.Fatal(err)
	}
	return resp, answer
}

// turn has the model call its shell once, and fails if the agent would see an error.
func (c *solver) turn() {
	c.t.Helper()
	c.turns.Add(1)
	resp, answer := c.post("", c.body())
	items, id := answered(answer)
	if call := gjson.Get(strings.Join(items, "\n"), `..#(type=="function_call").call_id`).Str; resp.StatusCode != 200 || call == "" {
		c.t.Fatalf("turn %d: %d %.900s", c.turns.Load(), resp.StatusCode, answer)
	}
	c.acted[resp.Header.Get("x-epitome-action")]++
	c.goOn(items, id)
}

// goOn takes what the model said and gives it the results.
func (c *solver) goOn(items []string, id string) {
	result := strings.Builder{}
	for n := range c.lines {
		fmt.Fprintf(&result, `the refund of order %d in part %d was checked against the books and found as it should be\n`, n, c.turns.Load())
	}
	var outputs []string
	for _, item := range items {
		if gjson.Get(item, "type").Str == "function_call" {
			outputs = append(outputs, fmt.Sprintf(`{"type":"function_call_output","id":"fco_%d","call_id":%q,"output":"Exit code: 0\nOutput:\n%s"}`,
				c.turns.Load(), gjson.Get(item, "call_id").Str, result.String()))
		}
	}
	if strings.Contains(c.settings, "previous_response_id") || strings.Contains(c.settings, `"store":true`) {
		c.settings = fmt.Sprintf(`"store":true,"previous_response_id":%q,`, id)
		c.said = outputs
		return
	}
	c.said = append(append(c.said, items...), outputs...)
}

// answered are the items of an answer, and its id. A stream begins once, and counts its events.
func answered(answer []byte) (items []string, id string) {
	if gjson.ValidBytes(answer) {
		for _, item := range gjson.GetBytes(answer, "output").Array() {
			items = append(items, item.Raw)
		}
		return items, gjson.GetBytes(answer, "id").Str
	}
	n, begun := int64(0), 0
	for line := range strings.Lines(string(answer)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		e := gjson.Parse(data)
		if e.Get("sequence_number").Int() != n {
			return nil, "events out of order"
		}
		switch n++; e.Get("type").Str {
		case "response.created":
			begun++
		case "response.output_item.done":
			items = append(items, e.Get("item").Raw)
		case "response.completed":
			id = e.Get("response.id").Str
		}
	}
	if begun != 1 || id == "" {
		return nil, strconv.Itoa(begun) + " beginnings"
	}
	return items, id
}

// Whatever the server says when its window is full, the agent meets no error, and no rewrite breaks a rule.
func TestAgentsOfResponsesOutgrowAWindowThatNobodyKnows(t *testing.T) {
	t.Parallel()
	for name, overflow := range map[string]fakeapi.Overflow{
		"too long": fakeapi.SaysTooLong, "too large": fakeapi.TooLarge, "through LiteLLM": fakeapi.SaysLiteLLM,
		"by llama.cpp": fakeapi.SaysLlama, "by vLLM": fakeapi.SaysVLLM, "by failing": fakeapi.FailsInStream,
		"without words": fakeapi.FailsWithoutWords, "by an error": fakeapi.ErrorInStream, "by another": fakeapi.ErrorObject,
		"by ending": fakeapi.EndsAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams := []bool{true, false}
			if overflow != fakeapi.SaysTooLong && overflow != fakeapi.EndsAtOnce { // whole, it is one of these
				streams = streams[:1]
			}
			for _, stream := range streams {
				m := fakeapi.ModelOf("gpt-5")
				m.Window, m.Overflow = 40_000, overflow
				c := solving(t, fakeapi.Options{Models: map[string]fakeapi.Model{"gpt-5": m}}, func(*config.Config) {})
				c.stream, c.packs = stream, stream
				for range 32 {
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

// A model is asked for a summary in the conversation's own dialect, with the client's credential, behind what is
// cached. The provider keeps nothing of it.
func TestSummariesOfResponsesAreAskedForInTheirOwnDialect(t *testing.T) {
	t.Parallel()
	c := solving(t, fakeapi.Options{Key: "sk-client"}, func(conf *config.Config) {
		conf.Window.Models = map[string]unit.Tokens{"gpt-5": 32_000}
		conf.Summarize.Mode = summarize.LLM
		conf.Summarize.Prepare = summarize.PrepareOn
	})
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
			asked++
			settings := gjson.GetManyBytes(r.Body, "store", "tool_choice", "stream", "prompt_cache_key", "tools.0.name")
			if got := fmt.Sprint(settings); got != "[false none  k1 shell]" || r.Usage.Read < r.Tokens/2 {
				t.Errorf("of %d tokens of the question %d were read from the cache; its settings are %s", r.Tokens, r.Usage.Read, got)
			}
		case bytes.Contains(r.Body, []byte("check the next part")):
			seen++
		}
	}
	if asked == 0 || seen == 0 {
		t.Errorf("asked %d times, and %d requests have the answer; acted %v", asked, seen, c.acted)
	}
}

// A size that is asked for, and a compaction by the provider, are of what is sent, and change nothing.
func TestRequestsBesideResponsesAreOfWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/input_tokens", "/compact"} {
		c := solving(t, fakeapi.Options{}, func(conf *config.Config) {
			conf.Window.Models = map[string]unit.Tokens{"gpt-5": 16_000}
		})
		c.stream, c.settings = false, ""
		for range 30 {
			body := c.body()
			c.turn()
			resp, answer := c.post(path, strings.Replace(body, `"stream":false,`, "", 1))
			if resp.StatusCode != 200 {
				t.Fatalf("%s: %d %s", path, resp.StatusCode, answer)
			}
		}
		all, shorter := c.provider.Exchanges(), 0
		for i := 0; i+1 < len(all); i += 2 {
			sent := strings.Replace(string(all[i].Body), `"stream":false,`, "", 1)
			if sent != string(all[i+1].Body) {
				t.Errorf("request %d is asked about as %.300s, and was sent as %.300s", i, all[i+1].Body, sent)
			}
			if strings.Contains(sent, "epitome") {
				shorter++
			}
		}
		if shorter == 0 || len(all) != 60 {
			t.Errorf("%s: %d requests, %d shorter; acted %v", path, len(all), shorter, c.acted)
		}
	}
}

// What lies with the provider is left there: results are shortened when they come, and nothing else changes.
func TestSessionsThatLieWithTheProviderAreShortenedAsTheyCome(t *testing.T) {
	m := fakeapi.ModelOf("gpt-5")
	m.Window = 60_000
	c := solving(t, fakeapi.Options{Models: map[string]fakeapi.Model{"gpt-5": m}}, func(conf *config.Config) {
		conf.Window.Models = map[string]unit.Tokens{"gpt-5": 8_000}
	})
	c.settings, c.lines = `"store":true,`, 300
	for range 20 {
		c.turn()
	}
	refused := c.provider.Refusals()
	if len(refused) > 0 || c.acted["offload"] < 15 || c.acted["clear"]+c.acted["compact"]+c.acted["rescue"] > 0 {
		t.Errorf("refused %v, acted %v", refused, c.acted)
	}
	for _, r := range c.provider.Exchanges()[1:] {
		if n := gjson.GetBytes(r.Body, "input.#").Int(); n != 1 || r.Usage.Input < 100 {
			t.Errorf("request %d has %d items, and %+v", r.N, n, r.Usage)
		}
	}
}

// A client that has the provider compact gets one compaction, and goes on behind it.
func TestClientsMayHaveTheProviderCompact(t *testing.T) {
	c := solving(t, fakeapi.Options{}, func(conf *config.Config) {
		conf.Window.Models = map[string]unit.Tokens{"gpt-5": 32_000}
	})
	for range 3 {
		for range 12 {
			c.turn()
		}
		resp, answer := c.post("", c.body(`{"type":"compaction_trigger"}`))
		items, _ := answered(answer)
		if resp.StatusCode != 200 || len(items) != 1 || gjson.Get(items[0], "type").Str != "compaction" {
			t.Fatalf("%d %.600s", resp.StatusCode, answer)
		}
		c.said = append(c.said[:3:3], items[0])
	}
	all := c.provider.Exchanges()
	for _, r := range all {
		n := gjson.GetBytes(r.Body, "input.#").Int()
		last := gjson.GetBytes(r.Body, fmt.Sprintf("input.%d.type", n-1)).Str
		if asks := bytes.Contains(r.Body, []byte("compaction_trigger")); r.Refusal != nil || asks != (last == "compaction_trigger") {
			t.Errorf("request %d ends in %s: %v", r.N, last, r.Refusal)
		}
	}
}
