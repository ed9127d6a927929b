package rewrite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"epitome/internal/promisetest"
	"epitome/rewrite/chat"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

// What a provider takes after it has refused a request is recorded in the place of what it refused, however far the
// rescue went, and the report names it.
func TestARescueTakesThePlaceOfWhatWasRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"Fix it."}`)
	for i := range 40 {
		fmt.Fprintf(&b, `,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"bash","arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, i, strings.Repeat("all of it is well here. ", 120))
	}
	b.WriteString(`,{"role":"user","content":"` + strings.Repeat("And now do all the rest of it. ", 400) + `"}]}`)
	body := []byte(b.String())

	storage := promisetest.NewStorage()
	ask := func(by seam, r *Rescue) Output {
		by.window.Store(100_000)
		return by.Shaper.Shape(Input{Dialect: chat.Dialect{}, Body: body, Limits: seamLimits(promisetest.Limits{}), Rescue: r})
	}
	start := func() seam { return startSeam(t, storage).(seam) }
	shaper := start()
	first := ask(shaper, nil)
	for k, from := range []ladder.Stage{ladder.StageClear, ladder.StageCompact, ladder.StageUsers} {
		out := ask(shaper, &Rescue{Most: []int{15_000, 8_000, 2_000}[k], From: from})
		if out.Report.Err != nil || !out.Changed || out.Settle == nil || !out.Settle() {
			t.Fatalf("%s: %+v", from, out.Report)
		}
		d, found, err := ledger.New(storage.Store, promisetest.Keep).At(out.Report.Decision)
		if err != nil || !found || len(d.Edits) == 0 {
			t.Errorf("%s: the report names %q: %v, %v", from, out.Report.Decision, found, err)
		}
		again := ask(start(), nil)
		if !bytes.Equal(again.Body, out.Body) || bytes.Equal(again.Body, first.Body) {
			t.Errorf("%s: another process sends %d bytes, not %d", from, len(again.Body), len(out.Body))
		}
	}
}
