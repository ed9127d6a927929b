package story

import (
	"testing"

	"epitome/event"
)

// What went wrong is listed whatever conversation it is of, the newest first, with what earlier processes have seen.
func TestWhatWentWrongIsListed(t *testing.T) {
	folder := t.TempDir()
	d, r := cast(23), keeping(t, folder, noon)
	f := func(events int) {
		t.Helper()
		d.record(r, events)
		var want []event.Exchange
		behind, _, _ := r.Since(0)
		for _, n := range behind {
			e := n.Exchange
			if e != nil && (e.Status >= 400 || e.Fault != event.None || e.Action == event.ActionBypass) {
				want = append([]event.Exchange{*e}, want...)
			}
		}
		want = want[:min(len(want), mostTroubles)]
		got := r.Troubles()
		if len(got) != len(want) {
			t.Fatalf("%d went wrong, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i].Seq != want[i].Seq || got[i].Err != want[i].Err || got[i].Conversation != want[i].Conversation {
				t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
			}
		}
	}
	f(0)
	f(30)
	r.Close()
	r = keeping(t, folder, r.now.Load())
	f(0)
	f(30)
	f(300)
}
