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

// recordCut writes that a provider has cut a request without a word.
func (r *Recorder) recordCut(e event.Exchange) {
	if e.Cut == 0 {
		return
	}
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", "the provider counted far fewer tokens than were sent: it seems to cut requests without a word")
	f.number("tokens", e.TokensAfter.Total())
	f.number("tokens_counted", e.TokensUsed)
	f.number("window", e.Window)
	f.number("window_learned", e.Cut)
	r.log.LogAttrs(context.Background(), slog.LevelWarn, event.ContextWindowWarning, f...)
}
