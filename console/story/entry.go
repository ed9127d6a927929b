package story

import (
	"strings"
	"time"

	"epitome/event"
)

// Entry is an event of one kind: one of its fields is set. As JSON it is a line of the log.
type Entry struct {
	Exchange   *event.Exchange   `json:"exchange,omitempty"`
	Compaction *event.Compaction `json:"compaction,omitempty"`
	Warning    *event.Warning    `json:"warning,omitempty"`
	Summary    *event.Summary    `json:"summary,omitempty"`
}

// Common is what events of all kinds have.
type Common struct {
	Kind         string // exchange, compaction, warning or summary
	Event        any    // to be encoded as JSON
	Seq          *uint64
	End          time.Time
	Conversation string // empty: it belongs to none
}

// Common returns the parts of the field that is set; Seq is nil if none is.
func (n Entry) Common() Common {
	switch {
	case n.Exchange != nil:
		e := n.Exchange
		return Common{"exchange", e, &e.Seq, e.Start.Add(e.Duration), e.Conversation}
	case n.Compaction != nil:
		e := n.Compaction
		return Common{"compaction", e, &e.Seq, e.Time, e.Conversation}
	case n.Warning != nil:
		e := n.Warning
		return Common{"warning", e, &e.Seq, e.Time, e.Conversation}
	case n.Summary != nil:
		e := n.Summary
		return Common{"summary", e, &e.Seq, e.Time, e.Conversation}
	}
	return Common{}
}

// compact bounds the texts of an exchange, and copies them: they may be parts of a large body, which would stay in
// memory with them.
func compact(e *event.Exchange) {
	e.Start = e.Start.Round(0) // wall clock only, as it is read from a file
	for _, text := range [...]*string{&e.Method, &e.Path, &e.Model, &e.Title, &e.Reason, &e.Err} {
		*text = strings.Clone(event.Clip(*text))
	}
}
