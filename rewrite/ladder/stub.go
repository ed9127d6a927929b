package ladder

import (
	"strings"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
)

// maxCall is how many characters of a call the text in the place of its result repeats: the call itself stands above.
const maxCall = 100

// stub returns the edit that clears result i. Its text says what was called, how the call ended if not well, how large
// the result is and where it can be read. Unless the result is stale, it quotes the failure of a failed call, or else a
// model's distillate, if there is one.
func (s State) stub(i int, step ledger.Step, reason event.Code) ledger.Edit {
	call := s.callOf[i]
	what := excerpt.OneLine(call.String(), maxCall) + ", " + call.State()
	what = strings.TrimSuffix(what, ", ok") // as most calls end
	done, quotes := s.stubEnd(i, step)
	e := s.clearEdit(i, what, done, quotes)
	e.Step, e.Reason = step, reason
	return e
}

// stubEnd returns how the note of result i's stub ends, and the quotes behind it.
func (s State) stubEnd(i int, step ledger.Step) (done, quotes string) {
	if s.isStale(i) {
		return " omitted, as a later call repeats it or changed the file", ""
	}
	text := s.Request.LinesOf(&s.Request.Items[i])
	failure := s.callOf[i].Failure(text)
	if failure != "" && 2*len(failure) < len(text) { // else the quote would free little
		return " omitted; failing lines follow", "\n" + excerpt.Quote(failure)
	}
	if said := s.distillate(i, step); said != "" {
		return " omitted; a model's account of it follows", "\n" + excerpt.Quote(said)
	}
	return " omitted", ""
}

// clearEdit returns the edit that puts one text in the place of all that item i says. The text names what the item was
// and its size, says what was done to it and where to read it, and ends with quotes.
func (s State) clearEdit(i int, what, done, quotes string) ledger.Edit {
	it := &s.Request.Items[i]
	media := s.Request.Media(it)
	names, files := s.keepItem(i)
	isDocument := it.Role == conversation.User && media != "" // the lines may be those of a document
	if s.Request.TextOf(it) != "" && !isDocument {
		what += ", " + excerpt.Amount(excerpt.CountLines(string(s.Content[names[0]]))) // of what the model is told to read
	}
	if media != "" {
		what += ", " + media
	}
	where := s.whereToRead("Full output", names, it.Size.Text)
	for _, name := range files {
		where += ". " + s.whereToRead("Picture or document", []string{name}, 0)
	}
	text := excerpt.Note(what+done, where) + quotes
	e := ledger.Edit{
		First: i, Count: 1, Op: ledger.Clear, Text: text, Artifacts: append(names, files...),
		Tokens: s.Request.CountContent(s.Scale, i, jsonspan.AppendQuoted(nil, text)),
	}
	e.Saved = it.Size.Media - e.Tokens
	for k := range it.Parts { // text and other parts are in Size.Text, beside calls and thinking, which stay
		if p := &it.Parts[k]; p.Kind < conversation.ImagePart {
			e.Saved += s.Request.CountContent(s.Scale, i, p.Value.Of(s.Request.Body))
		}
	}
	return e
}
