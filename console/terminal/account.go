package terminal

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"epitome/console/story"
	"epitome/event"
)

// Account is a conversation with what was done to it.
type Account struct {
	Conversation story.Story   `json:"conversation"`
	Edits        story.Edits   `json:"edits"`     // of its newest request: what the model does not see now
	Decisions    []story.Edits `json:"decisions"` // what each turn brought about, the newest first; old ones may be missing
}

// sheet is lines and tables.
type sheet struct{ strings.Builder }

func (p *sheet) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// table writes rows whose cells are separated by tabs.
func (p *sheet) table(rows []string) {
	t := tabwriter.NewWriter(p, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, strings.Join(rows, "\n")) // a builder takes everything
	_ = t.Flush()
}

// Text is the account for people. What others chose, as the name of a model, cannot meddle with a terminal.
func (a Account) Text() string {
	p, s := &sheet{}, &a.Conversation
	p.line("conversation %s, %s, to upstream %s: %d turns, the last at %s", s.ID, plain(s.Model),
		plain(s.Upstream), s.Turns, s.Last.Local().Format(time.DateTime))
	if s.Parent != "" {
		p.line("It has left conversation %s.", s.Parent)
	}
	if a.isObserved() {
		p.line("The newest request was sent as it came, with %d tokens of a window of %d: mode observe. In mode on, %d would "+
			"have been sent.", s.Raw, s.Window, s.CountShaped())
	} else {
		p.line("The newest request came with %d tokens and was sent with %d, of a window of %d.", s.Raw, s.Tokens, s.Window)
	}
	p.line("")
	if s.Forgotten > 0 {
		p.line("%d earlier turns are not kept any more.", s.Forgotten)
	}
	rows := []string{"turn\ttime\tcame\tsent\tcached\twhat was done\twhy, or why nothing new"}
	for i := range s.Exchanges {
		row := turnInCells(&s.Exchanges[i])
		if c, ok := s.CompactionIn(s.Exchanges[i]); ok && c.Why != "" {
			row += " Code wrote the summary: " + plain(c.Why)
		}
		rows = append(rows, row)
	}
	p.table(rows)
	p.line("")
	a.addEdits(p)
	return p.String()
}

// isObserved reports whether the newest request was sent as it came, as mode observe has it.
func (a Account) isObserved() bool {
	all := a.Conversation.Exchanges
	return len(all) > 0 && all[len(all)-1].Mode == event.ModeObserve
}

// turnInCells is the row of a turn.
func turnInCells(e *event.Exchange) string {
	cached := "-"
	if e.Usage.Source == event.UsageProvider && !e.Usage.CacheUnknown {
		cached = fmt.Sprint(e.Usage.Read)
	}
	var done []string
	for _, of := range []struct {
		what string
		n    int
	}{{"offloaded", e.Offloaded}, {"cleared", e.Cleared}, {"compacted", e.Compacted}} {
		if of.n > 0 {
			done = append(done, fmt.Sprintf("%s %d", of.what, of.n))
		}
	}
	if e.TakenOut > 0 {
		done = append(done, fmt.Sprintf("%d tokens out", e.TakenOut))
	}
	switch {
	case e.Action == event.ActionBypass:
		done = append(done, "bypass: something failed inside epitome")
	case len(done) == 0 && e.Added > 0 && e.Rescue.Kind == "":
		done = append(done, fmt.Sprintf("%d tokens added: %s", e.Added, additions(e)))
	}
	sent := e.TokensAfter.Total()
	if e.Mode == event.ModeObserve {
		if len(done) > 0 || sent != e.TokensBefore.Total() {
			done = append([]string{fmt.Sprintf("observed: would be sent with %d", sent)}, done...)
		}
		sent = e.TokensBefore.Total()
	}
	if e.Rescue.Kind != "" {
		done = append(done, e.Rescue.Outcome()+" by "+e.Rescue.Stages)
	}
	why := cmp.Or(e.Causes.Sentences(), e.Inner, e.Reason, e.Code.Sentence())
	return fmt.Sprintf("%d\t%s\t%d\t%d\t%s\t%s\t%s", e.Turn, e.Start.Local().Format(time.TimeOnly), e.TokensBefore.Total(),
		sent, cached, plain(strings.Join(done, ", ")), plain(why))
}

// additions says what a request has beside what its client sent.
func additions(e *event.Exchange) string {
	switch {
	case e.Memory == 0:
		return "an index of context files"
	case e.Contexts == "":
		return "the memory of the project"
	}
	return "an index of context files, and the memory of the project"
}

// addEdits writes what the model does not see now.
func (a Account) addEdits(p *sheet) {
	switch {
	case a.Edits.Missing != "" && a.isObserved():
		p.line("The model sees all of the newest request. What it would not see in mode on cannot be told: %s.", a.Edits.Missing)
		return
	case a.Edits.Missing != "":
		p.line("What the model does not see now cannot be told: %s.", a.Edits.Missing)
		return
	case len(a.Edits.List) == 0:
		p.line("The model sees all of the newest request.")
		return
	}
	if a.isObserved() {
		p.line("The model sees all of the newest request. In mode on, it would not see all of these messages:")
	} else {
		p.line("The model does not see all of these messages now:")
	}
	turns := a.decidedIn()
	rows := []string{"message\trung\tcame\tsent\tturn\tartifact\twhy"}
	for _, e := range a.Edits.List {
		where := fmt.Sprint(e.Item)
		if e.Last > e.Item {
			where = fmt.Sprintf("%d-%d", e.Item, e.Last)
		}
		artifact := e.Artifact
		if artifact == "" {
			artifact = e.Thinking
		}
		if a.isObserved() {
			artifact = "-"
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%s\t%s", where, e.Rung, e.Before, e.After, turns[nameOf(e)], artifact,
			e.Reason))
	}
	p.table(rows)
	if a.isObserved() {
		p.line("There are no artifacts to read: mode observe keeps none.")
		return
	}
	p.line("'epitome artifact NAME' prints what stood there.")
}

// nameOf tells edits apart.
func nameOf(e story.Edit) string { return e.Artifact + " " + e.Thinking + " " + e.Text }

// decidedIn says in which turn each edit was made, as far as that was asked for.
func (a Account) decidedIn() map[string]string {
	turns := map[uint64]int{}
	for i := range a.Conversation.Exchanges {
		turns[a.Conversation.Exchanges[i].Seq] = a.Conversation.Exchanges[i].Turn
	}
	made := map[string]string{}
	for _, edits := range a.Decisions {
		for _, e := range edits.List {
			if _, known := made[nameOf(e)]; e.New && !known {
				made[nameOf(e)] = fmt.Sprint(turns[edits.Seq])
			}
		}
	}
	return made
}
