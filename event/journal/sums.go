package journal

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	"epitome/event"
)

// Sums are the sums of some exchanges: numbers alone, so that sums can be added up. Amounts are in nano-dollars.
type Sums struct {
	Exchanges    int64 `json:"exchanges"`
	Failed       int64 `json:"failed"`        // status 400 and more, cut off, or with an error
	Rescued      int64 `json:"rescued"`       // refused as too long, then answered
	Shaped       int64 `json:"shaped"`        // conversations, in mode on
	TokensBefore int64 `json:"tokens_before"` // of the shaped ones, before and as sent
	TokensAfter  int64 `json:"tokens_after"`
	// Observed is of conversations in mode observe. They were billed, so all but Shaped, tokens and estimates of Money
	// count them too.
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

// Money sums up costs in three sums that never mix. Requests that fit the window have Raw, the cost without epitome:
// what providers would have charged for them, with their own caches; Saved is Raw - Sent. Those that are larger would
// have been refused without epitome, and then the agent had to compact or stop, so nothing is saved by them: they have what
// was billed. Own is of summaries.
type Money struct {
	Billed       int64 `json:"billed_nano"`   // of the exchanges whose usage and price are known
	Rebilled     int64 `json:"rebilled_nano"` // of Billed, for tokens that caches had lost
	Compared     int64 `json:"ruled"`         // requests that Raw and Sent are of
	Raw          int64 `json:"raw_nano"`      // without epitome
	Sent         int64 `json:"sent_nano"`     // with epitome, by the same estimate
	Own          int64 `json:"own_nano"`      // of requests for summaries and distillates
	Distills     int64 `json:"distill_nano"`  // of Own, for distillates
	Saved        int64 `json:"saved_nano"`
	Measured     int64 `json:"measured"` // exchanges that Billed is of
	AtLeast      int64 `json:"at_least"` // of those, exchanges that may have cost more
	Subscription int64 `json:"listed"`   // of those, exchanges by subscription, at list prices
	Unpriced     int64 `json:"unpriced"` // exchanges of conversations that lack an amount
	Oversized    int64 `json:"beyond"`   // requests larger than the window

	OversizedBilled int64 `json:"beyond_billed_nano"` // of Billed

	Outgrown int64 `json:"outgrown"` // conversations that had an oversized request
}

// cell is what sums are kept by. Its date is that of a day, as time.DateOnly writes it.
type cell struct{ Date, Upstream, Model, Client, Agent string }

// otherName is the name under which models, or agents, share sums.
const otherName = "other"

// sumsOf returns the sums to which an event belongs. Once too many models or agents were named, the others share sums.
func (b *Book) sumsOf(at time.Time, upstream, model, client, agent string) *Sums {
	model = ownName(b.models, model, mostModels)
	agent = ownName(b.agents, agent, mostAgents)
	c := cell{b.dayOf(at).Format(time.DateOnly), upstream, model, client, agent}
	if b.sums[c] == nil {
		b.sums[c] = &Sums{}
	}
	return b.sums[c]
}

// ownName returns a name that has sums of its own, or otherName if too many others have.
func ownName(names map[string]bool, name string, most int) string {
	if !names[name] && len(names) >= most {
		name = otherName
	}
	names[name] = true
	return name
}

// dayOf returns the beginning of the day of a time.
func (b *Book) dayOf(at time.Time) time.Time {
	at = at.In(b.Now().Location())
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
}

// allNotes returns what a reader of figures should know.
func (b *Book) allNotes() (notes []string) {
	if b.damaged {
		notes = append(notes, "figures leave out damaged events, as the log says")
	}
	dropped := b.dropped.Load()
	if dropped > 0 {
		notes = append(notes, fmt.Sprintf("%d events were dropped because too many came at once", dropped))
	}
	if b.unwritten != nil {
		notes = append(notes, "events cannot be written to disk: figures may lack them after a restart")
	}
	return notes
}

// add adds all sums of t to those of s.
func (s *Sums) add(t *Sums) { addFields(reflect.ValueOf(s).Elem(), reflect.ValueOf(t).Elem()) }

// addFields adds the numbers in a struct, and in those within it, to the ones of another.
func addFields(to, from reflect.Value) {
	for i := range to.NumField() {
		if to.Field(i).Kind() == reflect.Struct {
			addFields(to.Field(i), from.Field(i))
		} else {
			to.Field(i).SetInt(to.Field(i).Int() + from.Field(i).Int())
		}
	}
}

// SumsOf returns the sums of one exchange.
func SumsOf(e event.Exchange) (s Sums) {
	s.addExchange(&e)
	return s
}

// addExchange counts an exchange.
func (s *Sums) addExchange(e *event.Exchange) {
	s.Exchanges++
	s.Failed += oneIf(isFailed(e))
	s.Rescued += oneIf(e.Rescue.Rescued)
	before, after := int64(e.TokensBefore.Total()), int64(e.TokensAfter.Total())
	switch {
	case isShaped(e):
		s.Shaped++
		s.TokensBefore += before
		s.TokensAfter += after
		s.Compactions += oneIf(e.Compaction.Kind == event.CompactionCompleted)
		s.ReadAgain += int64(e.ReadAgain)
		s.ReadAgainTokens += int64(e.ReadAgainTokens)
		s.Money.addEstimates(&e.Bill)
	case e.ShapeTime > 0 && e.Mode == event.ModeObserve:
		s.Observed.Exchanges++
		s.Observed.TokensBefore += before
		s.Observed.TokensAfter += after
	}
	s.Usage.add(&e.Usage)
	s.Money.addBilled(&e.Bill)
}

// oneIf returns 1 if something applies, else 0.
func oneIf(applies bool) int64 {
	if applies {
		return 1
	}
	return 0
}

// isFailed reports whether the client did not get the whole of a good answer. An agent that looks whether something is
// there, or goes on over HTTP after an upgrade was refused, has not failed.
func isFailed(e *event.Exchange) bool {
	if e.Method == http.MethodHead && e.Fault == event.None || e.Status == http.StatusUpgradeRequired {
		return false
	}
	return e.Status >= http.StatusBadRequest || e.Fault != event.None
}

func isShaped(e *event.Exchange) bool { return e.ShapeTime > 0 && e.Mode == event.ModeOn }

// add counts the tokens of an exchange, unless they contradict each other.
func (s *UsageSums) add(u *event.Usage) {
	if u.Source == "" || u.Odd {
		return
	}
	s.Reported += oneIf(u.Source == event.UsageProvider)
	s.Cut += oneIf(u.Source == event.UsageProvider && u.Cut)
	s.Input += int64(u.Input)
	s.Read += int64(u.Read)
	s.Write += int64(u.Write5m + u.Write1h)
	s.Output += int64(u.Output)
	s.Reasoning += int64(u.Reasoning)
	if u.TellsCache() {
		s.CacheInput += int64(u.Input)
	}
}

// addBilled counts what an exchange was billed.
func (m *Money) addBilled(b *event.Bill) {
	m.Unpriced += oneIf(b.Unpriced)
	if !b.Measured {
		return
	}
	m.Measured++
	m.Billed += b.Billed
	m.Rebilled += b.Rebilled
	m.AtLeast += oneIf(b.AtLeast)
	m.Subscription += oneIf(b.Subscription)
}

// addEstimates counts what a shaped conversation would have cost, or that it would have been refused.
func (m *Money) addEstimates(b *event.Bill) {
	m.Outgrown += oneIf(b.Outgrew)
	if b.Oversized {
		m.Oversized++
		m.OversizedBilled += b.Billed
	}
	if b.Compared {
		m.Compared++
		m.Raw += b.Raw
		m.Sent += b.Sent
		m.Saved += b.Saved()
	}
}

// addSummary counts the cost of a summary or distillate.
func (s *Sums) addSummary(made *event.Summary) {
	s.Money.Own += made.Own.Nano
	if made.Distills {
		s.Money.Distills += made.Own.Nano
	}
}

// Gain is what was saved by a session, less its summaries; negative if it cost more. ok is false if that is not known. Of
// a session that outgrew its window it is what the requests that fit saved, if they did: summaries serve the others.
func (m Money) Gain() (nano int64, ok bool) {
	if m.Oversized > 0 {
		return m.Saved, m.Compared > 0 && m.Saved > 0
	}
	return m.Saved - m.Own, m.Compared > 0 || m.Own > 0
}
