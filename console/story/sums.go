package story

import (
	"net/http"
	"reflect"
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
func (b *Book) mergeCells(now time.Time) {
	fine := now.Add(-hourly)
	if len(b.cells) > mostCells {
		fine = now.Add(-24 * time.Hour)
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

func (b *Book) zone() *time.Location { return b.plugs.Now().Location() }

// hourOf returns the beginning of the hour of a time.
func (b *Book) hourOf(at time.Time) time.Time {
	at = at.In(b.zone())
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), 0, 0, 0, b.zone())
}

// dayOf returns the beginning of the day of a time.
func (b *Book) dayOf(at time.Time) time.Time {
	at = at.In(b.zone())
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, b.zone())
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

// addExchange counts an exchange. died: it is the first one of its conversation that was larger than its window.
func (s *Sums) addExchange(e *event.Exchange, died bool) {
	s.Exchanges++
	if isFailed(e) {
		s.Failed++
	}
	if e.Rescue.Rescued {
		s.Rescued++
	}
	s.addUsage(&e.Usage)
	s.addBill(&e.Bill)
	switch {
	case e.Miss != event.NoMiss:
		if s.Misses == nil {
			s.Misses = map[event.Miss]int64{}
		}
		s.Misses[e.Miss]++
	case isAnswered(e) && tellsCache(&e.Usage):
		s.Hits++
	}
	switch {
	case e.ShapeTime > 0 && e.Mode == event.ModeObserve:
		o := &s.Observed
		o.Exchanges++
		o.TokensBefore += int64(e.TokensBefore.Total())
		o.TokensAfter += int64(e.TokensAfter.Total())
		if e.Bill.Ruled {
			o.Ruled++
			o.Raw += e.Bill.Raw
			o.Sent += e.Bill.Sent
		}
	case e.ShapeTime > 0 && e.Mode == event.ModeOn:
		s.addShaping(e, died)
	}
}

// isFailed reports whether the client did not get the whole of a good answer.
func isFailed(e *event.Exchange) bool {
	return e.Status >= http.StatusBadRequest || e.Fault != event.None
}

func (s *Sums) addUsage(u *event.Usage) {
	if u.Source == "" || u.Odd {
		return
	}
	if u.Source == event.UsageProvider {
		s.Usage.Told++
	} else {
		s.Usage.Counted++
	}
	if u.Source == event.UsageProvider && u.Cut {
		s.Usage.Cut++
	}
	s.Usage.Input += int64(u.Input)
	s.Usage.Read += int64(u.Read)
	s.Usage.Write += int64(u.Write5m) + int64(u.Write1h)
	s.Usage.Output += int64(u.Output)
	if tellsCache(u) {
		s.Usage.CacheInput += int64(u.Input)
	}
}

func (s *Sums) addBill(b *event.Bill) {
	if b.IsUnpriced() {
		s.Money.Unpriced++
	}
	if !b.Measured {
		return
	}
	s.Money.Measured++
	s.Money.Billed += b.Billed
	s.Money.Most += max(b.Most, b.Billed)
	if b.AtLeast {
		s.Money.AtLeast++
	}
	if b.Subscription {
		s.Money.Listed++
	}
}

func (s *Sums) addShaping(e *event.Exchange, died bool) {
	s.Shaped++
	if e.Action == event.ActionBypass {
		s.Bypassed++
	}
	s.TokensBefore += int64(e.TokensBefore.Total())
	s.TokensAfter += int64(e.TokensAfter.Total())
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
	if e.Bill.Beyond {
		s.Money.Beyond++
	}
	if died {
		s.Money.Died++
	}
}

// addOwn counts the cost of a summary.
func (s *Sums) addOwn(own *event.Summary) {
	s.Money.Own += own.Own.Nano
	s.Money.Saved -= own.Own.Nano
	if own.IsUncharged() {
		s.Money.Uncharged++
	}
}
