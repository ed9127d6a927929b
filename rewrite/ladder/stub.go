package ladder

import (
	"fmt"
	"math"
	"slices"
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

// addressOf says where an artifact lies, for a model; empty if it cannot read it.
func (s *State) addressOf(name string) string {
	if s.ReadsByTool {
		return "artifact " + name
	}
	return s.Artifacts.Address(name)
}

// whereToRead says where an artifact of so many tokens lies, and how to read it. A second name is that of the same as
// it came.
func (s *State) whereToRead(what string, names []string, tokens int) string {
	const readAtOnce = 2_000 // tokens of an artifact that a model need not be told to search
	at, how := s.addressOf(names[0]), ""
	switch {
	case at == "":
		return "Kept as artifact " + names[0] + ", which you cannot read from here"
	case s.ReadsByTool:
		how = "; grep it or read a range with " + Tool
	case tokens > readAtOnce:
		how = "; grep it or read a range"
	}
	if len(names) > 1 && s.addressOf(names[1]) != "" {
		how += " (as it came: " + s.addressOf(names[1]) + ")"
	}
	return what + ": " + at + how
}

// transcriptAt says where the transcript of an edit lies that drops items.
func (s *State) transcriptAt(e *ledger.Edit) string {
	return s.whereToRead("Transcript", e.Artifacts[:1], math.MaxInt)
}

// keep names content, which is put when the decision is recorded.
func (s *State) keep(content []byte) string {
	name := s.Artifacts.Name(s.Scope, content)
	s.Content[name] = content
	return name
}

// keepText names the text of a JSON value. JSON in long lines is kept laid out too: that name comes first.
func (s *State) keepText(raw []byte, text string) []string {
	names := []string{s.keep(jsonspan.ContentOfText(raw, text))}
	if laidOut, ok := excerpt.LaidOut(text); ok {
		names = append([]string{s.keep([]byte(laidOut))}, names...)
	}
	return names
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

// keepItems names items [first, end) as a transcript and as the JSON that they are.
func (s *State) keepItems(first, end int) []string {
	source := s.keep(s.Request.Source(first, end))
	return []string{s.keep(recap.Transcript(s.Request, s.Calls, first, end, source)), source}
}

// KeepAgain names all content that an edit may have taken out, so that what was lost of it is put again.
func (s *State) KeepAgain(e ledger.Edit) {
	switch {
	case e.Op == ledger.AppendSystem || e.End() > len(s.Request.Items):
	case e.Op == ledger.Drop:
		first, end := e.First, e.End()
		for k := range s.Edits { // those of one transcript
			if o := &s.Edits[k]; slices.Equal(o.Artifacts, e.Artifacts) {
				first, end = min(first, o.First), max(end, o.End())
			}
		}
		s.keepItems(first, end)
	default:
		s.keep(s.Request.Source(e.First, e.End()))
		s.keepItem(e.First)
		for _, t := range s.textsOf(e.First) {
			s.keepText(t.raw, t.text)
		}
	}
}

// stub returns the edit that clears a result: what was called, how it ended, how large it was, where it lies, and of a
// failed call its failure. note, if not empty, is what a model wrote about it.
func (s *State) stub(i int, step ledger.Step, why event.Code, note string) ledger.Edit {
	call, quotes := s.results[i], ""
	if failure := failureOf(call, s.Request.TextOf(&s.Request.Items[i])); failure != "" {
		quotes = "\n> " + strings.ReplaceAll(failure, "\n", "\n> ")
	}
	if note != "" {
		quotes += "\nA model noted about it, maybe wrongly:\n| " + strings.ReplaceAll(note, "\n", "\n| ")
	}
	what := call.String()
	if state := call.State(); state != "" {
		what += ", " + state
	}
	e := s.clearEdit(i, what, ", cleared", quotes)
	e.Step, e.Why = step, why
	return e
}

// clearEdit returns the edit that puts one text in the place of all that an item says: what it was, its size, what was
// done to it, where it lies, and quotes.
func (s *State) clearEdit(i int, what, done, quotes string) ledger.Edit {
	it, names := &s.Request.Items[i], s.keepItem(i)
	whole := s.Request.TextOf(it)
	if n := excerpt.CountLines(whole); n > 0 {
		what += fmt.Sprintf(", %s, %d bytes", excerpt.Amount(n), len(whole))
	}
	if media := it.Media(); media != "" {
		what += ", " + media
	}
	text := excerpt.Note(what+done, s.whereToRead("Full output", names, s.Size(i))) + quotes
	e := ledger.Edit{First: i, Count: 1, Op: ledger.Clear, Text: text, Artifacts: names,
		Tokens: s.Request.CountIn(s.Scale, i, jsonspan.AppendQuoted(nil, text))}
	e.Saved = it.Size.Media - e.Tokens
	for k := range it.Parts {
		if p := &it.Parts[k]; p.Kind == conversation.TextPart || p.Kind == conversation.OtherPart {
			e.Saved += s.Request.CountIn(s.Scale, i, p.Value.Of(s.Request.Body))
		}
	}
	return e
}

// failureOf returns the failure that a result reports whose call failed, or is a command of which nothing tells how it
// ended; empty if that is about all that it says.
func failureOf(call *activity.Call, text string) string {
	if !call.Failed() && (call.Kind != activity.Run || call.Exit >= 0) {
		return ""
	}
	screen, _ := excerpt.Screen(text)
	failure := excerpt.Failure(screen)
	if 2*len(failure) >= len(text) {
		return ""
	}
	return failure
}
