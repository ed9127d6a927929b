package rewrite

import (
	"bytes"
	"cmp"
	"slices"

	"epitome/dialect/answer"
	"epitome/event"
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

	shape  func(Input) Output
	in     Input
	first  Report // on the form that was refused first
	output int    // cap on the output that was set; 0 if none was
}

// NewRescue begins the rescue of a request that was sent as out. shape has a request shaped.
func NewRescue(in Input, out Output, shape func(Input) Output) *Rescue {
	return &Rescue{Last: out, shape: shape, in: in, first: out.Report}
}

// Next makes Last the form to send after a refusal of the form before, in the way that the refusal asks for. It reports
// whether there is one.
func (r *Rescue) Next(v window.Refusal) (ok bool) {
	switch {
	case len(r.Ways) == rescueTries, r.Whole: // nothing of a whole request can be left out
		return false
	case v.Cause == window.Thinking && !r.NoThinking:
		r.NoThinking = true
		return r.reshape(0, "thinking") || r.takeBack()
	case v.Cause == window.Pairs && !r.Pair:
		r.Pair = true
		return r.reshape(0, "pairs") || r.takeBack()
	case v.Cause == window.Malformed, v.Cause == window.Thinking, v.Cause == window.Pairs:
		return r.takeBack()
	case v.Cause == window.Output && r.capOutput(v.Room):
		return true
	case v.Cause == window.Pictures, v.Cause == window.Bytes && r.Pictures == 0:
		r.Pictures++
		if ok := r.reshape(0, "pictures"); ok || v.Cause == window.Pictures {
			return ok
		}
	}
	last := &r.Last.Report
	r.From = last.Stage.Next(len(r.Ways)+1 == rescueTries)
	return r.reshape(v.Shorter(last.TokensAfter.Total(), last.MaxOutput), "") ||
		last.Action == string(view.StepAdd) && r.takeBack() // epitome has only added something
}

// takeBack makes the request as it came, and reports whether it may be sent: it is another form, and not too long.
func (r *Rescue) takeBack() bool {
	cameBroken := r.Pair && r.first.Action == event.ActionNone // it was refused as it came
	if !r.Last.Changed || cameBroken || r.first.TokensBefore.Total() > r.Last.Report.Window {
		return false
	}
	r.Whole = true
	return r.reshape(0, "whole")
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

// reshape has the conversation shaped anew, and reports whether the new form is worth sending. way names the way in
// events; empty is the stage of the ladder.
func (r *Rescue) reshape(most int, way string) bool {
	r.Most, r.in.Rescue = most, r
	out := r.shape(r.in)
	next := &out.Report
	isEnough := next.Stage != ladder.StageNone && next.TokensAfter.Total() <= r.Last.Report.TokensAfter.Total()*19/20
	switch {
	case next.Err != nil && !r.NoThinking,
		most > 0 && !isEnough,
		way == "pictures" && !next.Decided,
		(r.Whole || way == "pairs") && bytes.Equal(out.Body, r.Last.Body), // which was refused
		r.NoThinking && !r.Whole && !out.Changed,
		r.Whole && next.Action == string(view.StepAdd): // nothing could be taken back
		return false
	}
	next.joinRefused(&r.first, r.Whole)
	if r.output > 0 && out.Changed {
		out.Body, _ = answer.CapOutput(out.Body, r.output)
		next.MaxOutput = min(next.MaxOutput, r.output)
	}
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
