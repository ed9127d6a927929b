package journal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"epitome/event"
)

// Report is what became of all exchanges of some time.
type Report struct {
	Version string    `json:"version"` // set by the console, like Mode
	Mode    string    `json:"mode"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Since   time.Time `json:"since"` // the first day of which anything is known
	By      string    `json:"by"`    // as in Reports
	Total   Sums      `json:"total"`
	Rows    []Row     `json:"rows"`
	Prices  struct {
		Source string    `json:"source"`
		Date   time.Time `json:"date"`
		Old    bool      `json:"old"` // more than ninety days
	} `json:"prices"`
	Notes []string `json:"notes,omitempty"` // what a reader should know: damaged files, events that were dropped
}

// Row is a part of a Report.
type Row struct {
	Key  string `json:"key"`
	Sums Sums   `json:"sums"`
}

// Reports returns the sums of a span of whole days, once for each way of grouping: day, model, agent, upstream or
// client. The beginning is rounded down to that of a day, the end up; without one the span begins with what is known, or
// ends now. An error says what to ask for.
func (b *Book) Reports(from, to time.Time, by ...string) (all []Report, err error) {
	for _, name := range by {
		if !slices.Contains([]string{"day", "model", "agent", "upstream", "client"}, name) {
			return nil, fmt.Errorf("cannot group by %.20q: use day, model, agent, upstream or client", name)
		}
	}
	b.lock()
	defer b.mu.Unlock()
	now := b.Now()
	first := now.Format(time.DateOnly)
	for at := range b.sums {
		first = min(first, at.Date)
	}
	since, _ := time.ParseInLocation(time.DateOnly, first, now.Location()) // as sumsOf writes it
	s := Report{
		Since: since, Notes: b.allNotes(),
		From: b.dayOf(cmp.Or(from, since)), To: cmp.Or(to, now),
	}
	s.Prices.Source, s.Prices.Date = event.PricesSource, event.PricesDate
	s.Prices.Old = now.Sub(event.PricesDate) > 90*24*time.Hour
	for _, name := range by {
		s.By, s.Rows, s.Total = name, []Row{}, Sums{}
		b.group(&s, to)
		all = append(all, s)
	}
	return all, nil
}

// group sets the rows and the total of a report whose span ends at a time; zero: now.
func (b *Book) group(s *Report, to time.Time) {
	rows := map[string]*Sums{}
	first, last := s.From.Format(time.DateOnly), to.In(s.From.Location()).Format(time.DateOnly)
	for at, sums := range b.sums {
		if at.Date < first || !to.IsZero() && at.Date > last {
			continue
		}
		keys := map[string]string{
			"day": at.Date, "model": at.Model, "agent": at.Agent, "upstream": at.Upstream, "client": at.Client,
		}
		key := keys[s.By]
		if rows[key] == nil {
			rows[key] = &Sums{}
		}
		rows[key].add(sums)
		s.Total.add(sums)
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		s.Rows = append(s.Rows, Row{key, *rows[key]})
	}
}
