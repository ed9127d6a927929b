package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"epitome/config"
	"epitome/internal/unit"
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
		{"/-/compact?to=8k", "X: y", 200, 8000, ""},
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
		reason := resp.Header.Get("x-epitome-reason")
		if c.status == 400 {
			reason = answer
		}
		if !strings.Contains(reason, c.reason) || c.reason == "" && reason != "" {
			t.Errorf("%s, %s: the reason is %q", c.path, c.header, reason)
		}
	}
}
