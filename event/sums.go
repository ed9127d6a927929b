package event

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"
)

// cell is what sums are kept by.
type cell struct {
	day                     int64 // its beginning, in seconds since 1970
	upstream, model, client string
}

// otherModels is the model of sums once more models were named than have sums of their own.
const otherModels = "other"

// sumsOf returns the sums to which an event belongs.
func (b *Book) sumsOf(at time.Time, upstream, model, client string) *Sums {
	if !b.models[model] && len(b.models) >= mostModels {
		model = otherModels
	}
	b.models[model] = true
	c := cell{b.dayOf(at).Unix(), upstream, model, client}
	if b.cells[c] == nil {
		b.cells[c] = &Sums{}
	}
	return b.cells[c]
}

// dayOf returns the beginning of the day of a time.
func (b *Book) dayOf(at time.Time) time.Time {
	at = at.In(b.Now().Location())
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
}

// Report returns the sums of a span of whole days: its beginning is rounded down to that of a day, its end up. An error
// says what to ask for.
func (b *Book) Report(asked Span) (Report, error) {
	by := cmp.Or(asked.By, "day")
	if !slices.Contains([]string{"day", "model", "upstream", "client"}, by) {
		return Report{}, errors.New("by must be day, model, upstream or client")
	}
	b.lock()
	defer b.mu.Unlock()
	now := b.Now()
	s := Report{
		Now: now, By: by, Since: cmp.Or(b.since, now), Rows: []Row{}, Live: b.countLive(), Notes: b.allNotes(),
		From: b.dayOf(cmp.Or(asked.From, b.since, now)), To: cmp.Or(asked.To, now), Prices: listPrices(now),
	}
	rows := map[string]*Sums{}
	for at, sums := range b.cells {
		day := time.Unix(at.day, 0).In(now.Location())
		if day.Before(s.From) || !asked.To.IsZero() && day.After(asked.To) {
			continue
		}
		key := map[string]string{
			"day": day.Format(time.DateOnly), "model": at.model, "upstream": at.upstream, "client": at.client,
		}[by]
		if rows[key] == nil {
			rows[key] = &Sums{}
		}
		rows[key].add(sums)
		s.Total.add(sums)
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		s.Rows = append(s.Rows, Row{key, *rows[key]})
	}
	return s, nil
}

// listPrices returns where list prices come from.
func listPrices(now time.Time) PriceSource {
	const old = 90 * 24 * time.Hour
	t := BuiltinPrices()
	return PriceSource{Source: t.Source, Date: t.Date, Old: now.Sub(t.Date) > old}
}

// allNotes returns what a reader of figures should know.
func (b *Book) allNotes() []string {
	notes := slices.Clone(b.notes)
	b.queueing.Lock()
	defer b.queueing.Unlock()
	if b.dropped > 0 {
		notes = append(notes, fmt.Sprintf("%d events were dropped because too many came at once; figures lack them",
			b.dropped))
	}
	if b.journal.failed != nil {
		notes = append(notes, "events cannot be written to disk; figures lack them after a restart")
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

// counts are numbers by what they count.
type counts[K comparable] map[K]int64

func (c *counts[K]) count(key K) {
	if *c == nil {
		*c = counts[K]{}
	}
	(*c)[key]++
}

// count adds one to a count if it applies.
func count(n *int64, applies bool) {
	if applies {
		*n++
	}
}

// addExchange counts an exchange. died: it is the first one of its conversation that was larger than its window.
func (s *Sums) addExchange(e *Exchange, died bool) {
	s.Exchanges++
	count(&s.Failed, isFailed(e))
	count(&s.Rescued, e.Rescue.Rescued)
	count(&s.Hits, e.Miss == NoMiss && isAnswered(e) && tellsCache(&e.Usage))
	if e.Miss != NoMiss {
		s.Misses.count(e.Miss)
	}
	s.addUsage(&e.Usage)
	s.Money.addBill(&e.Bill)
	before, after := int64(e.TokensBefore.Total()), int64(e.TokensAfter.Total())
	switch {
	case e.ShapeTime > 0 && e.Mode == ModeObserve:
		s.Observed.Exchanges++
		s.Observed.TokensBefore += before
		s.Observed.TokensAfter += after
	case e.ShapeTime > 0 && e.Mode == ModeOn:
		s.Shaped++
		s.TokensBefore += before
		s.TokensAfter += after
		s.TakenOut += int64(e.TakenOut)
		s.Offloaded += int64(e.Offloaded)
		s.Cleared += int64(e.Cleared)
		s.Compacted += int64(e.Compacted)
		if e.Code != NoCode {
			s.Codes.count(e.Code)
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
func SumsOf(e Exchange) (s Sums) {
	s.addExchange(&e, false)
	return s
}

// isFailed reports whether the client did not get the whole of a good answer.
func isFailed(e *Exchange) bool {
	return e.Status >= http.StatusBadRequest || e.Fault != None
}

func (s *Sums) addUsage(u *Usage) {
	if u.Source == "" || u.Odd {
		return
	}
	isReported := u.Source == UsageProvider
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

func (m *Money) addBill(b *Bill) {
	count(&m.Unpriced, b.IsUnpriced())
	if b.Measured {
		m.Measured++
		m.Billed += b.Billed
		count(&m.AtLeast, b.AtLeast)
		count(&m.Listed, b.Subscription)
	}
}

// addOwn counts the cost of a summary.
func (s *Sums) addOwn(nano int64) {
	s.Money.Own += nano
	s.Money.Saved -= nano
}
