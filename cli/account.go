package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"epitome/console/story"
	"epitome/event"
)

// account is a conversation with the edits of its newest request.
type account struct {
	Conversation story.Story `json:"conversation"`
	Edits        story.Edits `json:"edits"`
}

// explainConversation prints what a running epitome did to a conversation in each turn, and which messages the model
// does not see whole.
func (a *app) explainConversation(id string, asJSON bool) error {
	var found account
	err := a.askAny("explain "+id, "/-/api/conversations/"+id, &found.Conversation)
	if err == nil {
		err = a.askAny("explain "+id, "/-/api/conversations/"+id+"/edits", &found.Edits)
	}
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(found)
	}
	return found.write(os.Stdout)
}

// write writes the account for people.
func (a account) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	s := &a.Conversation
	fmt.Fprintf(t, "conversation %s, %s, to upstream %s: %d turns, the last at %s\n", s.ID, plain(s.Model),
		plain(s.Upstream), s.Turns, s.Last.Local().Format(time.DateTime))
	if s.Parent != "" {
		fmt.Fprintf(t, "It branched off from conversation %s.\n", s.Parent)
	}
	fmt.Fprintf(t, "The newest request came with %d tokens and was sent with %d, of a window of %d.\n\n", s.Raw, s.Tokens,
		s.Window)
	if s.Forgotten > 0 {
		fmt.Fprintf(t, "%d earlier turns are not kept any more.\n", s.Forgotten)
	}
	fmt.Fprintln(t, "turn\ttime\tmode\taction\toffloaded\tcleared\tcompacted\tbefore\tafter\tcached\twhy")
	for i := range s.Exchanges {
		e := &s.Exchanges[i]
		cached := "-"
		if e.Usage.Source == event.UsageProvider && !e.Usage.CacheUnknown {
			cached = fmt.Sprint(e.Usage.Read)
		}
		why := cmp.Or(e.Causes.Sentences(), e.Inner, e.Reason, e.Code.Sentence())
		if c, ok := s.CompactionIn(*e); ok && c.Why != "" {
			why += " Code wrote the summary: " + c.Why
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", e.Turn, e.Start.Local().Format(time.TimeOnly),
			e.Mode, e.Action, e.Offloaded, e.Cleared, e.Compacted, e.TokensBefore.Total(), e.TokensAfter.Total(), cached,
			plain(why))
	}
	fmt.Fprintln(t)
	switch {
	case a.Edits.Missing != "":
		fmt.Fprintf(t, "The messages that the model does not see are unknown: %s.\n", a.Edits.Missing)
		return t.Flush()
	case len(a.Edits.List) == 0:
		fmt.Fprintln(t, "The model sees all of the newest request.")
		return t.Flush()
	}
	fmt.Fprintln(t, "The model does not see these messages whole ('epitome artifact NAME' prints one):")
	var changes []change
	for _, e := range a.Edits.List {
		changes = append(changes, change{First: e.Item, Last: e.Last, Step: e.Rung, Before: e.Before, After: e.After,
			Artifact: cmp.Or(e.Artifact, e.Thinking), Why: e.Reason})
	}
	writeChanges(t, changes)
	return t.Flush()
}
