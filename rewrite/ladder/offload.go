package ladder

import (
	"fmt"
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ledger"
)

// maxOffloaded bounds the bytes of results that one request looks at, the newest first and one in any case. Where more
// comes at once, the older ones are left to the other steps.
const maxOffloaded = 8 << 20

// Offload shortens results that come for the first time and are over their limit. Where artifacts are off it waits for
// the line, and then looks at the older results too, if those may be decided on.
func Offload(s *State) {
	from := s.Recorded
	if s.ArtifactsOff {
		if s.Total() <= s.Limits.ClearLine {
			return
		}
		if s.mayDecideOlder() {
			from = 0
		}
	}
	if s.Binds {
		from = max(from, s.lastThinking()) // a change before that would take the thinking out
	}
	room, edits := maxOffloaded, map[event.Code][]ledger.Edit{}
	for i := len(s.Request.Items) - 1; i >= from; i-- {
		if !s.mayCut(i) || s.forms[i].shortened || s.readsBack(i) {
			continue
		}
		if room < 0 {
			break
		}
		content := s.Request.Items[i].Content
		room -= content.End - content.Start
		limit, keep := s.Limits.LimitOf(s.results[i])
		for _, e := range s.shorten(i, limit, keep) {
			edits[e.Why] = append(edits[e.Why], e)
		}
	}
	s.Add(event.CauseLarge, edits[event.CodeOverLimit]...)
	s.Add(event.CauseScreen, edits[event.CodeScreen]...)
}

// readsBack reports whether a result shows an artifact of this conversation and is not too long to stay whole.
func (s *State) readsBack(i int) bool {
	const maxLooks, most = 8, 30_000 // at words that may be names; tokens of a result, at most a quarter of the window
	cites := s.results[i].Cites
	isTakenOut := func(name string) bool {
		return slices.ContainsFunc(s.Edits, func(e ledger.Edit) bool { return slices.Contains(e.Artifacts, name) })
	}
	return s.Size(i) <= min(most, s.Limits.Window/4) && slices.ContainsFunc(cites[:min(len(cites), maxLooks)], isTakenOut)
}

// textOf is one text of an item.
type textOf struct {
	part   int
	raw    []byte // as it stands in the body
	text   string
	tokens int
}

// textsOf returns the texts of an item that are JSON strings.
func (s *State) textsOf(i int) (texts []textOf) {
	for k := range s.Request.Items[i].Parts {
		p := &s.Request.Items[i].Parts[k]
		if raw := p.Value.Of(s.Request.Body); p.Kind == conversation.TextPart && len(raw) >= 2 && raw[0] == '"' {
			texts = append(texts, textOf{k, raw, string(jsonspan.TextOf(raw)), s.Request.CountIn(s.Scale, i, raw)})
		}
	}
	return texts
}

// shorten returns the edits that cut the texts of an item. All texts together may have limit tokens; above that, about
// keep of them stay.
func (s *State) shorten(i, limit, keep int) (edits []ledger.Edit) {
	texts, all := s.textsOf(i), 0
	for _, t := range texts {
		all += t.tokens
	}
	for _, t := range texts {
		if e, ok := s.shortenText(i, t, limit*t.tokens/max(all, 1), keep*t.tokens/max(all, 1)); ok {
			edits = append(edits, e)
		}
	}
	return edits
}

// shortenText returns the edit that puts an excerpt of about keep tokens or the final screen of a terminal in the place
// of a text of more than limit tokens; false if that saves too little.
func (s *State) shortenText(i int, t textOf, limit, keep int) (e ledger.Edit, ok bool) {
	const least = 1_000 // tokens of terminal output that is shown as its final screen
	text, isScreen, what, why := t.text, false, "final screen of ", event.CodeScreen
	if t.tokens > least {
		text, isScreen = excerpt.Screen(t.text)
	}
	switch {
	case t.tokens > limit && (!isScreen || s.count(text) > limit):
		if laidOut, ok := excerpt.LaidOut(text); ok {
			text = laidOut
		}
		short, omitted := excerpt.Lines(text, keep, s.count)
		what = fmt.Sprintf("%d of %s omitted, of ", omitted, excerpt.Amount(excerpt.CountLines(text)))
		if isScreen {
			what += "the final screen of "
		}
		text, why = short, event.CodeOverLimit
	case !isScreen:
		return e, false
	}
	names := s.keepText(t.raw, t.text)
	what += fmt.Sprintf("%s (%d tokens)", s.results[i], t.tokens)
	text = excerpt.Note(what, s.whereToRead("Full output", names, t.tokens)) + "\n" + text
	e = ledger.Edit{First: i, Count: 1, Op: ledger.ReplaceText, Part: t.part, Text: text, Artifacts: names,
		Tokens: s.Request.CountIn(s.Scale, i, jsonspan.AppendQuoted(nil, text)), Step: ledger.StepOffload, Why: why}
	e.Saved = t.tokens - e.Tokens
	return e, e.Saved >= leastSaving
}
