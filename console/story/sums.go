package story

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"epitome/event"
)

// cell is what sums are kept by.
type cell struct {
	start                   int64 // of an hour, or of a day if that is long ago; seconds since 1970
	upstream, model, client string
	conversation            string // empty: of none, or of one that is forgotten
}

// OtherModels is the model of sums once more models were named than have sums of their own.
const OtherModels = "other"

// hourly is how long sums are kept by the hour; after that, by the day.
const hourly = 8 * 24 * time.Hour

// sumsOf returns the sums to which an event belongs.
func (b *Book) sumsOf(at time.Time, upstream, model, client string, t *talk) *Sums {
	if !b.models[model] && len(b.models) >= mostModels {
		model = OtherModels
	}
	b.models[model] = true
	c := cell{start: b.hourOf(at).Unix(), upstream: upstream, model: model, client: client}
	if t != nil {
		c.conversation = t.ID
	}
	return b.cell(c)
}

func (b *Book) cell(c cell) *Sums {
	s := b.cells[c]
	if s == nil {
		s = &Sums{}
		b.cells[c] = s
	}
	return s
}

// mergeCells merges the cells of forgotten conversations, and those of old hours to days.
func (b *Book) mergeCells() {
	fine := b.Now().Add(-hourly)
	if len(b.cells) > mostCells {
		fine = b.Now().Add(-24 * time.Hour)
	}
	for at, s := range b.cells {
		to := at
		if b.talks[at.conversation] == nil {
			to.conversation = ""
		}
		if start := time.Unix(at.start, 0); start.Before(fine) {
			to.start = b.dayOf(start).Unix()
		}
		if to != at {
			delete(b.cells, at)
			b.cell(to).add(s)
		}
	}
}

// hourOf returns the beginning of the hour of a time.
func (b *Book) hourOf(at time.Time) time.Time {
	at = at.In(b.Now().Location())
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), 0, 0, 0, at.Location())
}

// dayOf returns the beginning of the day of a time.
func (b *Book) dayOf(at time.Time) time.Time {
	at = at.In(b.Now().Location())
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
}

// groupings return the key of the row of a Summary that a cell belongs to, by the value of Span.By.
var groupings = map[string]func(c cell, start time.Time) string{
	"day":          func(_ cell, start time.Time) string { return start.Format(time.DateOnly) },
	"hour":         func(_ cell, start time.Time) string { return start.Format(time.RFC3339) },
	"model":        func(c cell, _ time.Time) string { return c.model },
	"upstream":     func(c cell, _ time.Time) string { return c.upstream },
	"client":       func(c cell, _ time.Time) string { return c.client },
	"conversation": func(c cell, _ time.Time) string { return c.conversation },
}

// Summary returns the sums of a span, whose beginning is rounded down to an hour, or to a day if it is more than eight
// days ago. An error says what to ask for.
func (b *Book) Summary(asked Span) (Summary, error) {
	by := cmp.Or(asked.By, "day")
	keyOf := groupings[by]
	if keyOf == nil {
		return Summary{}, errors.New("by must be day, hour, model, upstream, client or conversation")
	}
	b.lock()
	defer b.mu.Unlock()
	now := b.Now()
	s := Summary{
		Version: b.Version, Mode: b.Mode(), Now: now, By: by, Since: cmp.Or(b.since, now), Rows: []Row{},
		To: cmp.Or(asked.To, now), Prices: b.Prices(), Live: b.countLive(), Notes: b.allNotes(),
	}
	if s.From = b.hourOf(cmp.Or(asked.From, s.Since)); asked.From.IsZero() || now.Sub(s.From) >= hourly {
		s.From = b.dayOf(s.From)
	}
	rows := map[string]*Sums{}
	for at, sums := range b.cells {
		start := time.Unix(at.start, 0).In(now.Location())
		if start.Before(s.From) || !asked.To.IsZero() && start.After(asked.To) {
			continue
		}
		key := keyOf(at, start)
		if rows[key] == nil {
			rows[key] = &Sums{}
		}
		rows[key].add(sums)
		s.Total.add(sums)
	}
	for key, sums := range rows {
		s.Rows = append(s.Rows, Row{key, *sums})
	}
	slices.SortFunc(s.Rows, func(x, y Row) int { return strings.Compare(x.Key, y.Key) })
	return s, nil
}

// allNotes returns what a reader of figures should know.
func (b *Book) allNotes() []string {
	notes := slices.Concat(b.State(), b.notes)
	b.queueing.Lock()
	defer b.queueing.Unlock()
	if b.dropped > 0 {
		notes = append(notes, fmt.Sprintf("%d events were dropped because too many came at once; figures lack them",
			b.dropped))
	}
	if b.files.failed != nil {
		notes = append(notes, "events cannot be written to disk; figures lack them after a restart")
	}
	select {
	case <-b.loaded:
	default:
		notes = append(notes, "older events are still being read")
	}
	return notes
}

