package logs

import (
	"context"
	"log/slog"

	"epitome/event"
)

// recordRescue writes what was done about a refusal.
func (r *Recorder) recordRescue(e event.Exchange) {
	rescue := e.Rescue
	if rescue.Kind == "" {
		return
	}
	level := slog.LevelWarn
	if rescue.Rescued {
		level = slog.LevelInfo
	}
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("verdict", rescue.Kind)
	f.text("outcome", rescue.Outcome())
	f.number("tries", rescue.Tries)
	f.text("stages", rescue.Stages)
	f.number("tokens_before", rescue.TokensBefore)
	f.number("tokens_after", rescue.TokensAfter)
	f.number("window_before", rescue.WindowBefore)
	f.number("window_learned", rescue.WindowAfter)
	r.log.LogAttrs(context.Background(), level, "rescue", f...)
}

// Reasons of the line of an answer whose usage counts far fewer tokens than were sent.
const (
	seemsCut = "the provider counted far fewer tokens than were sent, as in the answer before: it seems to cut requests " +
		"without a word"
	maybeCut = "the provider counted far fewer tokens than were sent: it may cut requests without a word; the window is " +
		"learned only if the next such answer tells the same and none counts more"
)

// recordHint writes what an answer's usage tells of the window.
func (r *Recorder) recordHint(e event.Exchange) {
	if e.Hint == (event.Hint{}) {
		return
	}
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	level, what := slog.LevelWarn, event.ContextWindowWarning
	switch {
	case e.Hint.Refuted != 0:
		level, what = slog.LevelInfo, event.ContextWindowCorrected
		f.text("reason", "an answer is to more tokens than this window has: it counts no longer")
	case e.Hint.Learned:
		f.text("reason", seemsCut)
	default:
		f.text("reason", maybeCut)
	}
	f.number("tokens", e.TokensAfter.Total())
	f.number("tokens_counted", e.TokensUsed)
	f.number("window", e.Window)
	switch {
	case e.Hint.Refuted != 0:
		f.number("window_refuted", e.Hint.Refuted)
	case e.Hint.Learned:
		f.number("window_learned", e.Hint.Cut)
	default:
		f.number("window_suspected", e.Hint.Cut)
	}
	r.log.LogAttrs(context.Background(), level, what, f...)
}
