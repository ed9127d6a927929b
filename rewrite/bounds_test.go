package rewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/chat"
	"epitome/rewrite/plan/plantest"
)

// tidy is a shelf that copies nothing, as the real one.
type tidy struct{ *plantest.Cupboard }

func (tidy) Name(_ string, content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])[:plantest.NameLength]
}

func (tidy) Put(string, []byte, bool) error { return nil }

// A large result is read once, and what is left out is written once: what a request takes beside its body grows by
// little more than one copy of it. Before, it was four and six.
func TestALargeBodyIsCopiedOnce(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	result := `{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",` +
		`"function":{"name":"bash","arguments":"{\"command\":\"%s\"}"}}]},{"role":"tool","tool_call_id":"c","content":"%s"},`
	cost := func(items string) float64 {
		body := []byte(`{"model":"gpt-5","messages":[` + strings.TrimSuffix(items, ",") + `]}`)
		b := newBench(32_000)
		b.deps.Shelf = tidy{b.cupboard}
		b.shape(`{"model":"gpt-5","messages":[` + strings.TrimSuffix(fmt.Sprintf(result, "make", "ok"), ",") + `]}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out := b.Shape(Input{Dialect: chat.Dialect{}, Body: body, Upstream: "up", Limits: &b.limits})
		runtime.ReadMemStats(&after)
		if out.Report.Err != nil || !out.Changed {
			t.Fatalf("%v, %s", out.Report.Err, out.Report.Reason)
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body))
	}
	log := strings.Repeat(sessionLines(7, 1)[0], 300_000)
	if n := cost(fmt.Sprintf(result, "make", log)); n > 3.4 {
		t.Errorf("a result costs %.1f times its bytes", n)
	}
	argument := fmt.Sprintf(result, "echo "+strings.Repeat("all is well ", 1_500_000), "ok")
	behind := `{"role":"assistant","content":"Done."},{"role":"user","content":"On."},`
	if n := cost(argument + behind); n > 4.5 {
		t.Errorf("an argument costs %.1f times its bytes", n)
	}
}

// Of a conversation of very many items nothing is read, and nothing is decided where too many are new. One that grows
// goes on.
func TestItemsOfARequestAreBounded(t *testing.T) {
	talk := func(n int) string {
		one := `{"role":"user","content":"On."},{"role":"assistant","content":"Done."},`
		return `{"model":"gpt-5","messages":[` + strings.Repeat(one, n/2) + `{"role":"user","content":"On."}]}`
	}
	f := func(b *bench, n int, code event.Code, shaped bool) {
		t.Helper()
		out := b.shape(talk(n))
		if out.Report.Err != nil || out.Report.Code != code || out.Changed != shaped {
			t.Errorf("%d items: %s, %s, %v", n, out.Report.Action, out.Report.Reason, out.Report.Err)
		}
	}
	f(newBench(32_000), 20_000, event.NoCode, true)
	f(newBench(32_000), 40_000, event.CodeNotRead, false)
	f(newBench(32_000), 50_002, event.CodeNotRead, false)
	b := newBench(32_000)
	f(b, 20_000, event.NoCode, true)
	f(b, 40_000, event.NoCode, true)
}
