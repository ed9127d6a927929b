package journal

import (
	"net/http"
	"reflect"
	"strings"

	"epitome/event"
)

// Figure is something that is summed up over exchanges, or a share of such sums. Each stands in one table, which sums,
// metrics, tables and cards are made from.
type Figure struct {
	Key  string // of a sum, that in JSON, with a dot between two levels
	Unit Unit
	Help string // for cards; sentences

	Column string // heading in a table of sums; empty: no table has it
	Card   string // label on a page; empty: no page has it
	CardAt int    // cards stand in this order

	// Of returns its amount for an exchange; ok is false if it does not apply to it. It is nil if it never does.
	Of    func(*event.Exchange) (amount int64, ok bool)
	Share func(*Sums) (share float64, ok bool) // of a share, in place of Of; ok is false if it is unknown
	Known func(*Sums) bool                     // whether a sum is known; nil: always

	index []int // of its field in Sums
}

// Unit is what the amounts of a figure are.
type Unit string

// The units.
const (
	Count   Unit = "" // exchanges, or conversations
	Tokens  Unit = "tokens"
	Nano    Unit = "nano-dollars"
	Percent Unit = "percent" // of a share
)

// Figures are all figures, in the order of columns.
var Figures = located([]Figure{
	{Key: "exchanges", Column: "REQUESTS", Of: count(func(*event.Exchange) bool { return true })},
	{Key: "failed", Column: "FAILED", Card: "Failed", CardAt: 8, Of: count(isFailed)},
	{Key: "rescued", Column: "RESCUED", Of: count(func(e *event.Exchange) bool { return e.Rescue.Rescued })},

	{Key: "shaped", Of: count(isShaped)},
	{
		Key: "tokens_before", Unit: Tokens, Column: "BEFORE",
		Of: func(e *event.Exchange) (int64, bool) { return int64(e.TokensBefore.Total()), isShaped(e) },
	},
	{
		Key: "tokens_after", Unit: Tokens, Column: "AFTER", Card: "Tokens", CardAt: 1,
		Of: func(e *event.Exchange) (int64, bool) { return int64(e.TokensAfter.Total()), isShaped(e) },
	},
	{Key: "less", Column: "LESS", Unit: Percent, Share: (*Sums).less},
	{Key: "observed.exchanges", Of: count(isObserved)},
	{
		Key: "observed.tokens_before", Unit: Tokens,
		Of: func(e *event.Exchange) (int64, bool) { return int64(e.TokensBefore.Total()), isObserved(e) },
	},
	{
		Key: "observed.tokens_after", Unit: Tokens, Card: "Tokens", CardAt: 1,
		Known: func(s *Sums) bool { return s.Shaped == 0 && s.Observed.TokensBefore > 0 },
		Of:    func(e *event.Exchange) (int64, bool) { return int64(e.TokensAfter.Total()), isObserved(e) },
	},
	{Key: "compactions", Of: count(func(e *event.Exchange) bool {
		return isShaped(e) && e.Compaction.Kind == event.CompactionCompleted
	})},
	{
		Key: "read_again",
		Of:  func(e *event.Exchange) (int64, bool) { return int64(e.ReadAgain), isShaped(e) },
	},
	{
		Key: "read_again_tokens", Unit: Tokens,
		Of: func(e *event.Exchange) (int64, bool) { return int64(e.ReadAgainTokens), isShaped(e) },
	},

	{Key: "usage.told", Of: count(isReported)},
	{Key: "usage.cut", Of: count(func(e *event.Exchange) bool { return isReported(e) && e.Usage.Cut })},
	{Key: "usage.input", Unit: Tokens, Of: usage(func(u *event.Usage) int { return u.Input })},
	{Key: "usage.read", Unit: Tokens, Of: usage(func(u *event.Usage) int { return u.Read })},
	{Key: "usage.write", Unit: Tokens, Of: usage(func(u *event.Usage) int { return u.Write5m + u.Write1h })},
	{Key: "usage.reasoning", Unit: Tokens, Of: usage(func(u *event.Usage) int { return u.Reasoning })},
	{
		Key: "usage.cache_input", Unit: Tokens,
		Of: func(e *event.Exchange) (int64, bool) { return int64(e.Usage.Input), e.Usage.TellsCache() },
	},
	{Key: "cached", Column: "CACHED", Unit: Percent, Card: "Cached input", CardAt: 7, Share: (*Sums).Cached},
	{
		Key: "usage.output", Unit: Tokens, Column: "OUTPUT",
		Of:    usage(func(u *event.Usage) int { return u.Output }),
		Known: func(s *Sums) bool { return s.Usage.Reported > 0 },
	},

	{Key: "money.measured", Of: count(isMeasured)},
	{Key: "money.unpriced", Of: count(func(e *event.Exchange) bool { return e.Bill.Unpriced })},
	{Key: "money.at_least", Of: count(func(e *event.Exchange) bool { return isMeasured(e) && e.Bill.AtLeast })},
	{Key: "money.listed", Of: count(func(e *event.Exchange) bool { return isMeasured(e) && e.Bill.Subscription })},
	{
		Key: "money.billed_nano", Unit: Nano, Column: "BILLED", Card: "Billed", CardAt: 5,
		Help: "List price of the tokens that providers reported, without the cost of summaries. " +
			"An answer that says nothing of its cache is counted as read from it.",
		Of:    func(e *event.Exchange) (int64, bool) { return e.Bill.Billed, isMeasured(e) },
		Known: func(s *Sums) bool { return s.Money.Measured > 0 },
	},
	{
		Key: "money.rebilled_nano", Unit: Nano,
		Of: func(e *event.Exchange) (int64, bool) { return e.Bill.Rebilled, isMeasured(e) },
	},
	{
		Key: "billed_again", Unit: Percent, Card: "Billed again", CardAt: 6, Share: (*Sums).BilledAgain,
		Help: "The part of the bill for tokens that the provider's cache had held and lost.",
	},
	{Key: "money.ruled", Of: count(isCompared)},
	{
		Key: "money.raw_nano", Unit: Nano,
		Of: func(e *event.Exchange) (int64, bool) { return e.Bill.Raw, isCompared(e) },
	},
	{
		Key: "money.sent_nano", Unit: Nano,
		Of: func(e *event.Exchange) (int64, bool) { return e.Bill.Sent, isCompared(e) },
	},
	{
		Key: "money.own_nano", Unit: Nano, Card: "Summaries", CardAt: 4,
		Help:  "What requests for summaries and distillates cost.",
		Known: func(s *Sums) bool { return s.Money.Own > 0 },
	},
	{Key: "money.distill_nano", Unit: Nano},
	{
		Key: "money.saved_nano", Unit: Nano, Column: "SAVED", Card: "Saved", CardAt: 3,
		Help: "The cost without epitome of the requests that fit the window, less their cost with it. " +
			"Both are estimates of what the provider charges for what the agent sent, with its cache.",
		Of:    func(e *event.Exchange) (int64, bool) { return e.Bill.Saved(), isCompared(e) },
		Known: func(s *Sums) bool { return s.Money.Compared > 0 },
	},
	{
		Key: "money.beyond", Card: "Larger than the window", CardAt: 2,
		Help: "Without epitome the provider would have refused these requests, " +
			"and the agent would have had to compact or stop.",
		Of: count(isOversized),
	},
	{Key: "money.outgrown", Of: count(func(e *event.Exchange) bool { return e.Bill.Outgrew })},
	{
		Key: "money.beyond_billed_nano", Unit: Nano,
		Of: func(e *event.Exchange) (int64, bool) { return e.Bill.Billed, isOversized(e) && isMeasured(e) },
	},
})

