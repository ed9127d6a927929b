package recap

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/prose"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
)

// Transcript returns items [first, end) as text for a reader of lines: each under a heading with the number and role of
// its message, a result under one that names its call. source is the name of the artifact with the same as JSON. A part
// of it stands in each heading and nowhere else, so that nothing that was said can pass for one.
func Transcript(r *conversation.Request, calls []activity.Call, first, end int, source string) []byte {
	const size = 8 // characters of a name that nobody writes by chance
	for at := 0; at+size <= len(source); at++ {
		id := source[at : at+size]
		if t := newTranscript(r, calls, first, end, source, id); bytes.Count(t.text[t.begin:], []byte(id)) == t.headings {
			return t.text
		}
	}
	return newTranscript(r, calls, first, end, source, source).text
}

// transcript is one that is being written.
type transcript struct {
	id       string
	text     []byte
	begin    int   // of the first item, in bytes
	headings int   // of items and calls
	line     int   // the next one, from 1 on
	lines    []int // on which each item begins
}

func newTranscript(r *conversation.Request, calls []activity.Call, first, end int, source, id string) *transcript {
	t, number, called := &transcript{id: id, line: 1}, numbers(r), byResult(calls)
	t.write(fmt.Sprintf("messages %d-%d of a conversation as text; the same as JSON is in %s.txt "+
		"beside this file", number[first], number[end-1], source), "")
	t.begin, t.headings = len(t.text), 0
	for i := first; i < end; i++ {
		t.lines = append(t.lines, t.line)
		it := &r.Items[i]
		heading := fmt.Sprintf("message %d: %s", number[i], it.Role)
		if it.Role == conversation.Tool {
			heading = fmt.Sprintf("message %d: result of %s", number[i], describe(called[i]))
		}
		t.write(heading, spoken(r, it))
		for k := range it.Calls {
			t.write("call of "+excerpt.OneLine(it.Calls[k].Name, 80), arguments(r.Body, &it.Calls[k]))
		}
	}
	return t
}

// write writes a text under its heading.
func (t *transcript) write(heading, text string) {
	t.headings++
	t.line += 2 + excerpt.CountLines(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	t.text = fmt.Appendf(t.text, "[%s: %s]\n%s\n", t.id, heading, text)
}

// describe says which call a result is for, and how that ended.
func describe(c *activity.Call) string {
	if c == nil {
		return "an unknown call"
	}
	text := excerpt.OneLine(c.String(), 1_000)
	if state := c.State(); state != "" {
		text += ", " + state
	}
	return text
}

func byResult(calls []activity.Call) map[int]*activity.Call {
	of := make(map[int]*activity.Call, len(calls))
	for k := range calls {
		of[calls[k].Result] = &calls[k]
	}
	return of
}

// spoken returns what an item says. Of pictures, sound and documents it says that they are there.
func spoken(r *conversation.Request, it *conversation.Item) string {
	const longest = 1_000 // bytes of an address, and of a part of an unknown kind
	var b strings.Builder
	for _, p := range it.Parts {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		switch raw := p.Value.Of(r.Body); {
		case p.Kind == conversation.TextPart:
			b.Write(jsonspan.TextOf(raw))
		case len(raw) > longest:
			fmt.Fprintf(&b, "(a %s of %d bytes)", p.Kind, len(raw))
		case p.Kind == conversation.OtherPart:
			b.Write(raw)
		default:
			fmt.Fprintf(&b, "(a %s: %s)", p.Kind, raw)
		}
	}
	return b.String()
}

// arguments returns the arguments of a call: each under its key, texts as they are and all else as JSON.
func arguments(body []byte, c *conversation.Call) string {
	const most = 1 << 20 // bytes that are read
	raw := c.ArgumentsIn(body)
	if c.FreeText || len(raw) > most || !jsonspan.Valid(raw) || !gjson.ParseBytes(raw).IsObject() {
		return string(raw)
	}
	var b strings.Builder
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		text, gap := strings.TrimSuffix(v.String(), "\n"), " "
		if strings.Contains(text, "\n") {
			gap = "\n"
		}
		b.WriteString(key.Str + ":" + gap + text + "\n")
		return true
	})
	return b.String()
}

// Entries returns items [first, end) for a model that is asked about them. The user's first words come before them.
func Entries(r *conversation.Request, calls []activity.Call, first, end int) (list []prose.Entry) {
	called, group := byResult(calls), 0
	for i := range r.Items[:end] {
		it := &r.Items[i]
		if it.StartsAnswer {
			group++
		}
		if i < first && (i >= r.Head || it.Role != conversation.User) {
			continue
		}
		e := prose.Entry{Group: group, Text: r.TextOf(it)}
		switch it.Role {
		case conversation.User:
			e.Kind, e.Text = prose.User, conversation.OwnWords(e.Text)
		case conversation.Assistant:
			e.Kind = prose.Assistant
		case conversation.Tool:
			e.Kind = prose.Result
			if c := called[i]; c != nil {
				e.Tool, e.State = c.Tool, c.State()
			}
		default:
			e.Kind = prose.System
		}
		if e.Text != "" || it.Role == conversation.Tool {
			list = append(list, e)
		}
		for k := range it.Calls {
			text := string(it.Calls[k].ArgumentsIn(r.Body))
			list = append(list, prose.Entry{Group: group, Kind: prose.Call, Tool: it.Calls[k].Name, Text: text})
		}
	}
	return list
}
