package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"epitome/console/figure"
	"epitome/console/markup"
	"epitome/console/pages/drawing"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
	"epitome/event"
)

// talk is the page of one conversation.
type talk struct {
	Story story.Story
	Chart *drawing.Course // nil: no turn with tokens is kept
	Deeds []deed          // that changed what had been sent, or failed
	More  int             // deeds that are not shown
	Fresh []deed          // offloads: new results that were shortened when they came
	Rest  int             // of those, how many are not shown
	// turns that were only observed, in words; empty: there are none
	Watched    string
	AllWatched bool // of the turns that are kept
	Missed     []miss
	Shown      []event.Exchange // turns, the newest first
	Newer      markup.Address   // where newer turns are; none: there are none
	Older      markup.Address
	Unseen     unseen
	frame.Reader
}

// miss is a turn of which the provider's cache had less than it could have had: Held tokens, 0 if that is not known.
type miss struct {
	Exchange event.Exchange
	Held     int
}

// deed is a turn in which something was done.
type deed struct {
	Exchange  event.Exchange
	What, Why string
}

// unseen is what the model does not see any more.
type unseen struct {
	Less     int // tokens that the newest request was sent with less than it came
	List     []seenEdit
	Messages int // that all edits are about
	All      int // edits, of which the largest are listed
	Missing  string
	Seq      uint64 // of the exchange with all of them
	Watched  bool   // it was sent as it came: they would not be seen
}

// seenEdit is an edit with the turn in which its item came.
type seenEdit struct {
	story.Edit
	Seq     uint64 // of the exchange that it is shown at
	Turn    int    // 0 if it is not kept
	Watched bool   // it would have been made: mode observe sends what came, and keeps nothing of it
}

const (
	turnsShown = 50
	deedsShown = 30
	missShown  = 25
	editsShown = 40 // in the page of a conversation
)

