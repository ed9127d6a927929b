package rewrite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/dialect/chat"
	"epitome/event"
	"epitome/rewrite"
)

// A conversation that fills four fifths of usable is warned of once, and again behind a compaction.
func TestNearTheEndOfAWindowIsWarnedOfOnce(t *testing.T) {
	p, limits := start(newStorage()), defaultLimits()
	p.window.Store(16_000)
	limits.KeepTail = 1_000
	var messages []string
	near, compactions, betweens := 0, 0, []int{}
	for i := range 160 {
		said := strings.Repeat(fmt.Sprintf("word%d other%d ", i, i), 40)
		messages = append(messages, `{"role":"user","content":"`+said+`"}`, `{"role":"assistant","content":"Yes."}`)
		body := `{"model":"m","messages":[` + strings.Join(messages, ",") + `,{"role":"user","content":"Go on."}]}`
		r := p.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(body), Limits: &limits}).Report
		if r.Compacted > 0 {
			compactions++
			betweens = append(betweens, near)
			near = 0
		}
		at := slices.IndexFunc(r.Warnings, func(w event.Warning) bool { return w.Reason == event.ReasonNear })
		if at < 0 {
			continue
		}
		near++
		if w := r.Warnings[at]; 5*w.Tokens < 4*r.Usable || w.Percent != 100*w.Tokens/r.Window {
			t.Errorf("warned of %+v, with %d usable of %d", w, r.Usable, r.Window)
		}
	}
	if compactions < 2 || slices.ContainsFunc(betweens, func(n int) bool { return n != 1 }) {
		t.Errorf("%v warnings before %d compactions", betweens, compactions)
	}
}
