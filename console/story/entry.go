package story

import (
	"encoding/json"
	"strings"
	"time"

	"epitome/event"
	"epitome/event/codec"
)

// Entry is one event that was written down: one of its fields is set. As JSON it is a line of the log.
type Entry struct {
	Exchange   *event.Exchange   `json:"exchange,omitempty"`
	Compaction *event.Compaction `json:"compaction,omitempty"`
	Warning    *event.Warning    `json:"warning,omitempty"`
	Summary    *event.Summary    `json:"summary,omitempty"`
}

// Kinds of an Entry: what its one key is called.
const (
	KindExchange   = "exchange"
	KindCompaction = "compaction"
	KindWarning    = "warning"
	KindSummary    = "summary"
)

// Kind is which of its fields is set; empty if none is.
func (n Entry) Kind() string {
	switch {
	case n.Exchange != nil:
		return KindExchange
	case n.Compaction != nil:
		return KindCompaction
	case n.Warning != nil:
		return KindWarning
	case n.Summary != nil:
		return KindSummary
	}
	return ""
}

// Seq is the number of the event, from 1.
func (n Entry) Seq() uint64 {
	if seq := n.seq(); seq != nil {
		return *seq
	}
	return 0
}

func (n Entry) seq() *uint64 {
	switch {
	case n.Exchange != nil:
		return &n.Exchange.Seq
	case n.Compaction != nil:
		return &n.Compaction.Seq
	case n.Warning != nil:
		return &n.Warning.Seq
	case n.Summary != nil:
		return &n.Summary.Seq
	}
	return nil
}

// Time is when it happened; of an exchange, when it ended.
func (n Entry) Time() time.Time {
	switch {
	case n.Exchange != nil:
		return n.Exchange.Start.Round(0).Add(n.Exchange.Duration)
	case n.Compaction != nil:
		return n.Compaction.Time
	case n.Warning != nil:
		return n.Warning.Time
	case n.Summary != nil:
		return n.Summary.Time
	}
	return time.Time{}
}

// talk is the id of the conversation that it is of; empty if it is of none.
func (n Entry) talk() string {
	switch {
	case n.Exchange != nil:
		return n.Exchange.Conversation
	case n.Compaction != nil:
		return n.Compaction.Conversation
	case n.Warning != nil:
		return n.Warning.Conversation
	case n.Summary != nil:
		return n.Summary.Conversation
	}
	return ""
}

// Clone returns the entry as the caller may keep it.
func (n Entry) Clone() Entry {
	if n.Exchange != nil {
		e := *n.Exchange
		n.Exchange = &e
	}
	return n
}

// appendLine appends the entry as JSON.
func (n Entry) appendLine(dst []byte) ([]byte, error) {
	if n.Exchange == nil {
		line, err := json.Marshal(n)
		return append(dst, line...), err
	}
	dst, err := codec.AppendJSON(append(dst, `{"exchange":`...), n.Exchange)
	return append(dst, '}'), err
}

// texts are those that many events have in common: they lie in memory once. The zero value is ready.
type texts map[string]string

// mostTexts bounds how many are known at a time.
const mostTexts = 4096

// of returns s as it is kept: no longer than an event may carry, and no part of anything larger.
func (t texts) of(s string) string {
	if s == "" {
		return s
	}
	if kept, known := t[s]; known {
		return kept
	}
	kept := strings.Clone(event.Clip(s))
	if len(s) <= event.MostText && t != nil {
		if len(t) >= mostTexts {
			clear(t)
		}
		t[strings.Clone(s)] = kept
	}
	return kept
}

// compact makes an exchange small to keep, with texts of its own where folds keep them.
func (t texts) compact(e *event.Exchange) {
	e.Start = e.Start.Round(0)
	for _, text := range [...]*string{&e.Method, &e.Path, &e.Reason, &e.Err} {
		*text = event.Clip(*text)
	}
	names := [...]*string{&e.Upstream, &e.Client, &e.Dialect, &e.Model, &e.Conversation, &e.Parent, &e.Leading,
		&e.Session}
	for _, text := range names {
		*text = t.of(*text)
	}
}
