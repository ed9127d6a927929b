package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"epitome/console/figure"
	"epitome/console/story"
	"epitome/event"
)

// conversation is the data of the page of a conversation, at one of its turns.
type conversation struct {
	story.Story
	Chart               chart
	FirstKept, LastKept int // turns
	Turn                turn
	Events              []event.Exchange // turns in which something was done, failed or missed the cache, the newest first
	More                int              // older ones that are not listed
}

// turn is one request of a conversation and its answer.
type turn struct {
	event.Exchange
	NoModel string      // why code wrote the summary and no model; empty where that is not so
	Edits   story.Edits // in the order of the request's messages; the owner's only
}

const (
	eventsListed = 60
	turnsDrawn   = 250
)

func (p *Pages) conversation(r *http.Request) (any, error) {
	c, err := p.loadConversation(r)
	if err == nil && story.IsOwner(r) {
		c.Turn.Edits, err = p.Edits(c.Turn.Decision)
	}
	return c, err
}

// loadConversation returns the conversation that a request names in its path, at the turn that its query names.
func (p *Pages) loadConversation(r *http.Request) (*conversation, error) {
	s, err := p.Source.Conversation(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	s.HideFrom(r)
	asked, _ := strconv.Atoi(r.URL.Query().Get("turn")) // anything else is the newest turn
	return newConversation(s, asked), nil
}

// newConversation returns a conversation at a turn; at the newest one with tokens if there is no such turn.
func newConversation(s story.Story, asked int) *conversation {
	c := &conversation{Story: s}
	if len(s.Exchanges) == 0 {
		return c
	}
	c.FirstKept, c.LastKept = s.Exchanges[0].Turn, s.Exchanges[len(s.Exchanges)-1].Turn
	at := 0
	for i, e := range s.Exchanges {
		if e.Turn == asked {
			at = i
			break
		}
		if e.TokensBefore.Total() > 0 {
			at = i
		}
	}
	c.Turn = turn{Exchange: s.Exchanges[at]}
	if done, found := s.CompactionIn(c.Turn.Exchange); found {
		c.Turn.NoModel = done.Why
	}
	c.Chart = turnChart(s, c.Turn.Turn)
	for _, e := range slices.Backward(s.Exchanges) {
		switch {
		case !changed(e) && failed(e) == "" && !lost(e.Miss):
		case len(c.Events) == eventsListed:
			c.More++
		default:
			c.Events = append(c.Events, e)
		}
	}
	return c
}

// turnChart draws the turns of a conversation: of many those around the current one.
func turnChart(s story.Story, current int) chart {
	exchanges := s.Exchanges
	if over := len(exchanges) - turnsDrawn; over > 0 {
		at := slices.IndexFunc(exchanges, func(e event.Exchange) bool { return e.Turn == current })
		exchanges = exchanges[min(max(at-turnsDrawn/2, 0), over):][:turnsDrawn]
	}
	var columns []column
	for _, e := range exchanges {
		c := column{
			Label: strconv.Itoa(e.Turn), Window: int64(e.Window), Current: e.Turn == current, Mark: story.Step(&e),
			Link:   "/-/conversations/" + url.PathEscape(s.ID) + "?turn=" + strconv.Itoa(e.Turn),
			Before: int64(e.TokensBefore.Total()), After: int64(e.TokensAfter.Total()),
		}
		c.Title = fmt.Sprintf("turn %d: %s", e.Turn, beforeAfter(c.Before, c.After))
		if u := e.Usage; u.Source == event.UsageProvider && !u.CacheUnknown && u.Input > 0 {
			c.Title += ", " + ratio(u.Read, u.Input) + " from the cache"
		}
		if changed(e) {
			c.Title += "; " + changes(e)
		}
		columns = append(columns, c)
	}
	title := fmt.Sprintf("Tokens before and after, turns %s to %s", columns[0].Label, columns[len(columns)-1].Label)
	return drawChart(title, columns)
}

// beforeAfter says two numbers of tokens.
func beforeAfter(before, after int64) string {
	return figure.Tokens(before) + " tokens before, " + figure.Tokens(after) + " after"
}

// part is what a request spends tokens on.
type part struct {
	Name          string
	Before, After int
}

// Parts returns what the request spends tokens on, without what it has nothing of.
func (t turn) Parts() []part {
	b, a := t.TokensBefore, t.TokensAfter
	all := []part{
		{"System prompt", b.System, a.System}, {"Tools", b.Tools, a.Tools}, {"User", b.User, a.User},
		{"Assistant", b.Assistant, a.Assistant}, {"Tool results", b.Results, a.Results}, {"Summaries", b.Summary, a.Summary},
		{"Images and files", b.Images, a.Images}, {"Other", b.Other, a.Other},
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.Before+p.After == 0 })
}
