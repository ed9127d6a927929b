package journal

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"epitome/event"
)

// Sums are the sums of some exchanges. Amounts are in nano-dollars.
type Sums struct {
	Exchanges    int64 `json:"exchanges"`
	Failed       int64 `json:"failed"`        // status 400 and more, cut off, or with an error
	Rescued      int64 `json:"rescued"`       // refused as too long, then answered
	Shaped       int64 `json:"shaped"`        // conversations, in mode on
	TokensBefore int64 `json:"tokens_before"` // of the shaped ones, before and as sent
	TokensAfter  int64 `json:"tokens_after"`
	// Observed is of conversations in mode observe. They were billed, so all but Shaped, tokens, Codes and estimates of
	// Money count them too.
	Observed struct {
		Exchanges    int64 `json:"exchanges"`
		TokensBefore int64 `json:"tokens_before"`
		TokensAfter  int64 `json:"tokens_after"`
	} `json:"observed"`

	// Of the shaped ones, the compactions, and what agents have read again: see Shaping.
	Compactions     int64 `json:"compactions"`
	ReadAgain       int64 `json:"read_again"`
	ReadAgainTokens int64 `json:"read_again_tokens"`

	Usage UsageSums `json:"usage"`
	Money Money     `json:"money"`

	Misses   map[event.Miss]int64 `json:"misses,omitempty"`        // by cause; hits are not among them
	Rebilled map[event.Miss]int64 `json:"rebilled_nano,omitempty"` // of Money.Billed, for tokens that caches had lost
	Hits     int64                `json:"hits"`
	Codes    map[event.Code]int64 `json:"codes,omitempty"` // why nothing, or not everything, was done
}

// UsageSums are tokens as providers reported them, or as epitome counted them where providers did not.
type UsageSums struct {
	Reported   int64 `json:"told"`  // exchanges with reported tokens
	Input      int64 `json:"input"` // with Read and Write
	Read       int64 `json:"read"`
	Write      int64 `json:"write"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`   // of Output, where answers tell it
	CacheInput int64 `json:"cache_input"` // of Input, where answers report cached tokens; of the rest Read is unknown
	Cut        int64 `json:"cut"`         // answers that were cut off: Output has what they had reported until then
}

// Money sums up costs. Raw is the cost without epitome: what providers would have charged for the same requests, with
// their own caches. Requests larger than the window are Oversized, and have no price. Saved is Raw - Sent - Own.
type Money struct {
	Billed       int64 `json:"billed_nano"`  // of the exchanges whose usage and price are known
	Compared     int64 `json:"ruled"`        // requests that Raw and Sent are of
	Raw          int64 `json:"raw_nano"`     // without epitome
	Sent         int64 `json:"sent_nano"`    // with epitome, by the same estimate
	Own          int64 `json:"own_nano"`     // of requests for summaries and distillates
	Distills     int64 `json:"distill_nano"` // of Own, for distillates
	Saved        int64 `json:"saved_nano"`
	Measured     int64 `json:"measured"` // exchanges that Billed is of
	AtLeast      int64 `json:"at_least"` // of those, exchanges that may have cost more
	Subscription int64 `json:"listed"`   // of those, exchanges by subscription, at list prices
	Unpriced     int64 `json:"unpriced"` // exchanges of conversations that lack an amount
	Oversized    int64 `json:"beyond"`   // requests larger than the window, which would have failed
	KeptAlive    int64 `json:"died"`     // conversations that had an oversized request
}

// Span selects the exchanges of a Report.
type Span struct {
	From, To time.Time // zero: the beginning, and now
	By       string    // of the rows: day, model, upstream or client; empty: day
}

