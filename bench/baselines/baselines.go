// Package baselines has the policies that every other one has to be compared with: ways of keeping a conversation small
// that are in use.
//
// It promises that each does what its name in the report says and no more; that it asks no model (what a summary would
// hold is a text that answers no question, of the size that such summaries have); and that equal conversations become
// equal requests.
package baselines

import (
	"time"

	"epitome/bench/policy"
)

// The baselines' names in the report.
const (
	RawName       = "send everything"
	TruncateName  = "truncate oldest to 50 %"
	MaskName      = "mask older than ten, by twenty"
	Clear100Name  = "clear all but three at 100k"
	ClearHalfName = "clear all but three at 50 %"
	NewestName    = "shrink only what is new"
	UsersName     = "user messages + summary at 90 %"
	ProtectName   = "protect 40k, summary when full"
)

// All returns the baselines, which count in the unit: ways of keeping a conversation small that are in use.
func All(unit policy.Unit) []policy.Policy {
	opening := func(of func(window int) baseline) func(policy.Setting) (policy.Shaping, error) {
		return opening(unit, of)
	}
	return []policy.Policy{
		{Name: RawName, Open: sendEverything},
		{Name: TruncateName, Open: opening(truncation)},
		{Name: MaskName, Open: opening(masking)},
		{Name: Clear100Name, Open: opening(func(int) baseline { return clearing(clearLine) })},
		{Name: ClearHalfName, Open: opening(func(window int) baseline { return clearing(window / 2) })},
		{Name: NewestName, Open: opening(func(int) baseline { return shrinkNew })},
		{Name: UsersName, Open: opening(func(int) baseline { return keepUsers })},
		{Name: ProtectName, Open: opening(func(int) baseline { return protectNewest })},
	}
}

// opening returns a policy's Open, which gives each conversation a thread of its own.
func opening(unit policy.Unit, of func(window int) baseline) func(policy.Setting) (policy.Shaping, error) {
	return func(s policy.Setting) (policy.Shaping, error) {
		t := newThread(s, of(s.Window))
		t.unit = unit
		return policy.Shaping{Shaper: t, Artifact: t.artifact}, nil
	}
}

func sendEverything(policy.Setting) (policy.Shaping, error) {
	return policy.Shaping{Shaper: identity{}}, nil
}

type identity struct{}

func (identity) Shape(body []byte, _ time.Time) (policy.Shaped, error) {
	return policy.Shaped{Body: body}, nil
}
