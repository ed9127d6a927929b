package console

import (
	"net/http"
	"slices"
	"strconv"

	"epitome/event"
	"epitome/event/journal"
)

// conversation is the data of the page of a conversation, at one of its turns.
type conversation struct {
	journal.Story
	Chart               chart
	FirstKept, LastKept int  // turns
	IsAlive             bool // the newest turn got its answer
	Turn                event.Exchange
	Edits               event.Edits      // of Turn, in the order of the request's messages; the owner's only
	Events              []event.Exchange // turns with a change, a failure or a cache miss, the newest first
	More                int              // older ones that are not listed
	Found               any              // Hits in what was taken out, if the owner looks for something
}

const eventsListed = 20

// conversationAt returns the conversation that a request names in its path, at the turn that its query names.
func (o *Console) conversationAt(r *http.Request) (any, error) {
	s, err := o.story(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	asked, _ := strconv.Atoi(r.URL.Query().Get("turn")) // anything else is the newest turn
	c := newConversation(s, asked)
	if isOwner(r) {
		c.Edits, err = o.program.Edits(c.Turn.Decision)
	}
	if isOwner(r) && err == nil && r.URL.Query().Has("find") {
		c.Found, err = o.find(r)
	}
	return c, err
}

// newConversation returns a conversation at a turn; at the newest one with tokens if there is no such turn.
func newConversation(s journal.Story, asked int) *conversation {
	c := &conversation{Story: s}
	if len(s.Exchanges) == 0 {
		return c
	}
	newest := s.Exchanges[len(s.Exchanges)-1]
	c.FirstKept, c.LastKept, c.IsAlive = s.Exchanges[0].Turn, newest.Turn, failed(newest) == ""
	c.Turn = s.Exchanges[0]
	for _, e := range s.Exchanges {
		if e.Turn == asked {
			c.Turn = e
			break
		}
		if e.TokensBefore.Total() > 0 {
			c.Turn = e
		}
	}
	c.Chart = turnChart(s, c.Turn.Turn)
	for _, e := range slices.Backward(s.Exchanges) {
		switch {
		case !changed(e) && failed(e) == "" && !e.Miss.IsLoss():
		case len(c.Events) == eventsListed:
			c.More++
		default:
			c.Events = append(c.Events, e)
		}
	}
	return c
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
