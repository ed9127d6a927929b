package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"epitome/console/chart"
	"epitome/console/story"
	"epitome/event"
)

// link is one of several ways to look at a page.
type link struct {
	Text, To string
	Here     bool
}

// overview is the first page.
type overview struct {
	story.Summary
	Spans    []link
	By       []link
	Group    string      // model, upstream or conversation
	Groups   []story.Row // of the total, by model, upstream or conversation
	Live     []story.Conversation
	Hourly   bool
	Rates    *rates
	Misses   []reason
	Reasons  []reason
	Drifts   bool // the bill differs from the ruler by more than rulers do
	Shaped   bool // some conversation was shaped or watched
	SentLess int64
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

// usualDrift is how far, in parts of a million, a bill may be from the ruler without a word.
const usualDrift = 50_000

// overview makes the first page.
func (p *Pages) overview(r *http.Request) (*page, error) {
	q := r.URL.Query()
	span, by := cmp.Or(q.Get("span"), "30d"), cmp.Or(q.Get("by"), "model")
	from, known := p.from(span)
	if !known {
		span = "30d"
		from, _ = p.from(span)
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
	o := overview{Summary: made, Group: by, Groups: largest(grouped.Rows), Hourly: time == "hour", Rates: newRates(made.Rows),
		Misses: missReasons(made.Total.Misses), Reasons: codeReasons(made.Total.Codes),
		Shaped:   made.Total.Shaped+made.Total.Observed.Exchanges > 0,
		SentLess: made.Total.TokensBefore - made.Total.TokensAfter}
	o.Drifts = max(made.Total.Money.Drift, -made.Total.Money.Drift) > usualDrift
	for _, c := range recent.Items {
		if c.Live && len(o.Live) < mostLive {
			o.Live = append(o.Live, c)
		}
	}
	for _, s := range [...][2]string{{"today", "today"}, {"7d", "7 days"}, {"30d", "30 days"}, {"all", "all"}} {
		o.Spans = append(o.Spans, link{s[1], "/-/?span=" + s[0] + "&by=" + by, s[0] == span})
	}
	for _, b := range groups {
		o.By = append(o.By, link{b, "/-/?span=" + span + "&by=" + b + "#by", b == by})
	}
	return &page{Template: "overview", Title: "Overview", Here: "overview", Body: o}, nil
}

// groups are what figures since a time can be told apart by: by clients where there are any.
func (p *Pages) groups(from time.Time) ([]string, error) {
	shares, err := p.plugs.Source.Summary(story.Span{From: from, By: story.ByClient})
	if slices.ContainsFunc(shares.Rows, func(r story.Row) bool { return r.Key != "" }) {
		return []string{story.ByModel, story.ByUpstream, story.ByClient, story.ByConversation}, err
	}
	return []string{story.ByModel, story.ByUpstream, story.ByConversation}, err
}

// from is when a time begins that a page can be asked for.
func (p *Pages) from(span string) (from time.Time, known bool) {
	now := time.Now().In(p.plugs.Zone)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, p.plugs.Zone)
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
		all = append(all, reason{string(m), missWords(m), n})
	}
	return sortReasons(all)
}

func codeReasons(by map[event.Code]int64) (all []reason) {
	for c, n := range by {
		if c != event.NoCode {
			all = append(all, reason{string(c), codeWords(c), n})
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

// rates is how many exchanges there were in each hour or day, as a chart.
type rates struct {
	Bars  []rate
	Up    []chart.Tick
	First string
	Last  string // empty where it would stand on First
	End   string // where the last bar ends
}

// rate is one bar.
type rate struct{ X, Y, Width, Height, Title string }

const (
	ratesLeft   = 50
	ratesWidth  = 740
	ratesTop    = 8
	ratesHeight = 80
	mostRates   = 120 // the newest are drawn
)

// newRates draws the rows; nil if there are none.
func newRates(rows []story.Row) *rates {
	rows = rows[max(0, len(rows)-mostRates):]
	most := int64(0)
	for _, row := range rows {
		most = max(most, row.Sums.Exchanges)
	}
	if most == 0 {
		return nil
	}
	plot := chart.Plot{Top: ratesTop, Height: ratesHeight, Most: max(4, chart.AxisEnd(float64(most)))}
	pitch := min(ratesWidth/float64(len(rows)), 60)
	end := ratesLeft + pitch*float64(len(rows))
	c := &rates{First: text(rows[0].Key), End: chart.Units(end), Up: plot.Up()}
	if end > ratesLeft+300 {
		c.Last = text(rows[len(rows)-1].Key)
	}
	for i, row := range rows {
		y := plot.Y(int(row.Sums.Exchanges))
		c.Bars = append(c.Bars, rate{X: chart.Units(ratesLeft + pitch*float64(i) + pitch/10), Y: chart.Units(y),
			Width: chart.Units(pitch * 0.8), Height: chart.Units(ratesTop + ratesHeight - y),
			Title: text(row.Key) + ": " + strconv.FormatInt(row.Sums.Exchanges, 10) + " exchanges, " +
				strconv.FormatInt(row.Sums.Failed, 10) + " failed"})
	}
	return c
}