// conversation makes the page of one conversation.
func (p *Pages) conversation(r *http.Request) (*frame.Page, error) {
	told, err := p.plugs.Source.Conversation(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	t := talk{Story: told, Chart: drawing.NewCourse(told.Exchanges), Reader: p.reader(r)}
	var changed, fresh, missed []int
	for i := range told.Exchanges {
		switch e := &told.Exchanges[i]; {
		case e.Cleared+e.Compacted > 0 || e.Rescue.Kind != "" || e.Action == event.ActionBypass:
			changed = append(changed, i)
		case e.Offloaded > 0:
			fresh = append(fresh, i)
		}
		if words.IsMiss(told.Exchanges[i].Miss) {
			missed = append(missed, i)
		}
	}
	t.Deeds, t.More = newest(told, changed, deedsShown)
	t.Fresh, t.Rest = newest(told, fresh, deedsShown/2)
	for _, i := range missed[max(0, len(missed)-missShown):] {
		t.Missed = append(t.Missed, miss{told.Exchanges[i], told.CountHeld(i)})
	}
	t.Watched, t.AllWatched = words.WatchedTurns(told.Exchanges)
	t.cut(r.URL.Query().Get("before"))
	t.Unseen = p.unseen(r, told.Exchanges)
	return &frame.Page{Title: "Conversation " + markup.Shown(told.ID), Here: "conversations", Body: t.view()}, nil
}

// newest returns what was done in the last of some turns, the newest first, and how many are left out.
func newest(told story.Story, places []int, most int) (shown []deed, rest int) {
	rest = max(0, len(places)-most)
	for _, i := range slices.Backward(places[rest:]) {
		shown = append(shown, newDeed(told.Exchanges[i], told))
	}
	return shown, rest
}

// newDeed says what was done in an exchange of a conversation, and why; of a compaction its own steps tell more.
func newDeed(e event.Exchange, of story.Story) deed {
	d := deed{Exchange: e, What: words.Done(e), Why: words.Why(e)}
	if c, ok := of.CompactionIn(e); ok {
		d.What += fmt.Sprintf(" (%d messages became %d%s)", c.MessagesBefore, c.MessagesAfter, notCounted(c, of))
		d.Why = strings.TrimSuffix(compactionWords(c, e), ".") + summaryWords(c, of) + "."
	}
	return d
}

// notCounted says that the messages of an earlier summary are not among those that a compaction made fewer.
func notCounted(c event.Compaction, of story.Story) string {
	if slices.ContainsFunc(of.Compactions, func(other event.Compaction) bool {
		return other.Kind == event.CompactionCompleted && other.Time.Before(c.Time)
	}) {
		return ", without those that a summary stood for already"
	}
	return ""
}

// summaryWords says why code wrote the summary of a compaction, where a model was to, and what asking a model cost.
func summaryWords(c event.Compaction, of story.Story) string {
	by, cost := "", summaryCost(c, of)
	if c.Why != "" {
		by = "; code wrote the summary: " + words.Unstopped(c.Why)
	}
	switch {
	case cost == 0:
		return by
	case by != "":
		return by + "; asking a model for it cost " + figure.Dollars(cost)
	}
	return "; the summary cost " + figure.Dollars(cost)
}

// summaryCost is what the summary of a compaction cost: all that was asked for since the compaction before it.
func summaryCost(c event.Compaction, of story.Story) (nano int64) {
	var since time.Time
	for _, other := range of.Compactions {
		if other.Kind == event.CompactionCompleted && other.Time.Before(c.Time) && other.Time.After(since) {
			since = other.Time
		}
	}
	for _, s := range of.Summaries {
		if s.Time.After(since) && !s.Time.After(c.Time) {
			nano += s.Own.Nano
		}
	}
	return nano
}

// compactionWords says why old turns became a summary.
func compactionWords(c event.Compaction, e event.Exchange) string {
	if e.Causes == 0 { // as of events before there were any
		e.Causes = event.CausesOf(event.CauseOfReason(c.Reason))
	}
	if e.Causes == 0 {
		return cmp.Or(words.Why(e), markup.Shown(c.Reason))
	}
	return words.Causes(e, cmp.Or(c.TokensBefore, words.Grown(e)))
}

// cut leaves one page of turns, those before a number, the newest first.
func (t *talk) cut(asked string) {
	all := t.Story.Exchanges
	end := len(all)
	if turn, err := strconv.Atoi(asked); err == nil {
		byTurn := func(e event.Exchange, turn int) int { return cmp.Compare(e.Turn, turn) }
		end, _ = slices.BinarySearchFunc(all, turn, byTurn)
	}
	start := max(0, end-turnsShown)
	t.Shown = slices.Clone(all[start:end])
	slices.Reverse(t.Shown)
	before := func(turn int) markup.Address {
		return frame.ToConversation(t.Story.ID).With("before", strconv.Itoa(turn)).To("turns")
	}
	if start > 0 {
		t.Older = before(all[start].Turn)
	}
	if end < len(all) {
		t.Newer = before(all[min(len(all), end+turnsShown)-1].Turn + 1)
	}
}

// unseen finds what the newest request did not carry as it came.
func (p *Pages) unseen(r *http.Request, turns []event.Exchange) (u unseen) {
	at := len(turns) - 1
	for at >= 0 && turns[at].TokensBefore.Total() == 0 {
		at--
	}
	if at < 0 {
		return u
	}
	newest := turns[at]
	u.Less, u.Seq = newest.TokensBefore.Total()-newest.TokensAfter.Total(), newest.Seq
	u.Watched = words.Watched(newest)
	edits := p.edits(r, newest)
	u.Missing, u.All, u.Messages = edits.Missing, len(edits.List), countMessages(edits.List)
	slices.SortStableFunc(edits.List, func(a, b story.Edit) int {
		return cmp.Compare(b.Before-b.After, a.Before-a.After)
	})
	for _, e := range edits.List[:min(len(edits.List), editsShown)] {
		u.List = append(u.List, seenEdit{e, newest.Seq, turnOf(e.Item, turns), u.Watched})
	}
	return u
}

// turnOf is the turn in which an item came first; 0 if it is not kept.
func turnOf(item int, turns []event.Exchange) int {
	for i := range turns {
		if e := &turns[i]; int(e.Items) > item {
			if i == 0 && e.Turn > 1 {
				return 0
			}
			return e.Turn
		}
	}
	return 0
}
