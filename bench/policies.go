package bench

import "time"

// The baselines' names in the report.
const (
	rawName      = "send everything"
	truncateName = "truncate oldest to 50 %"
	maskName     = "mask older than ten, by twenty"
	clear100Name = "clear all but three at 100k"
	clearHalf    = "clear all but three at 50 %"
	newestName   = "shrink only what is new"
	usersName    = "user messages + summary at 90 %"
	protectName  = "protect 40k, summary when full"
)

// baselines are what every policy has to be compared with: ways of keeping a conversation small that are in use.
func baselines() []Policy {
	return []Policy{
		{Name: rawName, Open: func(int) (Shaping, error) { return Shaping{Shaper: identity{}}, nil }},
		{Name: truncateName, Open: opening(truncation)},
		{Name: maskName, Open: opening(masking)},
		{Name: clear100Name, Open: opening(func(int) baseline { return clearing(clearLine) })},
		{Name: clearHalf, Open: opening(func(window int) baseline { return clearing(window / 2) })},
		{Name: newestName, Open: opening(func(int) baseline { return shrinkNew })},
		{Name: usersName, Open: opening(func(int) baseline { return keepUsers })},
		{Name: protectName, Open: opening(func(int) baseline { return protectNewest })},
	}
}

// opening gives each conversation a thread of its own.
func opening(of func(window int) baseline) func(window int) (Shaping, error) {
	return func(window int) (Shaping, error) {
		t := newThread(window, of(window))
		return Shaping{Shaper: t, Artifact: t.artifact}, nil
	}
}

type identity struct{}

func (identity) Shape(body []byte, _ time.Time) (Shaped, error) { return Shaped{Body: body}, nil }
