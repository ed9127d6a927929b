package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/proxy"
)

// silent is an epitome whose upstream answers 500, in front of models that hold 128k tokens.
func silent(t *testing.T, changes ...func(*config.Config)) *program {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
	t.Cleanup(up.Close)
	return run(t, t.TempDir(), up.URL+"/v1", append(changes, func(c *config.Config) {
		c.Window.Models = map[string]unit.Tokens{"*": 128_000}
	})...)
}

// worked are the messages of an agent that has run so many commands, each with a result of about 800 tokens.
func worked(commands int) string {
	all := []string{`{"role":"system","content":"Be kind."}`, `{"role":"user","content":"Fix the shop."}`}
	for i := range commands {
		var result strings.Builder
		for line := range 40 {
			fmt.Fprintf(&result, "part %d of the shop, line %d: the price of item %d was read again\n", i, line, i*line)
		}
		all = append(all, fmt.Sprintf(`{"role":"assistant","content":"So.","tool_calls":[{"id":"c%d","type":"function",`+
			`"function":{"name":"bash","arguments":"{\"command\":\"go test ./part%[1]d\"}"}}]},`+
			`{"role":"tool","tool_call_id":"c%[1]d","content":%s}`, i, quoted(result.String())))
	}
	return strings.Join(all, ",")
}

// A compaction that is asked for reaches the size that the client names, by the query or by a header; or says why not.
func TestCompactionToASize(t *testing.T) {
	t.Parallel()
	p := silent(t, func(c *config.Config) { c.Rewrite.Rent = 0 })
	body := `{"model":"gpt-4o","messages":[` + worked(40) + `]}`
	for _, c := range []struct {
		path, header string
		status, most int
		reason       string
	}{
		{"/-/compact?to=8000", "X: y", 200, 8000, ""},
		{"/-/compact?to=8k&receipt=1", "X: y", 200, 8000, ""},
		{"/-/compact", "x-epitome-compact: now; to=8k; focus=prices", 200, 8000, ""},
		{"/-/compact", "X: y", 200, 35_000 * 3 / 5, ""},
		{"/-/compact?to=200", "X: y", 200, 2000, "the aim was 200 tokens, and "},
		{"/-/compact?to=some", "X: y", 400, 0, "write a number of tokens as to"},
		{"/-/compact?to=0", "X: y", 400, 0, "write a number of tokens as to"},
		{"/-/compact", "x-epitome-compact: now; to=-5", 400, 0, "write a number of tokens as to"},
		{"/v1/chat/completions", "x-epitome-compact: now; to=8000", 500, 8000, ""},
		{"/v1/chat/completions", "x-epitome-compact: now; to=200", 500, 2000, "the aim was 200 tokens, and "},
		{"/v1/chat/completions", "x-epitome-compact: now; to=", 400, 0, "write now"},
	} {
		resp, answer := post(t, p.url+c.path, body, c.header)
		var before, after int
		_, _ = fmt.Sscanf(resp.Header.Get("x-epitome-tokens"), "%d>%d", &before, &after)
		if resp.StatusCode != c.status || c.status != 400 && (before < 34_000 || after > c.most || after < 1000) {
			t.Errorf("%s, %s: %s, %d>%d tokens, %.300s", c.path, c.header, resp.Status, before, after, answer)
		}
		if strings.Contains(c.path, "receipt") && !strings.Contains(answer, `"receipt":[{"kind":"messages","all":`) {
			t.Errorf("%s: got %.300s", c.path, answer)
		}
		reason := resp.Header.Get("x-epitome-reason")
		if c.status == 400 {
			reason = answer
		}
		if !strings.Contains(reason, c.reason) || c.reason == "" && reason != "" {
			t.Errorf("%s, %s: the reason is %q", c.path, c.header, reason)
		}
	}
}

// LiteLLM's guardrail "headroom" (litellm/proxy/guardrails/guardrail_hooks/headroom/headroom.py) is told an api_base
// and maybe an api_key. It posts to api_base + "/v1/compress", with Content-Type: application/json and Authorization:
// Bearer KEY, {"messages": [...], "model": "..."}; the model may be missing. It takes "messages", which must be a list of
// objects that is not empty, and "tokens_before", "tokens_after", "tokens_saved", "compression_ratio" and
// "transforms_applied" where they are there. For what was taken out it gets api_base + "/v1/retrieve/" + HASH, maybe
// with ?query=, and takes "original_content". Other callers read "ccr_hashes".
type compressed struct {
	Messages   []json.RawMessage `json:"messages"`
	Before     int               `json:"tokens_before"`
	After      int               `json:"tokens_after"`
	Saved      int               `json:"tokens_saved"`
	Ratio      float64           `json:"compression_ratio"`
	Transforms []string          `json:"transforms_applied"`
	Hashes     []string          `json:"ccr_hashes"`
}

// compress asks as LiteLLM does.
func (p *program) compress(messages string, lines ...string) (c compressed) {
	p.t.Helper()
	resp, answer := post(p.t, p.url+"/-/v1/compress", `{"messages": [`+messages+`], "model": "gpt-4o"}`, lines...)
	if err := json.Unmarshal([]byte(answer), &c); err != nil || resp.StatusCode != 200 || len(c.Messages) == 0 {
		p.t.Fatalf("%s, %v: %.500s", resp.Status, err, answer)
	}
	return c
}

