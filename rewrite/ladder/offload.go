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
	room := maxOffloaded
	var edits []ledger.Edit
	for i := len(s.Request.Items) - 1; i >= from; i-- {
		if !s.mayCut(i) || s.forms[i].shortened || s.Size(i) < leastShortened || s.readsBack(i) {
			continue
		}
		content := s.Request.Items[i].Content
		if room -= content.End - content.Start; room < 0 && len(edits) > 0 {
			break
		}
		limit, keep := s.Limits.LimitOf(s.results[i])
		for _, t := range s.textsOf(i) {
			if e, ok := s.shorten(i, t, t.share(limit), t.share(keep)); ok {
				edits = append(edits, e)
			}
		}
	}
	for _, e := range edits {
		if e.Why == event.CodeScreen {
			s.because(event.CauseScreen)
		} else {
			s.because(event.CauseLarge)
		}
	}
	if len(edits) > 0 {
		s.Add(edits...)
	}
}

// readsBack reports whether a result shows an artifact of this conversation, as the model asked for, and is not too long
// to stay whole.
func (s *State) readsBack(i int) bool {
	const maxLooks = 8 // at words that may be names
	call := s.results[i]
	if call == nil || s.Size(i) > s.Limits.Recall {
		return false
	}
	for _, name := range call.Cites[:min(len(call.Cites), maxLooks)] {
		isNamed := func(e ledger.Edit) bool { return slices.Contains(e.Artifacts, name) }
		if slices.ContainsFunc(s.Edits, isNamed) {
			return true
		}
	}
	return false
}

// textOf is one text of an item.
type textOf struct {
	part        int
	raw         []byte // as it stands in the body
	text        string
	tokens, all int // of it, and of all texts of the item
}

// share returns the text's part of tokens that all texts of the item may have together.
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
		t := textOf{part: k, raw: raw, text: string(jsonspan.TextOf(raw)), tokens: s.Request.CountIn(s.Scale, i, raw)}
		texts, all = append(texts, t), all+t.tokens
	}
	for k := range texts {
		texts[k].all = all
	}
	return texts
}

// shorten returns the edit that puts a preview of its JSON, an excerpt of about keep tokens or the final screen of a
// terminal in the place of a text of more than limit tokens; false if that saves too little.
func (s *State) shorten(i int, t textOf, limit, keep int) (e ledger.Edit, ok bool) {
	screen, isScreen := t.text, false
	if t.tokens > s.Limits.Screen {
		screen, isScreen = excerpt.Screen(t.text)
	}
	text, why, names := "", event.CodeOverLimit, s.keepText(t.raw, t.text)
	switch {
	case t.tokens > limit && (!isScreen || s.count(screen) > limit):
		text = s.excerpt(i, t, keep, names, screen, isScreen)
	case isScreen:
		text = excerpt.Note("final screen of "+s.about(i, t), s.whereToRead("Full output", names, t.tokens)) + "\n" + screen
		why = event.CodeScreen
	}
	if text == "" {
		return e, false
	}
	e = ledger.Edit{First: i, Count: 1, Op: ledger.ReplaceText, Part: t.part, Text: text, Artifacts: names,
		Tokens: s.Request.CountIn(s.Scale, i, jsonspan.AppendQuoted(nil, text)), Step: ledger.StepOffload, Why: why}
	e.Saved = t.tokens - e.Tokens
	return e, e.Saved >= leastSaving
}

// excerpt returns what is kept of a text that is over its limit; empty if that is all of it.
func (s *State) excerpt(i int, t textOf, keep int, names []string, screen string, isScreen bool) string {
	where := s.whereToRead("Full output", names, t.tokens)
	if s.addressOf(names[0]) == "" {
		keep *= 2 // nobody will look the rest up
	}
	if !isScreen {
		if preview, ok := excerpt.JSON(t.text, keep, s.count); ok {
			return excerpt.Note("JSON preview of "+s.about(i, t), where) + "\n" + preview
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
	what := fmt.Sprintf("%d of %s omitted, %s%s", omitted, lines(excerpt.CountLines(screen)), of, s.about(i, t))
	return excerpt.Note(what, where) + "\n" + short
}

// about names what a text is, and its size.
func (s *State) about(i int, t textOf) string {
	what := describe(s.results[i])
	if s.Request.Items[i].Role == conversation.Assistant {
		what = "an earlier answer"
	}
	return fmt.Sprintf("%s (%d tokens)", what, t.tokens)
}
