package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

// A request that nobody could count in a second says so, and no model is told an estimate.
func TestAnEstimateIsToldAsOne(t *testing.T) {
	f := func(size int, want bool) {
		t.Helper()
		w := newBench(128_000)
		log := strings.Repeat("worker 17 is well and goes on with the next part of all its work\n", size/65)
		body := fmt.Sprintf(`{"model":"gpt-5","messages":[{"role":"user","content":"Go on."},{"role":"assistant","content":null,`+
			`"tool_calls":[{"id":"t","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat log\"}"}}]},`+
			`{"role":"tool","tool_call_id":"t","content":%q}]}`, log)
		out := w.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &w.limits})
		if out.Report.Err != nil || out.Report.Estimated != want || len(out.Report.Changes) != 1 {
			t.Errorf("%d bytes: %+v", size, out.Report)
		}
		tokens, told := fmt.Sprintf("%d bytes", len(log)), "has %d tokens"
		if got := strings.Contains(string(out.Body), tokens); got != want {
			t.Errorf("%d bytes: the model is told %q, not %q: %.2000s", size, tokens, told, out.Body)
		}
	}
	f(900_000, false)
	f(1_200_000, true)
}
