package logs

import (
	"context"
	"log/slog"

	"epitome/event"
)

// recordRescue writes what was done about a refusal.
func (r *Recorder) recordRescue(e *event.Exchange) {
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
	f.number("tries", int(rescue.Tries))
	f.text("stages", rescue.Stages)
	f.number("tokens_before", rescue.TokensBefore)
	f.number("tokens_after", rescue.TokensAfter)
	f.number("window_before", rescue.WindowBefore)
	f.number("window_learned", rescue.WindowAfter)
	r.log.LogAttrs(context.Background(), level, "rescue", f...)
}

// recordRefuted writes that an answer takes a window back.
func (r *Recorder) recordRefuted(e *event.Exchange) {
	if e.WindowRefuted == 0 {
		return
	}
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", "an answer is to more tokens than this window has: it counts no longer")
	f.number("tokens", e.TokensAfter.Total())
	f.number("tokens_counted", e.TokensUsed)
	f.number("window", e.Window)
	f.number("window_refuted", e.WindowRefuted)
	r.log.LogAttrs(context.Background(), slog.LevelInfo, event.ContextWindowCorrected, f...)
}
