package pages

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"epitome/console/markup"
	"epitome/console/pages/drawing"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
	"epitome/event"
)

// overview is the first page.
type overview struct {
	story.Summary
	Address string // that the program listens on
	Spans   []markup.Choice
	By      []markup.Choice
	Group   string      // model, upstream or conversation
	Groups  []story.Row // of the total, by model, upstream or conversation: the largest
	Grouped int         // how many there are
	Live    []story.Conversation
	Rates   *drawing.Rates   // nil: there were no exchanges
	Wrong   []event.Exchange // the newest that went wrong
	Misses  []reason
	Reasons []reason
	frame.Reader
}

// reason is how often there was a cause.
type reason struct {
	Key, Text string
	Count     int64
}

// mostGroups bounds a table of the overview.
const mostGroups = 12

// mostLive is how many live conversations the overview shows.
const mostLive = 10

// overview makes the first page.
func (p *Pages) overview(r *http.Request) (*frame.Page, error) {
	q := r.URL.Query()
	span, by := cmp.Or(q.Get("span"), "30d"), cmp.Or(q.Get("by"), "model")
	from, known := begin(span, p.plugs.Zone)
	if !known {
		span = "30d"
		from, _ = begin(span, p.plugs.Zone)
	}
	groups, err := p.groups(from)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(groups, by) {
		by = "model"
	}
	time := "day"
	if span == "today" {
		time = "hour"
	}
	made, err := p.plugs.Source.Summary(story.Span{From: from, By: time})
	if err != nil {
		return nil, err
	}
	grouped, err := p.plugs.Source.Summary(story.Span{From: from, By: by})
	if err != nil {
		return nil, err
	}
	recent, err := p.plugs.Source.Conversations(story.Listing{Live: true, Limit: mostLive})
	if err != nil {
		return nil, err
	}
	o := overview{Summary: made, Address: p.plugs.Address, Group: by,
		Groups: largest(grouped.Rows), Grouped: len(grouped.Rows),
		Rates: drawing.NewRates(made.Rows, time), Misses: missReasons(made.Total.Misses),
		Reasons: codeReasons(made.Total.Codes), Reader: p.reader(r), Wrong: p.plugs.Source.Troubles()}
	for _, c := range recent.Items {
		if c.Live && len(o.Live) < mostLive {
			o.Live = append(o.Live, c)
		}
	}
	at := func(span, by string) markup.Address { return markup.At().With("span", span).With("by", by) }
	for _, s := range [...][2]string{{"today", "today"}, {"7d", "7 days"}, {"30d", "30 days"}, {"all", "all"}} {
		o.Spans = append(o.Spans, markup.Choice{Text: s[1], To: at(s[0], by), Here: s[0] == span})
	}
	for _, b := range groups {
		o.By = append(o.By, markup.Choice{Text: b, To: at(span, b).To("by"), Here: b == by})
	}
	return &frame.Page{Title: "Overview", Here: "overview", Body: o.view()}, nil
}

// groups are what figures since a time can be told apart by: by clients where there are any.
func (p *Pages) groups(from time.Time) ([]string, error) {
	shares, err := p.plugs.Source.Summary(story.Span{From: from, By: story.ByClient})
	if slices.ContainsFunc(shares.Rows, func(r story.Row) bool { return r.Key != "" }) {
		return []string{story.ByModel, story.ByUpstream, story.ByClient, story.ByConversation}, err
	}
	return []string{story.ByModel, story.ByUpstream, story.ByConversation}, err
}

// begin is when a time begins that a page can be asked for.
func begin(span string, zone *time.Location) (from time.Time, known bool) {
	now := time.Now().In(zone)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)
	switch span {
	case "today":
		return today, true
	case "7d":
		return today.AddDate(0, 0, -6), true
	case "30d":
		return today.AddDate(0, 0, -29), true
	case "all":
		return time.Time{}, true
	}
	return time.Time{}, false
}

// largest returns the rows with the most exchanges.
func largest(rows []story.Row) []story.Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b story.Row) int { return cmp.Compare(b.Sums.Exchanges, a.Sums.Exchanges) })
	return rows[:min(len(rows), mostGroups)]
}

func missReasons(by map[event.Miss]int64) (all []reason) {
	for m, n := range by {
		all = append(all, reason{string(m), words.Miss(m), n})
	}
	return sortReasons(all)
}

func codeReasons(by map[event.Code]int64) (all []reason) {
	for c, n := range by {
		if c != event.NoCode {
			all = append(all, reason{string(c), words.Code(c), n})
		}
	}
	return sortReasons(all)
}

// sortReasons puts the most frequent first.
func sortReasons(all []reason) []reason {
	slices.SortFunc(all, func(a, b reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
	})
	return all
}
