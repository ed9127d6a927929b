package rewrite_test

import (
	"context"
	"testing"

	"epitome/rewrite"
)

// An ask is taken by one request of its conversation: not by a count, nor by one for which no time is left or whose client
// leaves.
func TestAskIsTakenOnce(t *testing.T) {
	h := newHistory(t, "chat", 1_000_000)
	_, r := h.turn(20, 1)
	id := r.Conversation
	h.Ask(id, rewrite.Ask{Focus: "the names"})
	for name, set := range map[string]func(*rewrite.Input){
		"count": func(in *rewrite.Input) { in.Replay = true },
		"busy":  func(in *rewrite.Input) { in.Places = rewrite.NewPlaces(1, 0) },
		"left": func(in *rewrite.Input) {
			in.Client, h.model.leave = context.WithCancel(t.Context())
		},
	} {
		h.user()
		in := inputOf("chat", h.talk, &h.limits)
		in.Now = h.storage.now
		set(&in)
		out := h.Shape(in)
		h.model.leave = nil
		if out.Report.Compacted > 0 || !h.IsAsked(id) {
			t.Errorf("%s: compacted %d, %v", name, out.Report.Compacted, out.Report.Err)
		}
	}
	if _, r, _ = h.send(); r.Compacted == 0 || r.Conversation != id || h.IsAsked(id) {
		t.Errorf("the next request: compacted %d, %s", r.Compacted, r.Reason)
	}
	if _, r = h.turn(1, 1); r.Compacted > 0 || r.Action != "compact" {
		t.Errorf("the one after it: compacted %d anew, %s", r.Compacted, r.Action)
	}
}