// A gateway that has its conversations shortened gets the same bytes for the same messages as a conversation grows,
// also over a restart; below the lines nothing changes. What was taken out can be had whole.
func TestGatewayAsksForShorterMessages(t *testing.T) {
	t.Parallel()
	p := silent(t)
	if small := p.compress(worked(3)); small.Saved != 0 || fmt.Sprintf("%s", small.Messages) !=
		strings.ReplaceAll("["+worked(3)+"]", "},{\"role\"", "} {\"role\"") {
		t.Errorf("a small conversation is changed: %d, %s", small.Saved, small.Messages)
	}
	var last compressed
	for commands := 10; commands <= 200; commands += 10 {
		if commands == 100 {
			p.stop()
			p = run(t, p.started.Data, p.started.Upstreams["up"].URL, func(c *config.Config) {
				c.Window.Models = map[string]unit.Tokens{"*": 128_000}
			})
		}
		c := p.compress(worked(commands))
		same := 0
		for same < min(len(c.Messages), len(last.Messages)) && string(c.Messages[same]) == string(last.Messages[same]) {
			same++
		}
		stubs := 0 // messages up to the last one that was shortened before
		for i, m := range last.Messages {
			if strings.Contains(string(m), "[epitome") {
				stubs = i + 1
			}
		}
		if same < len(last.Messages) && c.After >= last.After || same < stubs {
			t.Errorf("%d commands: only %d of %d messages are the same, of %d that were shortened; %d > %d tokens",
				commands, same, len(last.Messages), stubs, last.After, c.After)
		}
		if again := p.compress(worked(commands)); fmt.Sprint(again) != fmt.Sprint(c) {
			t.Errorf("%d commands: asked again, the answer is another", commands)
		}
		last = c
	}
	if last.Before < 150_000 || last.After > 110_000 || last.Saved != last.Before-last.After || last.Ratio > 0.7 ||
		len(last.Transforms) == 0 || len(last.Hashes) == 0 {
		t.Errorf("%d > %d tokens, %d saved, ratio %v, %q, %d hashes", last.Before, last.After, last.Saved, last.Ratio,
			last.Transforms, len(last.Hashes))
	}
	all := ""
	for _, hash := range last.Hashes {
		all += p.get("/-/v1/retrieve/"+hash+"?query=price", "original_content")
	}
	for part := range 100 {
		want := fmt.Sprintf("part %d of the shop, line 39: the price of item %d was read again", part, 39*part)
		if !strings.Contains(all+fmt.Sprintf("%s", last.Messages), want) {
			t.Errorf("part %d is lost", part)
		}
	}
	if got := p.get("/-/v1/retrieve/abcdefghijklmnopqrstuvwxyz", "error.code"); got != "console" {
		t.Errorf("an unknown name has %q", got)
	}
	if resp, answer := post(t, p.url+"/-/v1/compress", `{"messages":[`+worked(2)+`]}`); resp.StatusCode != 200 {
		t.Errorf("without a model: %s, %s", resp.Status, answer)
	}
	for _, body := range []string{``, `{}`, `[]`, `{"messages":7}`, `{"model":"m","input":"a"}`,
		`{"messages":[],"model":"m"}`} {
		resp, answer := post(t, p.url+"/-/v1/compress", body)
		if resp.StatusCode != 400 || gjson.Get(answer, "error.message").Str == "" {
			t.Errorf("%s: %s, %s", body, resp.Status, answer)
		}
	}
}

// get returns a field of a JSON answer.
func (p *program) get(path, field string) string {
	p.t.Helper()
	req, _ := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	resp, err := fakeapi.Direct().Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return gjson.GetBytes(text, field).Str
}

// Where clients have keys, a gateway is one of them: its key suffices, also where there is an admin token, and nothing
// less does.
func TestGatewaysHaveKeys(t *testing.T) {
	t.Parallel()
	key := proxy.NewKey()
	const held = "Authorization: Bearer sk-epitome-HELD" // of a client that may use one upstream
	p := silent(t, func(c *config.Config) {
		c.Upstreams["other"] = c.Upstreams["up"]
		c.Clients = map[string]proxy.ClientConfig{
			"litellm": {Keys: []string{proxy.HashOfKey(key)}},
			"held":    {Keys: []string{proxy.HashOfKey("sk-epitome-HELD")}, Upstreams: []string{"other"}},
		}
		c.Console.Token = "a-long-admin-token"
	})
	p.compress(worked(2), "Authorization: Bearer "+key)
	for line, want := range map[string]int{"X: y": 401, "Authorization: Bearer sk-other": 401} {
		if resp, answer := post(t, p.url+"/-/v1/compress", `{"messages":[`+worked(1)[:200], line); resp.StatusCode != want {
			t.Errorf("%s: %s, %s", line, resp.Status, answer)
		}
	}
	for query, want := range map[string]int{"?upstream=other": 200, "?upstream=up": 403, "": 403} {
		resp, answer := post(t, p.url+"/-/v1/compress"+query, `{"model":"gpt-4o","messages":[`+worked(2)+`]}`, held)
		if resp.StatusCode != want {
			t.Errorf("%q of a client that may use another upstream: %s, %.300s", query, resp.Status, answer)
		}
	}
	if resp, _ := post(t, p.url+"/-/compact", `{}`, "Authorization: Bearer "+key); resp.StatusCode != 401 {
		t.Errorf("a client's key opens /-/compact: %s", resp.Status)
	}
}
