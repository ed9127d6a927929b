package ladder

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// readAtOnce is how many tokens an artifact may have so that a model need not be told to search it.
const readAtOnce = 2_000

// addressOf says where an artifact lies, for a model; empty if it cannot read it.
func (s *State) addressOf(name string) string {
	if s.ReadsByTool {
		return "artifact " + name
	}
	return s.Artifacts.Address(name)
}

// whereToRead says where an artifact of so many tokens lies, and how to read it. A second name is that of the same as it
// came.
func (s *State) whereToRead(what string, names []string, tokens int) string {
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
	return s.whereToRead("Transcript", e.Artifacts[:1], readAtOnce+1)
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

// keepItems names items [first, end) as a transcript and as the JSON that they are.
func (s *State) keepItems(first, end int) []string {
	source := s.keep(s.Request.Source(first, end))
	return []string{s.keep(recap.Transcript(s.Request, s.Calls, first, end, source)), source}
}

// KeepAgain names all content that an edit may have taken out, so that what was lost of it is put again.
func (s *State) KeepAgain(e ledger.Edit) {
	switch {
	case e.Op == ledger.AppendSystem || e.End() > len(s.Request.Items):
		return
	case e.Op == ledger.Drop && e.Why != event.CodeThinking:
		first, end := e.First, e.End()
		for k := range s.Edits { // those of one transcript
			if o := &s.Edits[k]; slices.Equal(o.Artifacts, e.Artifacts) {
				first, end = min(first, o.First), max(end, o.End())
			}
		}
		s.keepItems(first, end)
		return
	}
	s.keep(s.Request.Source(e.First, e.End()))
	s.keepItem(e.First)
	for _, t := range s.textsOf(e.First) {
		s.keepText(t.raw, t.text)
	}
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
	stub := excerpt.Note(head+s.sizeOf(i, text)+", cleared", s.whereToRead("Full output", names, s.count(text)))
	if failure := failureOf(call, text); failure != "" {
		stub += "\n> " + strings.ReplaceAll(failure, "\n", "\n> ")
	}
	if note != "" {
		stub += "\nA model noted about it, maybe wrongly:\n| " + strings.ReplaceAll(note, "\n", "\n| ")
	}
	return s.clearEdit(i, step, why, stub, names)
}

// sizeOf says how long the text of an item is, and what pictures it has, each behind a comma.
func (s *State) sizeOf(i int, text string) (size string) {
	if n := excerpt.CountLines(text); n > 0 {
		size = fmt.Sprintf(", %s, %d bytes", lines(n), len(text))
	}
	if media := s.Request.Items[i].Media(); media != "" {
		size += ", " + media
	}
	return size
}

// clearEdit returns the edit that puts one text in the place of all that an item says.
func (s *State) clearEdit(i int, step ledger.Step, why event.Code, text string, names []string) ledger.Edit {
	it := &s.Request.Items[i]
	tokens := s.Request.CountIn(s.Scale, i, jsonspan.AppendQuoted(nil, text))
	content := it.Size.Media
	for k := range it.Parts {
		if p := &it.Parts[k]; p.Kind == conversation.TextPart || p.Kind == conversation.OtherPart {
			content += s.Request.CountIn(s.Scale, i, p.Value.Of(s.Request.Body))
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
