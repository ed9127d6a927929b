package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"epitome/cli/daemon"
	"epitome/console/story"
	"epitome/event"
)

// account is a conversation with what was done to it.
type account struct {
	Conversation story.Story   `json:"conversation"`
	Edits        story.Edits   `json:"edits"`     // of its newest request: what the model does not see now
	Decisions    []story.Edits `json:"decisions"` // of each turn, the newest first; old ones may be missing
}

// explainConversation prints what a running epitome did to a conversation: each turn, and what the model does not see
// now.
func (a *app) explainConversation(id string, asJSON bool) error {
	cards, err := a.allRunning("explain " + id)
	if err != nil {
		return err
	}
	var found account
	for _, card := range cards {
		if found, err = askAccount(card, id); err == nil {
			break
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("cannot explain %s: %w", id, err)
	case asJSON:
		return printJSON(found)
	}
	_, err = os.Stdout.WriteString(found.String())
	return err
}

// askAccount asks an epitome for a conversation, and for the edits of its newest 20 turns that had any.
func askAccount(card *daemon.Card, id string) (a account, err error) {
	ask := func(path string, query url.Values, into any) {
		if err != nil {
			return
		}
		var answer []byte
		if answer, err = card.Get("/-/api/conversations/"+id+path, query); err == nil {
			err = json.Unmarshal(answer, into)
		}
	}
	ask("", nil, &a.Conversation)
	ask("/edits", nil, &a.Edits)
	a.Decisions = []story.Edits{}
	for _, e := range slices.Backward(a.Conversation.Exchanges) {
		if e.Decided && len(a.Decisions) < 20 {
			var edits story.Edits
			ask("/edits", url.Values{"turn": {fmt.Sprint(e.Turn)}}, &edits)
			a.Decisions = append(a.Decisions, edits)
		}
	}
	return a, err
}

// String is the account for people.
func (a account) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }
	s := &a.Conversation
	line("conversation %s, %s, to upstream %s: %d turns, the last at %s", s.ID, plain(s.Model), plain(s.Upstream), s.Turns,
		s.Last.Local().Format(time.DateTime))
	if s.Parent != "" {
		line("It has left conversation %s.", s.Parent)
	}
	if a.observed() {
		line("The newest request was sent as it came, with %d tokens of a window of %d: mode observe. In mode on, %d would "+
			"have been sent.", s.Raw, s.Window, s.CountShaped())
	} else {
		line("The newest request came with %d tokens and was sent with %d, of a window of %d.", s.Raw, s.Tokens, s.Window)
	}
	line("")
	if s.Forgotten > 0 {
		line("%d earlier turns are not kept any more.", s.Forgotten)
	}
	line("turn\ttime\tcame\tsent\tcached\twhat was done\twhy, or why nothing new")
	for i := range s.Exchanges {
		row := turnRow(&s.Exchanges[i])
		if c, ok := s.CompactionIn(s.Exchanges[i]); ok && c.Why != "" {
			row += " Code wrote the summary: " + plain(c.Why)
		}
		line("%s", row)
	}
	line("")
	a.writeEdits(line)
	_ = t.Flush() // a builder takes everything
	return b.String()
}

// observed reports whether the newest request was sent as it came, as mode observe has it.
func (a account) observed() bool {
	all := a.Conversation.Exchanges
	return len(all) > 0 && all[len(all)-1].Mode == event.ModeObserve
}

// turnRow returns the cells of a turn.
func turnRow(e *event.Exchange) string {
	sent, cached := e.TokensAfter.Total(), "-"
	if e.Usage.Source == event.UsageProvider && !e.Usage.CacheUnknown {
		cached = fmt.Sprint(e.Usage.Read)
	}
	var done []string
	add := func(is bool, format string, args ...any) {
		if is {
			done = append(done, fmt.Sprintf(format, args...))
		}
	}
	if e.Mode == event.ModeObserve {
		add(sent != e.TokensBefore.Total(), "observed: would be sent with %d", sent)
		sent = e.TokensBefore.Total()
	}
	add(e.Offloaded > 0, "offloaded %d", e.Offloaded)
	add(e.Cleared > 0, "cleared %d", e.Cleared)
	add(e.Compacted > 0, "compacted %d", e.Compacted)
	add(e.TakenOut > 0, "%d tokens out", e.TakenOut)
	add(e.Added > 0, "%d tokens of context files and memory added", e.Added)
	add(e.Action == event.ActionBypass, "bypass: something failed inside epitome")
	add(e.Rescue.Kind != "", "%s by %s", e.Rescue.Outcome(), e.Rescue.Stages)
	why := cmp.Or(e.Causes.Sentences(), e.Inner, e.Reason, e.Code.Sentence())
	return fmt.Sprintf("%d\t%s\t%d\t%d\t%s\t%s\t%s", e.Turn, e.Start.Local().Format(time.TimeOnly), e.TokensBefore.Total(),
		sent, cached, plain(strings.Join(done, ", ")), plain(why))
}

// writeEdits writes which messages of the newest request the model does not see.
func (a account) writeEdits(line func(format string, args ...any)) {
	switch {
	case a.Edits.Missing != "":
		line("The messages that the model does not see are unknown: %s.", a.Edits.Missing)
		return
	case len(a.Edits.List) == 0:
		line("The model sees all of the newest request.")
		return
	case a.observed():
		line("The model sees all of the newest request. In mode on, it would not see all of these messages:")
	default:
		line("The model does not see all of these messages now:")
	}
	turns := a.editTurns()
	line("message\trung\tcame\tsent\tturn\tartifact\twhy")
	for _, e := range a.Edits.List {
		messages, artifact := fmt.Sprint(e.Item), cmp.Or(e.Artifact, e.Thinking)
		if e.Last > e.Item {
			messages = fmt.Sprintf("%d-%d", e.Item, e.Last)
		}
		if a.observed() {
			artifact = "-" // mode observe keeps none
		}
		line("%s\t%s\t%d\t%d\t%s\t%s\t%s", messages, e.Rung, e.Before, e.After, turns[editKey(e)], artifact, e.Reason)
	}
	if !a.observed() {
		line("'epitome artifact NAME' prints the message as it came.")
	}
}

// editKey returns a key that tells edits apart: the same edit has it in each request.
func editKey(e story.Edit) string { return e.Artifact + " " + e.Thinking + " " + e.Text }

// editTurns returns the turn in which each edit was made, by its key. Old decisions may be missing.
func (a account) editTurns() map[string]string {
	made := map[string]string{}
	for _, edits := range slices.Backward(a.Decisions) { // a later turn that made it again overwrites
		for _, e := range edits.List {
			if e.New {
				made[editKey(e)] = fmt.Sprint(edits.Turn)
			}
		}
	}
	return made
}
