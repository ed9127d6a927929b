package decision

import (
	"encoding/binary"
	"slices"

	"epitome/unit"
)

const (
	LeastGain = 0.1 // share of a request that a compaction must save
	LeastTail = 500 // tokens
)

// Outcome is what a compaction came to: tokens of the request before and after it.
type Outcome struct{ Before, After int }

// Outcomes are those of a conversation's last compactions in one lane, the latest last. They are recorded with its
// decisions, so that what is done depends on the prefix alone.
type Outcomes []Outcome

// Pays reports whether another compaction is worth trying for a request of so many tokens. It is not when the last one,
// or all of the last window ones together, saved too little, until the request has grown.
func (o Outcomes) Pays(total, window int) bool {
	const growth = 0.1 // of what the last one left
	if len(o) == 0 || window == 0 {
		return true
	}
	last := o[len(o)-1]
	return !o.wasInVain(1) && !o.wasInVain(window) || float64(total) >= (1+growth)*float64(last.After)
}

// wasInVain reports whether so many outcomes are known, and saved less than a tenth on average.
func (o Outcomes) wasInVain(window int) bool {
	if len(o) < window {
		return false
	}
	saved := 0.0
	for _, a := range o[len(o)-window:] {
		saved += 1 - float64(a.After)/float64(max(a.Before, 1))
	}
	return saved < LeastGain*float64(window)
}

const MostOutcomes = 100 // that are kept, whatever is configured

// With is o with more of them, of which the last few are kept.
func (o Outcomes) With(more Outcomes, window int) Outcomes {
	all := append(slices.Clip(o), more...)
	return all[max(0, len(all)-min(max(window, 0), MostOutcomes)):]
}

// Append writes them behind a record.
func (o Outcomes) Append(b []byte) []byte {
	for _, a := range o {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(a.Before)), uint64(a.After)) //nolint:gosec // tokens
	}
	return b
}

// ReadOutcomes reads what append wrote.
func ReadOutcomes(b []byte) (o Outcomes, err error) {
	for len(b) > 0 {
		before, n := binary.Uvarint(b)
		after, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || max(before, after) > unit.MostTokens || len(o) >= MostOutcomes {
			return nil, errUnreadable
		}
		o, b = append(o, Outcome{int(before), int(after)}), b[n+m:] //nolint:gosec // checked
	}
	return o, nil
}

// BudgetKey is of what is remembered of a conversation besides its prefixes: what was sent of it.
func (l Route) BudgetKey(name Ref) string { return l.keyOf('b', name[:]) }
