package ladder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"epitome/event"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ledger"
	"epitome/rewrite/recap"
)

// Tool is how texts for a model call epitome's own tool, whatever name a client gives it.
const Tool = "epitome's tool recall"

// readAtOnce is how many tokens an artifact may have so that a model need not be told to search it.
const readAtOnce = 2_000

// AddressOf says where an artifact lies, for a model; empty if it cannot read it.
func (s *State) addressOf(name string) string {
	if s.ReadsByTool {
		return "artifact " + name
	}
	return s.Artifacts.Address(name)
}

// whereToRead says where an artifact of so many tokens lies, and how to read on. A second name is that of the same as it
// came.
func (s *State) whereToRead(names []string, tokens int) string {
	where := s.whereIs(names[0], tokens)
	if len(names) > 1 && s.addressOf(names[1]) != "" {
		where += " (as it came: " + s.addressOf(names[1]) + ")"
	}
	return where
}

func (s *State) whereIs(name string, tokens int) string {
	at := s.addressOf(name)
	isURL := strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://")
	switch {
	case at == "":
		return "Kept as artifact " + name + ", which you cannot read from here"
	case s.ReadsByTool && tokens <= readAtOnce:
		return "Full output: " + at + "; read it with " + Tool
	case s.ReadsByTool:
		return "Full output: " + at + "; grep it or read a range with " + Tool
	case isURL && tokens > readAtOnce:
		return "Full output: " + at + "; fetch it and search it"
	case tokens > readAtOnce:
		return "Full output: " + at + "; grep it or read a range"
	}
	return "Full output: " + at
}

// keepText names the text of a JSON value. JSON in long lines is kept laid out too, for grep: that name comes first.
func (s *State) keepText(raw []byte, text string) []string {
	const longLine, most = 500, 8 << 20 // bytes
	names := []string{s.keep(jsonspan.ContentOfText(raw, text))}
	if len(text) < longLine*excerpt.CountLines(text) || len(text) > most || !jsonspan.Valid([]byte(text)) {
		return names
	}
	var laidOut bytes.Buffer
	if json.Indent(&laidOut, []byte(text), "", " ") != nil {
		return names
	}
	return append([]string{s.keep(laidOut.Bytes())}, names...)
}

// keepItem names the whole content of an item: its text if it is one, else the JSON of its parts.
func (s *State) keepItem(i int) []string {
	it := &s.Request.Items[i]
	if len(it.Parts) == 1 && it.Parts[0].Kind == conversation.TextPart && !it.Parts[0].Encoded {
		raw := it.Parts[0].Value.Of(s.Request.Body)
		return s.keepText(raw, string(jsonspan.TextOf(raw)))
	}
	names := []string{s.keep(s.Request.ContentSource(it))}
	if text := s.Request.TextOf(it); text != "" {
		names = append([]string{s.keep([]byte(text))}, names...)
	}
	return names
}

// stub returns the edit that clears a result: what was called, how it ended, how large it was, where it lies, and of a
// failed call its failure. note, if not empty, is what a model wrote about it.
func (s *State) stub(i int, step ledger.Step, why event.Code, note string) ledger.Edit {
	text, call := s.Request.TextOf(&s.Request.Items[i]), s.results[i]
	names := s.keepItem(i)
	head := describe(call)
	if call != nil && call.State() != "" {
		head += ", " + call.State()
	}
	if n := excerpt.CountLines(text); n > 0 {
		head += fmt.Sprintf(", %s, %d bytes", lines(n), len(text))
	}
	if media := s.Request.Items[i].Media(); media != "" {
		head += ", " + media
	}
	stub := excerpt.Note(head+", cleared", s.whereToRead(names, s.count(text)))
	if failure := failureOf(call, text); failure != "" {
		stub += "\n> " + strings.ReplaceAll(failure, "\n", "\n> ")
	}
	if note != "" {
		stub += "\nA model noted about it, maybe wrongly:\n| " + strings.ReplaceAll(note, "\n", "\n| ")
	}
	return s.clearEdit(i, step, why, stub, names)
}

