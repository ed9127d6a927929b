package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite"
	"epitome/tokenize"
)

// What a model has thought is a part of the request that it is sent in, under whichever name: texts by their tokens,
// what is encrypted by its size.
func TestReasoningIsCounted(t *testing.T) {
	text := strings.Repeat("I wonder whether this is the place to look at. ", 400)
	sealed := "gAAAA" + strings.Repeat("Bo7x", 4000)
	bodies := map[string]string{
		"chat": `{"model":"gpt-5","messages":[{"role":"user","content":"Mend it."},` +
			`{"role":"assistant","content":"So."%s},{"role":"user","content":"Go on."}]}`,
		"messages": `{"model":"gpt-5","max_tokens":9,"messages":[{"role":"user","content":"Mend it."},` +
			`{"role":"assistant","content":[%s{"type":"text","text":"So."}]},{"role":"user","content":"Go on."}]}`,
		"responses": `{"model":"gpt-5","input":[{"role":"user","content":"Mend it."},%s` +
			`{"role":"assistant","content":"So."},{"role":"user","content":"Go on."}]}`,
	}
	limits, s := defaultLimits(), newStorage()
	p := start(s)
	p.window.Store(200_000)
	count := func(api, reasoning string) int {
		out := p.Shape(rewrite.Input{Dialect: dialects[api], Body: fmt.Appendf(nil, bodies[api], reasoning),
			Limits: &limits, Now: s.now})
		return out.Report.TokensBefore.Total()
	}
	f := func(api, form, value string) {
		t.Helper()
		want := tokenize.CountString(value)
		if value == sealed {
			want = len(sealed) * 3 / 4 / 4
		}
		got := count(api, strings.ReplaceAll(form, "VALUE", quoted(value))) - count(api, "")
		if got < want || got > want+30 {
			t.Errorf("%s: %s counts %d tokens, want %d", api, form, got, want)
		}
	}
	f("chat", `,"reasoning_content":VALUE`, text)
	f("chat", `,"reasoning":VALUE`, text)
	f("chat", `,"reasoning":VALUE,"reasoning_details":[]`, text)
	f("chat", `,"reasoning":VALUE,"reasoning_details":[{"type":"reasoning.text","text":VALUE,"signature":"s"}]`, text)
	f("chat", `,"reasoning_details":[{"type":"reasoning.summary","summary":"So."},`+
		`{"type":"reasoning.encrypted","data":VALUE}]`, sealed)
	f("chat", `,"reasoning_content":VALUE,"thinking_blocks":[{"type":"thinking","thinking":VALUE}]`, text)
	f("messages", `{"type":"thinking","thinking":VALUE,"signature":"s"},`, text)
	f("messages", `{"type":"thinking","thinking":"","signature":VALUE},`, sealed)
	f("messages", `{"type":"redacted_thinking","data":VALUE},`, sealed)
	f("responses", `{"type":"reasoning","summary":[],"content":null,"encrypted_content":VALUE},`, sealed)
	f("responses", `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":VALUE}]},`, text)
	f("responses", `{"type":"compaction","encrypted_content":VALUE},`, sealed)
	f("responses", `{"type":"function_call_output","call_id":"c","output":[{"type":"encrypted_content",`+
		`"encrypted_content":VALUE}]},`, sealed)
}
