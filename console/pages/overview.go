package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"epitome/config"
	"epitome/console/story"
	"epitome/event"
	"epitome/inject"
)

// overview is the data of the first page.
type overview struct {
	story.Summary
	Address string               // that the program listens on
	Days    chart                // tokens by day
	Newest  *conversation        // nil: there is none
	Recent  []story.Conversation // the newest first
	More    int                  // conversations that are not listed
}

func (p *Pages) overview(r *http.Request) (any, error) {
	sum, err := p.Source.Summary(lastDays())
	if err != nil {
		return nil, err
	}
	page := p.list(r, "", 0, 10)
	o := &overview{Summary: sum, Address: p.Address, Recent: page.Items, More: page.Total - len(page.Items)}
	var columns []column
	for _, row := range sum.Rows {
		columns = append(columns, dayColumn(row, isObserved(sum.Total)))
	}
	o.Days = drawChart("Tokens before and after, by day", columns)
	if len(page.Items) == 0 {
		return o, nil
	}
	// A conversation of a single turn, as agents have them for titles, counts only where there is no longer one.
	newest := max(0, slices.IndexFunc(page.Items, func(c story.Conversation) bool { return c.Turns > 1 }))
	s, err := p.Source.Conversation(page.Items[newest].ID)
	s.HideFrom(r)
	o.Newest = newConversation(s, 0)
	return o, err
}

// list returns a page of the list of conversations.
func (p *Pages) list(r *http.Request, match string, first, limit int) story.Page[story.Conversation] {
	page := p.Source.Conversations(match, first, limit)
	for i := range page.Items {
		page.Items[i].HideFrom(r)
	}
	return page
}

// lastDays returns the days of which pages have sums: the last thirty.
func lastDays() story.Span { return story.Span{From: time.Now().AddDate(0, 0, -29), By: "day"} }

// dayColumn returns the column of a day.
func dayColumn(row story.Row, observed bool) column {
	c := column{Label: row.Key, Before: row.Sums.TokensBefore, After: row.Sums.TokensAfter}
	if observed {
		c.Before, c.After = row.Sums.Observed.TokensBefore, row.Sums.Observed.TokensAfter
	}
	if at, err := time.Parse(time.DateOnly, row.Key); err == nil {
		c.Label = at.Format("Jan 2")
	}
	c.Title = c.Label + ": " + beforeAfter(c.Before, c.After) + ", " + plural(row.Sums.Exchanges, "request")
	return c
}

// conversations is the data of the list of all conversations.
type conversations struct {
	story.Page[story.Conversation]
	Match string // that they were searched for by
	First bool   // it is the first page of the list
}

func (p *Pages) conversations(r *http.Request) (any, error) {
	match := r.URL.Query().Get("match")
	first, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // anything else begins with the first page
	return conversations{p.list(r, match, first, 100), match, first == 0}, nil
}

// causes is the data of the page that says why the provider's cache missed, and why nothing was done.
type causes struct {
	story.Summary
	Told    int64 // requests whose answer says what the cache had, and that could have hit
	Misses  []cause
	Reasons []cause
}

// cause is a reason with the number of requests that it is of.
type cause struct {
	Text  string
	Count int64
}

func (p *Pages) causes(*http.Request) (any, error) {
	sum, err := p.Source.Summary(lastDays())
	c := causes{Summary: sum, Told: sum.Total.Hits}
	for miss, n := range sum.Total.Misses {
		c.Misses = append(c.Misses, cause{missText(miss), n})
		if miss != event.MissUnknown {
			c.Told += n
		}
	}
	for code, n := range sum.Total.Codes {
		c.Reasons = append(c.Reasons, cause{cmp.Or(code.Sentence(), string(code)), n})
	}
	mostFirst := func(a, b cause) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) }
	slices.SortFunc(c.Misses, mostFirst)
	slices.SortFunc(c.Reasons, mostFirst)
	return c, err
}

// troubles returns the newest failed exchanges.
func (p *Pages) troubles(*http.Request) (any, error) { return p.Source.Troubles(), nil }

// memory is the data of the memory's page.
type memory struct {
	On       bool
	Projects []inject.Notes
}

func (p *Pages) memory(*http.Request) (any, error) {
	all, err := p.Memory.List()
	return memory{p.Memory.On(), all}, err
}

// settings is the data of the configuration's page.
type settings struct{ Changed, Defaults []config.Value }

func (p *Pages) config(*http.Request) (any, error) {
	var s settings
	for _, v := range p.Settings() {
		if v.Changed {
			s.Changed = append(s.Changed, v)
		} else {
			s.Defaults = append(s.Defaults, v)
		}
	}
	return s, nil
}