// count returns the amount of a figure that counts exchanges.
func count(applies func(*event.Exchange) bool) func(*event.Exchange) (int64, bool) {
	return func(e *event.Exchange) (int64, bool) { return 1, applies(e) }
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

func isObserved(e *event.Exchange) bool { return e.ShapeTime > 0 && e.Mode == event.ModeObserve }

func isReported(e *event.Exchange) bool { return e.Usage.Source == event.UsageProvider && !e.Usage.Odd }

func isMeasured(e *event.Exchange) bool { return e.Bill.Measured }

func isCompared(e *event.Exchange) bool { return isShaped(e) && e.Bill.Compared }

func isOversized(e *event.Exchange) bool { return isShaped(e) && e.Bill.Oversized }

// usage returns the amount of a figure of tokens that providers report, or epitome counted in their place.
func usage(of func(*event.Usage) int) func(*event.Exchange) (int64, bool) {
	return func(e *event.Exchange) (int64, bool) {
		return int64(of(&e.Usage)), e.Usage.Source != "" && !e.Usage.Odd
	}
}

// less returns by how much the tokens became fewer.
func (s *Sums) less() (share float64, ok bool) {
	return float64(s.TokensBefore-s.TokensAfter) / float64(s.TokensBefore), s.TokensBefore > 0
}

// Cached returns the part of the input that providers had in their caches, of the answers that say so.
func (s *Sums) Cached() (share float64, ok bool) {
	return float64(s.Usage.Read) / float64(s.Usage.CacheInput), s.Usage.CacheInput > 0
}

// BilledAgain returns the part of the bill for tokens that caches had lost.
func (s *Sums) BilledAgain() (share float64, ok bool) {
	return float64(s.Money.Rebilled) / float64(s.Money.Billed), s.Money.Rebilled > 0
}

// located returns figures that know their fields in Sums.
func located(figures []Figure) []Figure {
	for i, f := range figures {
		if f.Share == nil {
			figures[i].index = indexOf(reflect.TypeFor[Sums](), f.Key)
		}
	}
	return figures
}

// indexOf returns the index of the field that has a key in JSON; of a key with a dot, within the struct before the dot.
func indexOf(t reflect.Type, key string) []int {
	name, rest, isNested := strings.Cut(key, ".")
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("json") != name {
			continue
		}
		if isNested {
			return append([]int{i}, indexOf(t.Field(i).Type, rest)...)
		}
		return []int{i}
	}
	panic("no sum has the key " + key)
}

// In returns where a sum has its amount.
func (f *Figure) In(s *Sums) *int64 {
	return reflect.ValueOf(s).Elem().FieldByIndex(f.index).Addr().Interface().(*int64)
}

// IsKnown reports whether the figure of some exchanges is known.
func (f *Figure) IsKnown(s *Sums) bool {
	if f.Share != nil {
		_, ok := f.Share(s)
		return ok
	}
	return f.Known == nil || f.Known(s)
}
