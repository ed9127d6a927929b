package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"epitome/event"
	"epitome/event/journal"
)

// conversation is the data of the page of a conversation, at one of its turns.
type conversation struct {
	journal.Story
	Chart               chart
	FirstKept, LastKept int  // turns
	IsAsked             bool // the owner has asked to compact its next request
	Turn                event.Exchange
	Edits               event.Edits      // of Turn, in the order of the request's messages; the owner's only
	Events              []event.Exchange // turns with a change, a failure or a cache miss, the newest first
	More                int              // older ones that are not listed
	Found               any              // Hits in what was taken out, if the owner looks for something
}

const eventsListed = 100

// conversationAt returns the conversation that a request names in its path, at the turn that its query names.
func (o *Console) conversationAt(r *http.Request) (any, error) {
	s, err := o.story(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	turn, err := turnOf(s, r)
	if err != nil {
		return nil, err
	}
	c := newConversation(s, turn)
	if !isOwner(r) {
		return c, nil
	}
	c.IsAsked = o.program.IsAsked(s.ID)
	c.Edits, err = o.program.Edits(c.Turn.Decision)
	if err == nil && r.URL.Query().Has("find") {
		c.Found, err = o.find(r)
	}
	return c, err
}

// turnOf returns the turn of a conversation that a query names. The error says that it is not there.
func turnOf(s journal.Story, r *http.Request) (event.Exchange, error) {
	asked := r.URL.Query().Get("turn")
	if asked == "" {
		return newestTurn(s), nil
	}
	for _, e := range s.Exchanges {
		if strconv.Itoa(e.Turn) == asked {
			return e, nil
		}
	}
	text := fmt.Sprintf("this conversation has no turn %.20q: its newest is turn %d", asked, s.Turns)
	n, _ := strconv.Atoi(asked)
	if n > 0 && n <= s.Turns {
		text = fmt.Sprintf("turn %d of this conversation is no longer kept", n)
	}
	return event.Exchange{}, refusal{http.StatusNotFound, text}
}

// newestTurn returns the newest turn with tokens, else the oldest turn; the zero Exchange if no turn is kept.
func newestTurn(s journal.Story) (turn event.Exchange) {
	for i, e := range s.Exchanges {
		if i == 0 || e.TokensBefore.Total() > 0 {
			turn = e
		}
	}
	return turn
}

// newConversation returns a conversation at a turn.
func newConversation(s journal.Story, turn event.Exchange) *conversation {
	c := &conversation{Story: s, Turn: turn}
	if len(s.Exchanges) == 0 {
		return c
	}
	c.FirstKept, c.LastKept = s.Exchanges[0].Turn, s.Exchanges[len(s.Exchanges)-1].Turn
	c.Chart = turnChart(s, turn.Turn)
	for _, e := range slices.Backward(s.Exchanges) {
		if changed(e) || failed(e) != "" || e.Miss.IsLoss() {
			c.Events = append(c.Events, e)
		}
	}
	c.More = max(0, len(c.Events)-eventsListed)
	c.Events = c.Events[:len(c.Events)-c.More]
	return c
}

// run is edits of one kind that follow one another.
type run struct {
	event.Edit // all of them as one
	Edits      []event.Edit
}

// Runs returns the edits of the turn as runs. An edit that is like none beside it is one of its own.
func (c *conversation) Runs() (runs []run) {
	all := c.Edits.List
	for i, e := range all {
		last := len(runs) - 1
		if last < 0 || runs[last].Rung != e.Rung || runs[last].Reason != e.Reason || runs[last].New != e.New {
			runs = append(runs, run{e, all[i : i+1]})
			continue
		}
		r := &runs[last]
		r.Last, r.Before, r.After = e.Last, r.Before+e.Before, r.After+e.After
		r.Edits = r.Edits[:len(r.Edits)+1] // it is the next one of all
	}
	return runs
}

// Part is what a request spends tokens on.
type Part struct {
	Name          string
	Before, After int
}

// Parts returns what a request spends tokens on, as it came and as it was sent, without what it has nothing of.
func Parts(b, a event.Tokens) []Part {
	all := []Part{
		{"System prompt", b.System, a.System}, {"Tools", b.Tools, a.Tools}, {"User", b.User, a.User},
		{"Assistant", b.Assistant, a.Assistant}, {"Tool results", b.Results, a.Results},
		{"Summaries", b.Summary, a.Summary}, {"Images and files", b.Images, a.Images}, {"Other", b.Other, a.Other},
	}
	return slices.DeleteFunc(all, func(p Part) bool { return p.Before+p.After == 0 })
}

// overview is the data of the first page.
type overview struct {
	Reports []journal.Report       // of the same time, by day first
	Address string                 // that the program listens on
	Shown   *conversation          // the one with the most to tell; nil: there is none
	Recent  []journal.Conversation // the newest first
	More    int                    // conversations that are not listed
}

func (o *Console) overview(r *http.Request) (any, error) {
	page := pageOf(r, folded(o.list(r)), 10)
	v := &overview{Address: o.program.Listen, Recent: page.Items, More: page.Total - len(page.Items)}
	all, err := o.sums(time.Now().AddDate(0, 0, -29), time.Time{}, "day", "model", "agent", "client") // thirty days
	if err != nil {
		return nil, err
	}
	v.Reports = slices.DeleteFunc(all, func(s journal.Report) bool { // without clients, nothing is grouped by them
		return s.By == "client" && (len(s.Rows) == 0 || s.Rows[len(s.Rows)-1].Key == "")
	})
	if len(page.Items) == 0 {
		return v, nil
	}
	s, err := o.story(r, slices.MaxFunc(page.Items, byStory).ID)
	v.Shown = newConversation(s, newestTurn(s))
	return v, err
}

// byStory compares how much there is to tell of two conversations: of one that outgrew its window most, then of the one that
// was shortened most, then of one with more than a single turn, as agents have them for titles.
func byStory(x, y journal.Conversation) int {
	return cmp.Or(cmp.Compare(min(x.BeyondFrom, 1), min(y.BeyondFrom, 1)), cmp.Compare(x.Raw-x.Tokens, y.Raw-y.Tokens),
		cmp.Compare(min(x.Turns, 2), min(y.Turns, 2)))
}

// listed returns a page of the list of conversations, with side requests under them.
func (o *Console) listed(r *http.Request) (any, error) { return pageOf(r, folded(o.list(r)), 100), nil }

// folded puts side requests, which an agent makes beside its work for a title or a topic, under the conversation that
// they belong to: single turns without tools, while the same session has a conversation with tools.
func folded(all []journal.Conversation) (list []journal.Conversation) {
	type session struct{ agent, client, name string }
	in := func(c journal.Conversation) session { return session{c.Agent, c.Client, c.Session} }
	mains := map[session]string{} // the ID of the newest conversation with tools
	for _, c := range slices.Backward(all) {
		if c.Tools && c.Session != "" {
			mains[in(c)] = c.ID
		}
	}
	sides := map[string][]journal.Conversation{} // by the ID of the conversation
	for _, c := range all {
		main := mains[in(c)]
		if main != "" && c.Turns == 1 && !c.Tools && c.Parent == "" {
			sides[main] = append(sides[main], c)
		} else {
			list = append(list, c)
		}
	}
	for i := range list {
		list[i].Sides = sides[list[i].ID]
	}
	return list
}
