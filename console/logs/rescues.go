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

// hintLine is the line of what an answer's usage tells of the window.
type hintLine struct {
	level  slog.Level
	msg    string
	reason string
	field  string // of the window
}

// lineOf is the line of a hint; ok is false where there is none.
func lineOf(kind event.HintKind) (l hintLine, ok bool) {
	switch kind {
	case event.Suspected:
		return hintLine{slog.LevelWarn, event.ContextWindowWarning, "the provider counted far fewer tokens than were sent: " +
			"it may cut requests without a word; the window is learned only if the next such answer tells the same and none counts more",
			"window_suspected"}, true
	case event.Learned:
		return hintLine{slog.LevelWarn, event.ContextWindowWarning, "the provider counted far fewer tokens than were sent, " +
			"as in an answer before: it seems to cut requests without a word", "window_learned"}, true
	case event.Refuted:
		return hintLine{slog.LevelInfo, event.ContextWindowCorrected,
			"an answer is to more tokens than this window has: it counts no longer", "window_refuted"}, true
	}
	return hintLine{}, false
}

// recordHint writes what an answer's usage tells of the window.
func (r *Recorder) recordHint(e *event.Exchange) {
	l, ok := lineOf(e.Hint.Kind)
	if !ok {
		return
	}
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", l.reason)
	f.number("tokens", e.TokensAfter.Total())
	f.number("tokens_counted", e.TokensUsed)
	f.number("window", e.Window)
	f.number(l.field, int(e.Hint.Tokens))
	r.log.LogAttrs(context.Background(), l.level, l.msg, f...)
}
