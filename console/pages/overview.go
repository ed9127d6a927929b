package pages

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"epitome/console/story"
	"epitome/event"
)

// overview is the data of the first page.
type overview struct {
	story.Summary
	Address string // that the program listens on
	Spans   []choice
	Days    chart                // tokens by day, or by hour
	Newest  *conversation        // nil: there is none
	Recent  []story.Conversation // the newest first
	More    int                  // conversations that are not listed
}

// choice is one of several links.
type choice struct {
	Text, Link string
	Current    bool
}

// listed is how many conversations the overview lists.
const listed = 10

func (p *Pages) overview(r *http.Request) (any, error) {
	span, choices := p.span(r)
	sum, err := p.Source.Summary(span)
	if err != nil {
		return nil, err
	}
	page, err := p.Source.Conversations(story.Listing{Limit: listed})
	if err != nil {
		return nil, err
	}
	hideTitles(r, page.Items)
	o := &overview{Summary: sum, Address: p.Address, Spans: choices, Recent: page.Items,
		More: page.Total - len(page.Items)}
	var columns []column
	for _, row := range sum.Rows {
		columns = append(columns, dayColumn(row, isObserved(sum.Total)))
	}
	o.Days = drawChart("Tokens before and after, by "+span.By, columns)
	if newest := newestOf(page.Items); newest != "" {
		if o.Newest, err = p.loadConversation(newest, 0, story.IsOwner(r)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// span returns the time that a request asks for with ?span=, and the links to all that can be asked for.
func (p *Pages) span(r *http.Request) (story.Span, []choice) {
	now := time.Now().In(p.Zone)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, p.Zone)
	begins := []struct {
		name string
		from time.Time
	}{{"today", today}, {"7d", today.AddDate(0, 0, -6)}, {"30d", today.AddDate(0, 0, -29)}, {"all", time.Time{}}}
	asked := cmp.Or(r.URL.Query().Get("span"), "30d")
	span, choices := story.Span{From: begins[2].from, By: story.ByDay}, make([]choice, 0, len(begins))
	for _, b := range begins {
		if b.name == asked {
			span.From = b.from
		}
		choices = append(choices, choice{b.name, "?span=" + b.name, b.name == asked})
	}
	if asked == "today" {
		span.By = story.ByHour
	}
	return span, choices
}

// dayColumn returns the column of a day, or of an hour.
func dayColumn(row story.Row, observed bool) column {
	c := column{Label: row.Key, Before: row.Sums.TokensBefore, After: row.Sums.TokensAfter}
	if observed {
		c.Before, c.After = row.Sums.Observed.TokensBefore, row.Sums.Observed.TokensAfter
	}
	if at, err := time.Parse(time.DateOnly, row.Key); err == nil {
		c.Label = at.Format("Jan 2")
	} else if at, err := time.Parse(time.RFC3339, row.Key); err == nil {
		c.Label = at.Format("15:04")
	}
	c.Title = c.Label + ": " + beforeAfter(c.Before, c.After) + ", " + plural(row.Sums.Exchanges, "request")
	return c
}

// newestOf returns the ID of the conversation that was used last. One of a single turn, as agents have them for titles,
// counts only where there is no longer one.
func newestOf(all []story.Conversation) string {
	if i := slices.IndexFunc(all, func(c story.Conversation) bool { return c.Turns > 1 }); i >= 0 {
		return all[i].ID
	}
	if len(all) > 0 {
		return all[0].ID
	}
	return ""
}

// conversations is the data of the list of all conversations.
type conversations struct {
	story.Page[story.Conversation]
	Match string // that they were searched for by
	First bool   // it is the first page of the list
}

func (p *Pages) conversations(r *http.Request) (any, error) {
	q := r.URL.Query()
	page, err := p.Source.Conversations(story.Listing{Cursor: q.Get("cursor"), Match: q.Get("match")})
	hideTitles(r, page.Items)
	return conversations{page, q.Get("match"), q.Get("cursor") == ""}, err
}

// hideTitles takes the users' words out of what anybody but the owner is shown.
func hideTitles(r *http.Request, all []story.Conversation) {
	for i := range all {
		if !story.IsOwner(r) {
			all[i].Title = ""
		}
	}
}

// causes is the data of the page that says why the provider's cache missed, and why nothing was done.
type causes struct {
	story.Summary
	Spans   []choice
	Told    int64 // requests whose answer says what the cache had, and that could have hit
	Misses  []cause
	Reasons []cause
}

// cause is a reason with the number of requests that it is of.
type cause struct {
	Text  string
	Count int64
}

func (p *Pages) causes(r *http.Request) (any, error) {
	span, choices := p.span(r)
	sum, err := p.Source.Summary(span)
	c := causes{Summary: sum, Spans: choices, Told: sum.Total.Hits}
	for miss, n := range sum.Total.Misses {
		c.Misses = append(c.Misses, cause{missText(miss), n})
		if miss != event.MissUnknown {
			c.Told += n
		}
	}
	for code, n := range sum.Total.Codes {
		if code != event.NoCode {
			c.Reasons = append(c.Reasons, cause{codeText(code), n})
		}
	}
	mostFirst := func(a, b cause) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) }
	slices.SortFunc(c.Misses, mostFirst)
	slices.SortFunc(c.Reasons, mostFirst)
	return c, err
}

// troubles returns the newest failed exchanges.
func (p *Pages) troubles(*http.Request) (any, error) { return p.Source.Troubles(), nil }
