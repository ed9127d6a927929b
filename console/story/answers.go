package story

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"epitome/event"
)

// ErrUnknown says that nothing is kept under an id, a number or a cursor.
var ErrUnknown = errors.New("nothing is known of it: it never was, or it is no longer kept")

// Span selects the exchanges of a Summary.
type Span struct {
	From, To time.Time // zero: the beginning, and now
	By       string    // what each row sums up; empty: day
}

// The values of Span.By.
const (
	ByDay          = "day"
	ByHour         = "hour"
	ByModel        = "model"
	ByUpstream     = "upstream"
	ByClient       = "client"
	ByConversation = "conversation"
)

// Summary returns the sums of a span, which is widened to whole hours, or to whole days if it begins more than eight
// days ago. An error says what to ask for.
func (b *Book) Summary(asked Span) (Summary, error) {
	by := cmp.Or(asked.By, ByDay)
	if !slices.Contains([]string{ByDay, ByHour, ByModel, ByUpstream, ByClient, ByConversation}, by) {
		return Summary{}, errors.New("by must be day, hour, model, upstream, client or conversation")
	}
	b.lock()
	defer b.mu.Unlock()
	now := b.plugs.Now()
	s := Summary{
		Version: b.conf.Version, Mode: b.plugs.Mode(), Now: now, By: by, Since: cmp.Or(b.since, now), Rows: []Row{},
		Prices: b.plugs.Prices(), Live: b.countLive(), Notes: b.allNotes(),
	}
	s.From, s.To = cmp.Or(asked.From, s.Since), cmp.Or(asked.To, now)
	if now.Sub(s.From) < hourly {
		s.From = b.hourOf(s.From)
	} else {
		s.From = b.dayOf(s.From)
	}
	if hour := b.hourOf(s.To); hour.Before(s.To) {
		s.To = hour.Add(time.Hour)
	}
	for at := range b.cells { // a clock may have been set back, and old cells begin with a day
		start := time.Unix(at.start, 0).In(b.zone())
		if asked.From.IsZero() && start.Before(s.From) {
			s.From = start
		}
		if asked.To.IsZero() && !start.Before(s.To) {
			s.To = start.Add(time.Hour)
		}
	}
	rows := map[string]*Sums{}
	for at, sums := range b.cells {
		start := time.Unix(at.start, 0).In(b.zone())
		if start.Before(s.From) || !start.Before(s.To) {
			continue
		}
		var key string
		switch by {
		case ByDay:
			key = start.Format(time.DateOnly)
		case ByHour:
			key = start.Format(time.RFC3339)
		case ByModel:
			key = at.model
		case ByUpstream:
			key = at.upstream
		case ByClient:
			key = at.client
		case ByConversation:
			key = at.conversation
		}
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
func (b *Book) allNotes() (notes []string) {
	if b.plugs.State != nil {
		notes = b.plugs.State()
	}
	if n := b.CountDropped(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d events were dropped because too many came at once; figures since the start "+
			"lack them", n))
	}
	if b.files.lost > 0 {
		notes = append(notes, fmt.Sprintf("%d events could not be written to disk; figures lack them after a restart",
			b.files.lost))
	}
	select {
	case <-b.loaded:
	default:
		notes = append(notes, "older events are still being read")
	}
	return append(notes, b.notes...)
}

// from returns the index of the first recent event with at least this number.
func (b *Book) from(seq uint64) int {
	return sort.Search(len(b.recent), func(i int) bool { return b.recent[i].Seq() >= seq })
}

// Exchange returns the exchange of a number, or ErrUnknown.
func (b *Book) Exchange(seq uint64) (event.Exchange, error) {
	b.lock()
	defer b.mu.Unlock()
	i := b.from(seq)
	if i == len(b.recent) || b.recent[i].Seq() != seq || b.recent[i].Exchange == nil {
		return event.Exchange{}, ErrUnknown
	}
	return *b.recent[i].Exchange, nil
}

// Since returns the events after a number, and the number of the newest event. whole is false if some of them are no
// longer kept, or if there was no event of that number yet. The caller must not change the events.
func (b *Book) Since(seq uint64) (after []Entry, newest uint64, whole bool) {
	<-b.loaded
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq > b.seq {
		return nil, b.seq, false
	}
	after = slices.Clone(b.recent[b.from(seq+1):])
	return after, b.seq, uint64(len(after)) == b.seq-seq
}

// Troubles returns the newest hundred exchanges that failed, or that went on as they came because epitome failed; the
// newest first.
func (b *Book) Troubles() []event.Exchange {
	b.lock()
	defer b.mu.Unlock()
	all := []event.Exchange{}
	for _, n := range slices.Backward(b.recent) {
		if e := n.Exchange; e != nil && (isFailed(e) || e.Action == event.ActionBypass) && len(all) < 100 {
			all = append(all, *e)
		}
	}
	return all
}