// Report is what became of all exchanges of some time.
type Report struct {
	Version string    `json:"version"` // set by the console, like Mode
	Mode    string    `json:"mode"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Since   time.Time `json:"since"` // from when on anything is known
	By      string    `json:"by"`    // as in Span
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

// cell is what sums are kept by.
type cell struct {
	day                     int64 // its beginning, in seconds since 1970
	upstream, model, client string
}

// otherModel is the name under which models share sums.
const otherModel = "other"

// sumsOf returns the sums to which an event belongs. Once too many models were named, the others share sums.
func (b *Book) sumsOf(at time.Time, upstream, model, client string) *Sums {
	if b.since.IsZero() || at.Before(b.since) {
		b.since = at
	}
	if !b.models[model] && len(b.models) >= mostModels {
		model = otherModel
	}
	b.models[model] = true
	c := cell{day: b.dayOf(at).Unix(), upstream: upstream, model: model, client: client}
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

// Totals returns the sums of the exchanges since the start.
func (b *Book) Totals() (sums Sums) {
	b.lock()
	defer b.mu.Unlock()
	sums.add(&b.totals)
	return sums
}

// Report returns the sums of a span of whole days: its beginning is rounded down to that of a day, its end up. An error
// says what to ask for.
func (b *Book) Report(asked Span) (Report, error) {
	by := cmp.Or(asked.By, "day")
	if !slices.Contains([]string{"day", "model", "upstream", "client"}, by) {
		return Report{}, fmt.Errorf("cannot group by %.20q: use day, model, upstream or client", by)
	}
	b.lock()
	defer b.mu.Unlock()
	now := b.Now()
	s := Report{
		By: by, Since: cmp.Or(b.since, now), Rows: []Row{}, Notes: b.allNotes(),
		From: b.dayOf(cmp.Or(asked.From, b.since, now)), To: cmp.Or(asked.To, now),
	}
	s.Prices.Source, s.Prices.Date = event.PricesSource, event.PricesDate
	s.Prices.Old = now.Sub(event.PricesDate) > 90*24*time.Hour
	rows := map[string]*Sums{}
	for at, sums := range b.cells {
		day := time.Unix(at.day, 0).In(now.Location())
		if day.Before(s.From) || !asked.To.IsZero() && day.After(asked.To) {
			continue
		}
		keys := map[string]string{
			"day": day.Format(time.DateOnly), "model": at.model, "upstream": at.upstream, "client": at.client,
		}
		key := keys[by]
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

// allNotes returns what a reader of figures should know.
func (b *Book) allNotes() []string {
	notes := slices.Clone(b.notes)
	dropped := b.dropped.Load()
	if dropped > 0 {
		notes = append(notes, fmt.Sprintf("%d events were dropped because too many came at once", dropped))
	}
	if b.unwritten != nil {
		notes = append(notes, "events cannot be written to disk: figures may lack them after a restart")
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
			sum := from.MapIndex(key).Int()
			old := to.MapIndex(key)
			if old.IsValid() {
				sum += old.Int()
			}
			to.SetMapIndex(key, reflect.ValueOf(sum))
		}
	}
}

// count adds one to a count if it applies.
func count(n *int64, applies bool) {
	if applies {
		*n++
	}
}

// countKey adds n to the count of a key, unless the key is empty.
func countKey[K ~string](counts *map[K]int64, key K, n int64) {
	if key == "" || n == 0 {
		return
	}
	if *counts == nil {
		*counts = map[K]int64{}
	}
	(*counts)[key] += n
}

// SumsOf returns the sums of one exchange.
func SumsOf(e event.Exchange) (s Sums) {
	s.addExchange(&e, false)
	return s
}

// addExchange counts an exchange. isFirst reports that no earlier one of its conversation was oversized.
func (s *Sums) addExchange(e *event.Exchange, isFirst bool) {
	s.Exchanges++
	count(&s.Failed, isFailed(e))
	count(&s.Rescued, e.Rescue.Rescued)
	count(&s.Hits, e.Miss == event.NoMiss && e.IsAnswered() && e.Usage.TellsCache())
	countKey(&s.Misses, e.Miss, 1)
	countKey(&s.Rebilled, e.Miss, e.Bill.Rebilled)
	s.Usage.add(&e.Usage)
	m := &s.Money
	bill := &e.Bill
	count(&m.Unpriced, bill.Unpriced)
	if bill.Measured {
		m.Measured++
		m.Billed += bill.Billed
		count(&m.AtLeast, bill.AtLeast)
		count(&m.Subscription, bill.Subscription)
	}
	if e.ShapeTime == 0 {
		return
	}
	before := int64(e.TokensBefore.Total())
	after := int64(e.TokensAfter.Total())
	switch e.Mode {
	case event.ModeObserve:
		s.Observed.Exchanges++
		s.Observed.TokensBefore += before
		s.Observed.TokensAfter += after
	case event.ModeOn:
		s.Shaped++
		s.TokensBefore += before
		s.TokensAfter += after
		count(&s.Compactions, e.Compaction.Kind == event.CompactionCompleted)
		s.ReadAgain += int64(e.ReadAgain)
		s.ReadAgainTokens += int64(e.ReadAgainTokens)
		countKey(&s.Codes, e.Code, 1)
		count(&m.Compared, bill.Compared) // else the amounts are 0
		m.Raw += bill.Raw
		m.Sent += bill.Sent
		m.Saved += bill.Saved()
		count(&m.Oversized, bill.Oversized)
		count(&m.KeptAlive, bill.Oversized && isFirst)
	}
}

// isFailed reports whether the client did not get the whole of a good answer.
func isFailed(e *event.Exchange) bool {
	return e.Status >= http.StatusBadRequest || e.Fault != event.None
}

// add counts the tokens of an exchange.
func (s *UsageSums) add(u *event.Usage) {
	if u.Source == "" || u.Odd {
		return
	}
	count(&s.Reported, u.Source == event.UsageProvider)
	count(&s.Cut, u.Source == event.UsageProvider && u.Cut)
	s.Input += int64(u.Input)
	s.Read += int64(u.Read)
	s.Write += int64(u.Write5m) + int64(u.Write1h)
	s.Output += int64(u.Output)
	s.Reasoning += int64(u.Reasoning)
	if u.TellsCache() {
		s.CacheInput += int64(u.Input)
	}
}

// Cached returns the part of the input that providers had in their caches, of the answers that say so; known is false
// if none does.
func (s *UsageSums) Cached() (share float64, known bool) {
	if s.CacheInput == 0 {
		return 0, false
	}
	return float64(s.Read) / float64(s.CacheInput), true
}

// addOwn counts the cost of a summary or distillate.
func (m *Money) addOwn(s *event.Summary) {
	m.Own += s.Own.Nano
	m.Saved -= s.Own.Nano
	if s.Distills {
		m.Distills += s.Own.Nano
	}
}
