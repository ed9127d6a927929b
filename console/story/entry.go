package story

import (
	"time"
	"unique"

	"epitome/event"
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

// compact makes an exchange small to keep: its texts are short, and parts of nothing larger.
func compact(e *event.Exchange) {
	e.Start = e.Start.Round(0)
	for _, text := range [...]*string{&e.Method, &e.Path, &e.Reason, &e.Err, &e.Upstream, &e.Client, &e.Dialect, &e.Model,
		&e.Conversation, &e.Parent, &e.Leading, &e.Session} {
		*text = unique.Make(event.Clip(*text)).Value()
	}
}
