package ladder

import (
	"fmt"

	"epitome/event"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ledger"
)

// maxOffloaded bounds the bytes of results that one request looks at: the newest, and in any case the last one. Where
// more comes at once, the older ones are left to the other steps.
const maxOffloaded = 8 << 20

// Offload shortens results that come for the first time and are over their limit. Where artifacts are off it waits for
// the line, and then looks at all results.
func Offload(s *State) {
	from := s.Known
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
	dropped, cleared, shortened := s.edited()
	room := maxOffloaded
	var edits []ledger.Edit
	for i := len(s.Request.Items) - 1; i >= from; i-- {
		it := &s.Request.Items[i]
		if it.Role != conversation.Tool || dropped[i] || cleared[i] || shortened[i] || s.isKept(i) ||
			s.Size(i) < leastShortened {
			continue
		}
		if room -= it.Content.End - it.Content.Start; room < 0 && len(edits) > 0 {
			break
		}
		for _, e := range s.shortened(i) {
			cause := event.CauseLarge
			if e.Why == event.CodeScreen {
				cause = event.CauseScreen
			}
			s.because(cause)
			edits = append(edits, e)
		}
	}
	if len(edits) > 0 {
		s.Add(edits...)
	}
}

// limitOf is what a result may have: over limit tokens it keeps keep. One that shows an artifact may have more.
func (s *State) limitOf(i int) (limit, keep int) {
	call := s.results[i]
	if s.recalled(call) != "" {
		return s.Limits.Recall, s.Limits.Recall
	}
	if call == nil {
		return s.Limits.LimitOf("", activity.Other)
	}
	return s.Limits.LimitOf(call.Tool, call.Kind)
}

// shortened returns the edits that bring a result that is over its limit down to what it keeps, and terminal output to
// its final screen; none if that saves too little.
func (s *State) shortened(i int) (edits []ledger.Edit) {
	limit, keep := s.limitOf(i)
	for _, t := range s.textsOf(i) {
		if s.isMarked(t.text) && t.tokens <= s.Limits.Recall {
			continue // it was cut before, or shows something that was
		}
		c := cut{textOf: t, limit: t.share(limit), keep: t.share(keep), recalled: s.recalled(s.results[i]) != ""}
		if e, ok := s.shorten(i, c); ok {
			edits = append(edits, e)
		}
	}
	return edits
}

// textOf is one text of a result.
type textOf struct {
	part        int
	raw         []byte // as it stands in the body
	text        string
	tokens, all int // of it, and of all texts of the result
}

// share is its part of tokens that all texts of the result may have together.
func (t *textOf) share(tokens int) int {
	if t.tokens == t.all {
		return tokens
	}
	return int(int64(tokens) * int64(t.tokens) / int64(t.all))
}

func (s *State) textsOf(i int) (texts []textOf) {
	it, all := &s.Request.Items[i], 0
	for k := range it.Parts {
		p := &it.Parts[k]
		raw := p.Value.Of(s.Request.Body)
		if p.Kind != conversation.TextPart || len(raw) < 2 || raw[0] != '"' {
			continue
		}
		t := textOf{part: k, raw: raw, text: string(jsonspan.TextOf(raw)), tokens: s.Request.CountPart(s.Scale, i, p)}
		texts, all = append(texts, t), all+t.tokens
	}
	for k := range texts {
		texts[k].all = all
	}
	return texts
}

// cut is how a text is shortened.
type cut struct {
	textOf
	limit, keep int
	recalled    bool // it shows an artifact
}

// shorten returns the edit that puts a preview of its JSON, an excerpt or the final screen of a terminal in the place of
// a text; false if that saves too little.
func (s *State) shorten(i int, c cut) (e ledger.Edit, ok bool) {
	screen, isScreen := c.text, false
	if !c.recalled && c.tokens > s.Limits.Screen {
		screen, isScreen = excerpt.Screen(c.text)
	}
	var text string
	names, why := s.keepText(c.raw, c.text), event.CodeOverLimit
	switch {
	case c.tokens > c.limit && (!isScreen || s.count(screen) > c.limit):
		text = s.excerpt(i, c, names, screen, isScreen)
	case isScreen:
		text = excerpt.Note("final screen of "+s.about(i, c), s.whereToRead(names, c.tokens)) + "\n" + screen
		why = event.CodeScreen
	}
	if text == "" {
		return e, false
	}
	e = ledger.Edit{First: i, Count: 1, Op: ledger.ReplaceText, Part: c.part, Text: text, Artifacts: names,
		Tokens: s.Request.CountAs(s.Scale, i, text), Step: ledger.StepOffload, Why: why}
	e.Saved = c.tokens - e.Tokens
	return e, e.Saved >= leastSaving
}

// excerpt returns what is kept of a text that is over its limit; empty if that is all of it.
func (s *State) excerpt(i int, c cut, names []string, screen string, isScreen bool) string {
	where, keep := s.whereToRead(names, c.tokens), c.keep
	if s.addressOf(names[0]) == "" && !c.recalled {
		keep *= 2 // nobody will look the rest up
	}
	if !c.recalled && !isScreen {
		if preview, ok := excerpt.JSON(c.text, keep, s.count); ok {
			return excerpt.Note("JSON preview of "+s.about(i, c), where) + "\n" + preview
		}
	}
	short, omitted := excerpt.Lines(screen, keep, s.count)
	if omitted == 0 {
		return ""
	}
	of := "of "
	if isScreen {
		of = "of the final screen of "
	}
	what := fmt.Sprintf("%d of %s omitted, %s%s", omitted, lines(excerpt.CountLines(screen)), of, s.about(i, c))
	return excerpt.Note(what, where) + "\n" + short
}

// about names the call of a text, and its size.
func (s *State) about(i int, c cut) string {
	return fmt.Sprintf("%s (%d tokens)", describe(s.results[i]), c.tokens)
}
