package story

import (
	"time"
	"unique"

	"epitome/event"
)

// Entry is an event of one kind: one of its fields is set. As JSON it is a line of the log.
type Entry struct {
	Exchange   *event.Exchange   `json:"exchange,omitempty"`
	Compaction *event.Compaction `json:"compaction,omitempty"`
	Warning    *event.Warning    `json:"warning,omitempty"`
	Summary    *event.Summary    `json:"summary,omitempty"`
}

// common is what events of all kinds have.
type common struct {
	kind         string // as the key in JSON
	event        any
	seq          *uint64
	time         time.Time // when it ended
	conversation string    // empty: it belongs to none
}

// common returns the parts of the field that is set; seq is nil if none is.
func (n Entry) common() common {
	switch {
	case n.Exchange != nil:
		e := n.Exchange
		return common{"exchange", e, &e.Seq, e.Start.Add(e.Duration), e.Conversation}
	case n.Compaction != nil:
		e := n.Compaction
		return common{"compaction", e, &e.Seq, e.Time, e.Conversation}
	case n.Warning != nil:
		e := n.Warning
		return common{"warning", e, &e.Seq, e.Time, e.Conversation}
	case n.Summary != nil:
		e := n.Summary
		return common{"summary", e, &e.Seq, e.Time, e.Conversation}
	}
	return common{}
}

// Kind returns exchange, compaction, warning or summary.
func (n Entry) Kind() string { return n.common().kind }

// Event returns the event itself, as it is encoded in JSON.
func (n Entry) Event() any { return n.common().event }

// Seq returns the number of the event, from 1.
func (n Entry) Seq() uint64 {
	if seq := n.common().seq; seq != nil {
		return *seq
	}
	return 0
}

// compact bounds the texts of an exchange, and copies them: they may be parts of a large body, which would stay in
// memory with them.
func compact(e *event.Exchange) {
	e.Start = e.Start.Round(0) // wall clock only, as it is read from a file
	for _, text := range [...]*string{&e.Method, &e.Path, &e.Reason, &e.Err, &e.Upstream, &e.Client, &e.Dialect, &e.Model,
		&e.Conversation, &e.Parent, &e.Leading, &e.Session, &e.Title} {
		*text = unique.Make(event.Clip(*text)).Value()
	}
}