// clearEdit returns the edit that puts one text in the place of all that an item says.
func (s *State) clearEdit(i int, step ledger.Step, why event.Code, text string, names []string) ledger.Edit {
	it := &s.Request.Items[i]
	tokens := s.Request.CountAs(s.Scale, i, text)
	content := it.Size.Media
	for k := range it.Parts {
		if p := &it.Parts[k]; p.Kind == conversation.TextPart || p.Kind == conversation.OtherPart {
			content += s.Request.CountPart(s.Scale, i, p)
		}
	}
	return ledger.Edit{First: i, Count: 1, Op: ledger.Clear, Text: text, Artifacts: names, Tokens: tokens,
		Saved: content - tokens, Step: step, Why: why}
}

// describe names a call; nobody may have made the one that a result answers.
func describe(call *activity.Call) string {
	if call == nil {
		return "a result"
	}
	return call.String()
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// failureOf returns the failure that a result reports whose call failed, or is a command of which nothing tells how it
// ended; empty if that is about all that it says.
func failureOf(call *activity.Call, text string) string {
	if call == nil || !call.Failed() && (call.Kind != activity.Run || call.Exit >= 0) {
		return ""
	}
	screen, _ := excerpt.Screen(text)
	failure := excerpt.Failure(screen)
	if 2*len(failure) >= len(text) {
		return ""
	}
	return failure
}

// isMarked reports whether a line of a text is a mark of epitome's own: then it is not cut again. Anyone can write a
// line that looks like one, so it must name an artifact that a decision speaks of or that exists. Nobody can guess a
// name, and equal content has another one in another scope.
func (s *State) isMarked(text string) bool {
	const maxLooks = 8 // for artifacts: a forger may write any number of names
	looks := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, excerpt.Mark) {
			continue
		}
		for name := range excerpt.ArtifactNames(line) {
			if s.named[name] || looks < maxLooks && s.Artifacts.Has(name) {
				return true
			}
			looks++
		}
	}
	return false
}

// recalled is the artifact that a result was asked for to show; empty if it shows none.
func (s *State) recalled(call *activity.Call) string {
	if call == nil {
		return ""
	}
	for _, name := range call.Cites {
		if s.named[name] {
			return name
		}
	}
	return ""
}

// keepItems names items [first, end) as a transcript and as the JSON that they are.
func (s *State) keepItems(first, end int) []string {
	source := s.keep(s.Request.Source(first, end))
	return []string{s.keep(recap.Transcript(s.Request, s.Calls, first, end, source)), source}
}

// KeepAgain names all content that an edit may have taken out, so that what was lost of it is put again.
func (s *State) KeepAgain(e ledger.Edit) {
	r := s.Request
	if e.Op == ledger.AppendSystem || e.End() > len(r.Items) {
		return
	}
	if e.Op == ledger.Drop {
		s.keepItems(e.First, e.End())
		s.keepItems(e.First, s.endOfDrops(e))
		return
	}
	it := &r.Items[e.First]
	s.keep(r.Source(e.First, e.End()))
	s.keep(r.ContentSource(it))
	s.keep([]byte(r.TextOf(it)))
	for k := range it.Parts {
		if raw := it.Parts[k].Value.Of(r.Body); it.Parts[k].Kind == conversation.TextPart {
			s.keepText(raw, string(jsonspan.TextOf(raw)))
		}
	}
}

// endOfDrops is where the last item of a summary ends whose first run is left out by e: some items between may stay.
func (s *State) endOfDrops(e ledger.Edit) int {
	end := e.End()
	for k := range s.Edits {
		if o := &s.Edits[k]; o.Op == ledger.Drop && o.Step == e.Step {
			end = max(end, o.End())
		}
	}
	return end
}
