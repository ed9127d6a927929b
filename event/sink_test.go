package event

import (
	"fmt"
	"slices"
	"testing"
)

// listener notes what it hears under its own name.
type listener struct {
	name  string
	heard *[]string
}

func (l listener) note(what, id string) {
	*l.heard = append(*l.heard, fmt.Sprint(l.name, " ", what, " ", id))
}

func (l listener) RecordExchange(e Exchange)     { l.note("exchange", e.ID) }
func (l listener) RecordCompaction(e Compaction) { l.note("compaction", e.Conversation) }
func (l listener) RecordWarning(e Warning)       { l.note("warning", e.Conversation) }
func (l listener) RecordSummary(e Summary)       { l.note("summary", e.Conversation) }

func TestEachEventGoesToAllSinksInTheirOrder(t *testing.T) {
	var heard []string
	var s Sink = Sinks{listener{"first", &heard}, listener{"second", &heard}}
	s.RecordExchange(Exchange{ID: "1"})
	s.RecordCompaction(Compaction{Conversation: "2"})
	s.RecordWarning(Warning{Conversation: "3"})
	s.RecordSummary(Summary{Conversation: "4"})
	want := []string{
		"first exchange 1", "second exchange 1", "first compaction 2", "second compaction 2",
		"first warning 3", "second warning 3", "first summary 4", "second summary 4",
	}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
