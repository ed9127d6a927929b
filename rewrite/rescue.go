package rewrite

import (
	"bytes"
	"cmp"
	"slices"

	"epitome/dialect/answer"
	"epitome/rewrite/ladder"
	"epitome/rewrite/view"
	"epitome/window"
)

const (
	rescueTries = 4   // how often a request that was refused is sent again
	leastOutput = 512 // tokens: the smallest cap on the output that is worth a request
)

// Rescue makes a request shorter, or changes it otherwise, each time the provider refuses it. Tokens are the model's.
type Rescue struct {
	// How the request is to be shaped that has the rescue as Input.Rescue.
	Most       int          // tokens that the request may have; 0 if its size was not refused
	From       ladder.Stage // the first stage to try
	Whole      bool         // all edits are taken back: the structure was refused, or only what epitome added can go
	Pictures   int          // how often the request was refused for its pictures or its bytes: more go each time
	Pair       bool         // calls without results, or results without calls, were refused: they are mended
	NoThinking bool         // thinking behind a changed prefix was refused: all thinking is dropped, except with Whole

	Last Output   // the form that was sent last
	Ways []string // how each form after the first was made, for events

	shape     func(Input) Output
	in        Input
	first     Report // on the form that was refused first
	cameWhole bool   // that form was the request as it came
	output    int    // cap on the output that was set; 0 if none was
}

// NewRescue begins the rescue of a request that was sent as out. shape has a request shaped.
func NewRescue(in Input, out Output, shape func(Input) Output) *Rescue {
	return &Rescue{Last: out, shape: shape, in: in, first: out.Report, cameWhole: !out.Changed}
}

// Next makes Last the form to send after a refusal of the form before, in the way that the refusal asks for. It reports
// whether there is one.
func (r *Rescue) Next(v window.Refusal) (ok bool) {
	if len(r.Ways) == rescueTries || r.Whole { // nothing of a whole request can be left out
		return false
	}
	switch v.Cause {
	case window.Thinking:
		return r.reshapeOnce(&r.NoThinking, "thinking") || r.takeBack()
	case window.Pairs:
		return r.reshapeOnce(&r.Pair, "pairs") || r.takeBack()
	case window.Malformed:
		return r.takeBack()
	case window.Pictures:
		r.Pictures++
		return r.reshape(0, "pictures")
	case window.Bytes:
		if r.Pictures == 0 {
			r.Pictures++
			if r.reshape(0, "pictures") {
				return true
			}
		}
	case window.Output:
		if r.capOutput(v.Room) {
			return true
		}
	}
	last := &r.Last.Report
	r.From = last.Stage.Next(len(r.Ways)+1 == rescueTries)
	return r.reshape(v.Shorter(last.TokensAfter.Total(), last.MaxOutput), "") ||
		last.Action == string(view.StepAdd) && r.takeBack() // epitome has only added something
}

// takeBack makes the request as it came, and reports whether it may be sent: that form was not refused, and is not too
// long.
func (r *Rescue) takeBack() bool {
	if r.cameWhole || r.first.TokensBefore.Total() > r.Last.Report.Window {
		return false
	}
	return r.reshapeOnce(&r.Whole, "whole")
}

// capOutput has the request ask for less output, if a cap of so many tokens is worth a request.
func (r *Rescue) capOutput(tokens int) bool {
	capped, ok := answer.CapOutput(r.Last.Body, tokens)
	if !ok || tokens < leastOutput || r.output > 0 && tokens >= r.output {
		return false
	}
	r.Last.Body, r.Last.Changed, r.output = capped, true, tokens
	r.Last.Report.MaxOutput = min(r.Last.Report.MaxOutput, tokens)
	r.Ways = append(r.Ways, "output")
	return true
}

// reshapeOnce sets how the conversation is shaped from now on, unless it is so already, and has it shaped anew.
func (r *Rescue) reshapeOnce(how *bool, way string) bool {
	if *how {
		return false
	}
	*how = true
	return r.reshape(0, way)
}

// reshape has the conversation shaped anew, and reports whether the new form is worth sending. way names the way in
// events; empty is the stage of the ladder.
func (r *Rescue) reshape(most int, way string) bool {
	r.Most, r.in.Rescue = most, r
	out := r.shape(r.in)
	next, last := &out.Report, &r.Last.Report
	if r.output > 0 && out.Changed {
		out.Body, _ = answer.CapOutput(out.Body, r.output)
		next.MaxOutput = min(next.MaxOutput, r.output)
	}
	hasFailed := next.Err != nil && !r.Whole // else it is as it came all the same
	isShorter := next.Stage != ladder.StageNone && next.TokensAfter.Total() <= last.TokensAfter.Total()*19/20
	if hasFailed || most > 0 && !isShorter || bytes.Equal(out.Body, r.Last.Body) {
		return false
	}
	next.joinRefused(&r.first, r.Whole)
	r.Last = out
	r.Ways = append(r.Ways, cmp.Or(way, next.Stage.String()))
	return true
}

// joinRefused makes r, the report of a rescue, that of the whole exchange. first is the report of the form that was
// refused first. Its decision is recorded, so a rescue starts from its edits and takes it for the request before.
// The counts of edits stay the rescue's: an item that both forms changed would count twice in a sum.
func (r *Report) joinRefused(first *Report, whole bool) {
	// A rescue takes the conversation for one that is known.
	r.Parent, r.Diverged = first.Parent, first.Diverged
	r.Title, r.Folder, r.Kept = first.Title, first.Folder, first.Kept
	// r has what its form shares with the refused form; with the request before both, it shares no more than that did.
	r.HeldBefore, r.HeldAfter = first.HeldBefore, min(first.HeldAfter, r.HeldAfter)
	r.Warnings = append(slices.Clone(first.Warnings), r.Warnings...)
	r.ReadAgain, r.ReadAgainTokens = first.ReadAgain, first.ReadAgainTokens
	if !whole { // else all edits were taken back, and nothing is out
		r.TakenOut += first.TakenOut // r has what it took out beyond that
	}
}
