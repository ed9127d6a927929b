package logs

import (
	"context"
	"log/slog"

	"epitome/event"
)

// RecordCompaction writes of a step of a compaction.
func (r *Recorder) RecordCompaction(e event.Compaction) {
	level := slog.LevelInfo
	if e.Kind == event.CompactionFailed {
		level = slog.LevelWarn
	}
	var f fields
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", e.Reason)
	f.text("mode", e.Mode)
	f.text("detail", e.Detail)
	f.number("messages_before", e.MessagesBefore)
	f.number("messages_after", e.MessagesAfter)
	f.number("tokens_before", e.TokensBefore)
	f.number("tokens_after", e.TokensAfter)
	f.number("turns_kept", e.TurnsKept)
	f.number("files", e.Files)
	f.yes("prepared", e.Prepared)
	f.cost(e.Cost)
	f.text("why", e.Why)
	r.log.LogAttrs(context.Background(), level, e.Kind, f...)
}

// RecordSummary writes of a step of a job that asks a model.
func (r *Recorder) RecordSummary(e event.Summary) {
	level := slog.LevelInfo
	if e.Kind == event.SummaryFailed {
		level = slog.LevelWarn
	}
	var f fields
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("detail", e.Detail)
	f.text("way", e.Way)
	f.yes("update", e.Update)
	f.yes("prepared", e.Prepared)
	f.number("span_tokens", e.SpanTokens)
	f.number("tokens", e.Tokens)
	f.cost(e.Cost)
	f.text("reason", e.Reason)
	r.log.LogAttrs(context.Background(), level, e.Kind, f...)
}

// RecordWarning writes of a warning about a conversation.
func (r *Recorder) RecordWarning(e event.Warning) {
	var f fields
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", e.Reason)
	f.number("window", e.Window)
	f.number("usable", e.Usable)
	f.number("tokens", e.Tokens)
	f.number("messages", e.Messages)
	f.yes("latest", e.Latest)
	r.log.LogAttrs(context.Background(), slog.LevelWarn, event.ContextWindowWarning, f...)
}