// add adds all counts of t to those of s.
func (s *Sums) add(t *Sums) { addCounts(reflect.ValueOf(s).Elem(), reflect.ValueOf(t).Elem()) }

// addCounts adds the integers of a struct, of structs in it, and of maps in it, to those of another one of its type.
func addCounts(to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Struct:
		for i := range to.NumField() {
			addCounts(to.Field(i), from.Field(i))
		}
	case reflect.Int64:
		to.SetInt(to.Int() + from.Int())
	case reflect.Map:
		if to.IsNil() && from.Len() > 0 {
			to.Set(reflect.MakeMap(to.Type()))
		}
		for _, key := range from.MapKeys() {
			sum := reflect.New(to.Type().Elem()).Elem()
			if old := to.MapIndex(key); old.IsValid() {
				sum.Set(old)
			}
			sum.SetInt(sum.Int() + from.MapIndex(key).Int())
			to.SetMapIndex(key, sum)
		}
	}
}

// count adds one to a count if it applies.
func count(n *int64, applies bool) {
	if applies {
		*n++
	}
}

// addExchange counts an exchange. died: it is the first one of its conversation that was larger than its window.
func (s *Sums) addExchange(e *event.Exchange, died bool) {
	s.Exchanges++
	count(&s.Failed, isFailed(e))
	count(&s.Rescued, e.Rescue.Rescued)
	count(&s.Hits, e.Miss == event.NoMiss && isAnswered(e) && tellsCache(&e.Usage))
	if e.Miss != event.NoMiss {
		if s.Misses == nil {
			s.Misses = map[event.Miss]int64{}
		}
		s.Misses[e.Miss]++
	}
	s.addUsage(&e.Usage)
	s.addBill(&e.Bill)
	before, after := int64(e.TokensBefore.Total()), int64(e.TokensAfter.Total())
	switch {
	case e.ShapeTime > 0 && e.Mode == event.ModeObserve:
		s.Observed.Exchanges++
		s.Observed.TokensBefore += before
		s.Observed.TokensAfter += after
	case e.ShapeTime > 0 && e.Mode == event.ModeOn:
		s.Shaped++
		count(&s.Bypassed, e.Action == event.ActionBypass)
		s.TokensBefore += before
		s.TokensAfter += after
		s.TakenOut += int64(e.TakenOut)
		s.Offloaded += int64(e.Offloaded)
		s.Cleared += int64(e.Cleared)
		s.Compacted += int64(e.Compacted)
		if e.Code != event.NoCode {
			if s.Codes == nil {
				s.Codes = map[event.Code]int64{}
			}
			s.Codes[e.Code]++
		}
		if e.Bill.Ruled {
			s.Money.Ruled++
			s.Money.Raw += e.Bill.Raw
			s.Money.Sent += e.Bill.Sent
			s.Money.Saved += e.Bill.Saved()
		}
		count(&s.Money.Beyond, e.Bill.Beyond)
		count(&s.Money.Died, died)
	}
}

// SumsOf returns the sums of one exchange.
func SumsOf(e *event.Exchange) (s Sums) {
	s.addExchange(e, false)
	return s
}

// isFailed reports whether the client did not get the whole of a good answer.
func isFailed(e *event.Exchange) bool {
	return e.Status >= http.StatusBadRequest || e.Fault != event.None
}

func (s *Sums) addUsage(u *event.Usage) {
	if u.Source == "" || u.Odd {
		return
	}
	isReported := u.Source == event.UsageProvider
	count(&s.Usage.Told, isReported)
	count(&s.Usage.Counted, !isReported)
	count(&s.Usage.Cut, isReported && u.Cut)
	s.Usage.Input += int64(u.Input)
	s.Usage.Read += int64(u.Read)
	s.Usage.Write += int64(u.Write5m) + int64(u.Write1h)
	s.Usage.Output += int64(u.Output)
	if tellsCache(u) {
		s.Usage.CacheInput += int64(u.Input)
	}
}

func (s *Sums) addBill(b *event.Bill) {
	count(&s.Money.Unpriced, b.IsUnpriced())
	if b.Measured {
		s.Money.Measured++
		s.Money.Billed += b.Billed
		count(&s.Money.AtLeast, b.AtLeast)
		count(&s.Money.Listed, b.Subscription)
	}
}

// addOwn counts the cost of a summary.
func (s *Sums) addOwn(own *event.Summary) {
	s.Money.Own += own.Own.Nano
	s.Money.Saved -= own.Own.Nano
	count(&s.Money.Uncharged, own.IsUncharged())
}
