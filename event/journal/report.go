package journal

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	Fleet   bool      `json:"fleet"` // of all replicas
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

// WriteCSV writes the rows as lines of comma-separated values, below a line with the keys of their sums.
func (r *Report) WriteCSV(to io.Writer) error {
	heading := []string{r.By}
	for _, f := range Figures {
		if f.Share == nil {
			heading = append(heading, f.Key)
		}
	}
	w := csv.NewWriter(to)
	_ = w.Write(heading) // w keeps an error until the end
	for _, row := range r.Rows {
		key := row.Key // clients choose it
		if strings.IndexAny(key, "=+-@\t\r") == 0 {
			key = "'" + key // else a spreadsheet takes it for a formula
		}
		line := []string{key}
		for _, f := range Figures {
			if f.Share == nil {
				line = append(line, strconv.FormatInt(*f.In(&row.Sums), 10))
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
	return w.Error()
}

// Add adds the sums of another epitome.
func (r *Report) Add(other *Report) {
	for _, row := range other.Rows {
		i, isKnown := slices.BinarySearchFunc(r.Rows, row.Key, func(known Row, key string) int {
			return strings.Compare(known.Key, key)
		})
		if !isKnown {
			r.Rows = slices.Insert(r.Rows, i, Row{Key: row.Key})
		}
		r.Rows[i].Sums.add(&row.Sums)
	}
	r.Total.add(&other.Total)
}

// Reports returns the sums of a span of whole days, once for each way of grouping: day, model, agent, upstream or
// client. The beginning is rounded down to that of a day, the end up; without one the span begins with what is known, or
// ends now. Where the store is shared, the sums are those of all replicas. An error says what to ask for.
func (b *Book) Reports(from, to time.Time, by ...string) (all []Report, err error) {
	for _, name := range by {
		if !slices.Contains([]string{"day", "model", "agent", "upstream", "client"}, name) {
			return nil, fmt.Errorf("cannot group by %.20q: use day, model, agent, upstream or client", name)
		}
	}
	var sums days
	var away error
	if b.Shared != nil {
		sums, away = b.ofFleet(from)
	}
	b.lock()
	defer b.mu.Unlock()
	if b.Shared == nil {
		sums = b.days
	}
	now := b.Now()
	first := slices.Min(append(slices.Collect(maps.Keys(sums)), now.Format(time.DateOnly)))
	since, _ := time.ParseInLocation(time.DateOnly, first, now.Location()) // as sumsOf writes it
	s := Report{
		Since: since, Notes: b.allNotes(), Fleet: b.Shared != nil && away == nil,
		From: b.dayOf(cmp.Or(from, since)), To: cmp.Or(to, now),
	}
	if away != nil {
		s.Notes = append(s.Notes, "the store does not answer: figures have only what this replica has not shared yet")
	}
	s.Prices.Source, s.Prices.Date = event.PricesSource, event.PricesDate
	s.Prices.Old = now.Sub(event.PricesDate) > 90*24*time.Hour
	for _, name := range by {
		s.By, s.Rows, s.Total = name, []Row{}, Sums{}
		b.group(&s, sums, to)
		all = append(all, s)
	}
	return all, nil
}

// group sets the rows and the total of a report whose span ends at a time; zero: now.
func (b *Book) group(s *Report, all days, to time.Time) {
	rows := map[string]*Sums{}
	first, last := s.From.Format(time.DateOnly), to.In(s.From.Location()).Format(time.DateOnly)
	for date, sums := range all {
		if date < first || !to.IsZero() && date > last {
			continue
		}
		for at, sums := range sums {
			keys := map[string]string{
				"day": date, "model": at.Model, "agent": at.Agent, "upstream": at.Upstream, "client": at.Client,
			}
			key := keys[s.By]
			if rows[key] == nil {
				rows[key] = &Sums{}
			}
			rows[key].add(sums)
			s.Total.add(sums)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		s.Rows = append(s.Rows, Row{key, *rows[key]})
	}
}
