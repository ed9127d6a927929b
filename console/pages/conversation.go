package pages

import (
	"cmp"
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
	Parts     []part
	NoModel   string // why code wrote the summary and no model; empty where that is not so
	Edits     []edit // in the order of the request's messages; the owner's only
	EditCount int    // of all, where some are not listed
	Missing   string // why the edits cannot be read
}

// part is what a request spends tokens on.
type part struct {
	Name          string
	Before, After int
}

// edit is an edit of a request with the turn in which its message came; 0 if that is not kept.
type edit struct {
	story.Edit
	Conversation string
	Turn, Came   int
}

const (
	eventsListed = 60
	editsListed  = 200
)

func (p *Pages) conversation(r *http.Request) (any, error) {
	asked, _ := strconv.Atoi(r.URL.Query().Get("turn"))
	c, err := p.loadConversation(r.PathValue("id"), asked, story.IsOwner(r))
	if err != nil || len(c.Exchanges) == 0 || !story.IsOwner(r) {
		return c, err
	}
	edits, missing := p.edits(c.Turn.Exchange)
	c.Turn.Missing, c.Turn.EditCount = missing, len(edits)
	for _, e := range edits[:min(len(edits), editsListed)] {
		c.Turn.Edits = append(c.Turn.Edits, edit{e, c.ID, c.Turn.Turn, cameAt(e.Item, c.Exchanges)})
	}
	return c, nil
}

// loadConversation returns a conversation at a turn; at the newest one with tokens if there is no such turn.
func (p *Pages) loadConversation(id string, asked int, owner bool) (*conversation, error) {
	s, err := p.Source.Conversation(id)
	if err != nil {
		return nil, err
	}
	c := &conversation{Story: s}
	if !owner {
		c.Title = ""
	}
	if len(s.Exchanges) == 0 {
		return c, nil
	}
	c.FirstKept, c.LastKept = s.Exchanges[0].Turn, s.Exchanges[len(s.Exchanges)-1].Turn
	at := slices.IndexFunc(s.Exchanges, func(e event.Exchange) bool { return e.Turn == asked })
	for last := len(s.Exchanges) - 1; at < 0 && last >= 0; last-- {
		if s.Exchanges[last].TokensBefore.Total() > 0 || last == 0 {
			at = last
		}
	}
	e := s.Exchanges[at]
	c.Turn = turn{Exchange: e, Parts: partsOf(e)}
	if done, found := s.CompactionIn(e); found {
		c.Turn.NoModel = done.Why
	}
	c.Chart = turnChart(s, e.Turn)
	for _, e := range slices.Backward(s.Exchanges) {
		if !changed(e) && failed(e) == "" && !lost(e.Miss) {
			continue
		}
		if len(c.Events) == eventsListed {
			c.More++
			continue
		}
		c.Events = append(c.Events, e)
	}
	return c, nil
}

// turnChart draws the turns of a conversation.
func turnChart(s story.Story, current int) chart {
	var columns []column
	for _, e := range s.Exchanges {
		c := column{
			Label: strconv.Itoa(e.Turn), Link: turnLink(s.ID, e.Turn), Window: int64(e.Window), Current: e.Turn == current,
			Before: int64(e.TokensBefore.Total()), After: int64(e.TokensAfter.Total()),
		}
		switch {
		case e.Rescue.Kind != "":
			c.Mark = "rescue"
		case e.Compacted > 0:
			c.Mark = "compact"
		case e.Cleared > 0:
			c.Mark = "clear"
		case e.Offloaded > 0:
			c.Mark = "offload"
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

// turnLink returns the address of a turn's page.
func turnLink(id string, turn int) string {
	return "/-/conversations/" + url.PathEscape(id) + "?turn=" + strconv.Itoa(turn)
}

// beforeAfter says two numbers of tokens.
func beforeAfter(before, after int64) string {
	return figure.Tokens(before) + " tokens before, " + figure.Tokens(after) + " after"
}

// partsOf returns what a request spends tokens on, without what it has nothing of.
func partsOf(e event.Exchange) []part {
	b, a := e.TokensBefore, e.TokensAfter
	all := []part{
		{"System prompt", b.System, a.System}, {"Tools", b.Tools, a.Tools}, {"User", b.User, a.User},
		{"Assistant", b.Assistant, a.Assistant}, {"Tool results", b.Results, a.Results}, {"Summaries", b.Summary, a.Summary},
		{"Images and files", b.Images, a.Images}, {"Other", b.Other, a.Other},
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.Before+p.After == 0 })
}

// edits returns the edits that a request was sent with, or why they cannot be read.
func (p *Pages) edits(e event.Exchange) (edits []story.Edit, missing string) {
	if e.Decision == "" {
		return nil, ""
	}
	read, err := p.Edits(e.Decision)
	switch {
	case err != nil:
		return nil, err.Error()
	case read.Missing != "" && observed(e):
		return nil, "mode observe keeps edits only while epitome runs"
	}
	return read.List, read.Missing
}

// cameAt returns the turn in which a message came first; 0 if that is not kept.
func cameAt(item int, turns []event.Exchange) int {
	for i, e := range turns {
		if int(e.Items) > item {
			if i == 0 && e.Turn > 1 {
				return 0
			}
			return e.Turn
		}
	}
	return 0
}

// Messages says which messages of the request an edit is about. They count from 0, as in the texts for the model.
func (e edit) Messages() string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d–%d", e.Item, e.Last)
	}
	return fmt.Sprintf("message %d", e.Item)
}

// Name returns the name of the artifact that has what stood there; empty if none was kept.
func (e edit) Name() string { return cmp.Or(e.Readable, e.Artifact, e.Thinking) }

// Link returns the address of the edit's page.
func (e edit) Link() string {
	return fmt.Sprintf("/-/conversations/%s/edits/%d?turn=%d", url.PathEscape(e.Conversation), e.Item, e.Turn)
}

// IsAdded reports whether nothing was taken out: the text stands behind the message.
func (e edit) IsAdded() bool { return e.Name() == "" && e.Text != "" && e.Last == e.Item }
