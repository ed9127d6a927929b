package limits

import (
	"iter"
	"math"

	"epitome/unit"
)

// key is one number of [rewrite]: what it is called, what it counts, between what it makes sense, and where it stands.
type key struct {
	Name     string  // as in the configuration file and in x-epitome-set
	Unit     string  // what is counted, as messages say it
	Min, Max float64 // the least and the largest number that is taken

	field func(*Limits) any   // *int, *float64, *unit.Bytes or *unit.Duration
	at    func(Effective) int // what it comes to at a window, in the model's tokens; nil if explain does not tell it
}

const (
	// MostTokens is the most that a limit in tokens may be.
	MostTokens = unit.MostTokens
	leastShare = 0.01 // a smaller share is a slip of the pen
)

// keys are the rows of the table of all numbers. The configuration file, headers and explain are read and told by it
// alone.
func keys() iter.Seq[key] {
	return func(yield func(key) bool) {
		for _, part := range parts() {
			for _, k := range part {
				if !yield(k) {
					return
				}
			}
		}
	}
}

func parts() [5][]key {
	return [...][]key{offloadKeys[:], clearKeys[:], compactKeys[:], protectKeys[:], ruleKeys[:]}
}

// offloadKeys are those of the first rung and of what is left in the place of a text.
var offloadKeys = [...]key{
	{"floor", "bytes", 0, math.MaxInt64, func(l *Limits) any { return &l.Floor },
		func(s Effective) int { return s.Floor() }},
	{"offload_tokens", "tokens", 1, MostTokens, func(l *Limits) any { return &l.Offload },
		func(s Effective) int { return s.offload }},
	{"offload_lookup_tokens", "tokens", 1, MostTokens, func(l *Limits) any { return &l.Lookups },
		func(s Effective) int { return s.lookups }},
	{"offload_read_tokens", "tokens", 1, MostTokens, func(l *Limits) any { return &l.OffloadReads },
		func(s Effective) int { return s.reads }},
	{"offload_keep", "tokens", 0, MostTokens, func(l *Limits) any { return &l.OffloadKeep },
		func(s Effective) int { return min(s.keep, s.offload/2) }},
	{"offload_share", "share", leastShare, 1, func(l *Limits) any { return &l.OffloadShare }, nil},
	{"screen_tokens", "tokens", 0, MostTokens, func(l *Limits) any { return &l.Screen }, nil},
	{"recall_tokens", "tokens", 0, MostTokens, func(l *Limits) any { return &l.Recall }, nil},
}

// clearKeys are those of the second rung's line, and of what a rewrite costs.
var clearKeys = [...]key{
	{"clear_at", "share", leastShare, 1, func(l *Limits) any { return &l.ClearAt },
		func(s Effective) int { return s.ClearLine }},
	{"clear_at_least", "tokens", 0, MostTokens, func(l *Limits) any { return &l.ClearAtLeast },
		func(s Effective) int { return s.AtLeast }},
	{"rent", "factor", 0, 1000, func(l *Limits) any { return &l.Rent }, nil},
	{priceKey, "price", 0, 1, func(l *Limits) any { return &l.CachedPrice }, nil},
	{"cache_life", "time", 0, math.MaxInt64, func(l *Limits) any { return &l.CacheLife }, nil},
}

// compactKeys are those of the third rung.
var compactKeys = [...]key{
	{"prepare_at", "share", leastShare, 1, func(l *Limits) any { return &l.PrepareAt },
		func(s Effective) int { return s.PrepareLine }},
	{"compact_at", "share", leastShare, 1, func(l *Limits) any { return &l.CompactAt },
		func(s Effective) int { return s.CompactLine }},
	{"compact_to", "share", leastShare, 1, func(l *Limits) any { return &l.Target },
		func(s Effective) int { return int(s.Conf.Target * float64(s.Usable)) }},
	{"keep_tokens", "tokens", 0, MostTokens, func(l *Limits) any { return &l.KeepTail },
		func(s Effective) int { return s.KeepTail }},
	{"anti_thrash_window", "compactions", 0, MostTokens, func(l *Limits) any { return &l.Thrash }, nil},
	{"warn_at", "tokens", 0, MostTokens, func(l *Limits) any { return &l.WarnAt }, nil},
	{"cutover_at", "tokens", 0, MostTokens, func(l *Limits) any { return &l.CutoverAt }, nil},
}

// protectKeys say what clearing leaves alone.
var protectKeys = [...]key{
	{"protect_tokens", "tokens", 0, MostTokens, func(l *Limits) any { return &l.Protect },
		func(s Effective) int { return s.Protect }},
	{"protect_groups", "groups", 0, MostTokens, func(l *Limits) any { return &l.Groups },
		func(s Effective) int { return s.Age }},
}

// ruleKeys are the numbers of Rules.
var ruleKeys = [...]key{
	{"newest_turns", "turns", 0, MostTokens, func(l *Limits) any { return &l.Turns }, nil},
	{"newest_messages", "messages", 0, MostTokens, func(l *Limits) any { return &l.Messages }, nil},
	{"newest_tool_results", "results", 0, MostTokens, func(l *Limits) any { return &l.Pairs }, nil},
	{"assistant_tokens", "tokens", 0, MostTokens, func(l *Limits) any { return &l.Assistant }, nil},
}
