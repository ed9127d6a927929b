package conversation

import (
	"bytes"
	"cmp"
	_ "embed" // words.txt
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/internal/jsonspan"
	"epitome/internal/unit"
	"epitome/offload/excerpt"
)

//go:embed words.txt
var wordsText string

// words are the expressions for what clients put into messages of the user.
var words = unit.Expressions(wordsText)

var (
	clientTag   = regexp.MustCompile(`\A(?:` + words["note"] + `|` + words["output"] + `)\z`)
	outputTag   = regexp.MustCompile(`\A(?:` + words["output"] + `)\z`)
	timeNote    = regexp.MustCompile(`\A\s*<current_datetime>[^<]*</current_datetime>\s*`)
	lineTag     = regexp.MustCompile(`(?m)^\s*</?[A-Za-z][\w:.-]*(?:\s[^>]*)?>`)
	typedTag    = regexp.MustCompile(`(?i)\A(?:` + words["typed"] + `)\z`)
	besideTag   = regexp.MustCompile(`(?i)\A(?:` + words["beside"] + `)\z`)
	anyTag      = regexp.MustCompile(`\A<([A-Za-z][\w:.-]*)(?:\s[^>]*)?>`)
	billing     = regexp.MustCompile(`x-anthropic-billing-header:[^"\\]*`)
	clientsText = regexp.MustCompile(`(?s)\A(?:# AGENTS\.md instructions.*</INSTRUCTIONS>|` +
		`(?:` + words["opening"] + `).*)`)

	// summaryRequest matches the JSON strings by which clients ask a model to summarize the conversation.
	summaryRequest = regexp.MustCompile(`^"(?:` + words["summary"] + `)`)
)

// WithoutBilling returns a piece of a body without the line for billing that Claude Code writes before its system
// prompt: it differs from request to request.
func WithoutBilling(body []byte) []byte {
	if !bytes.Contains(body, []byte("billing-header")) {
		return body
	}
	return billing.ReplaceAll(body, nil)
}

// OwnWords returns the texts of an item without what the client put in. Of a message of the user this is what the user
// typed: only the elements that words.txt names are the client's, as users write prompts in elements of their own.
func (r *Request) OwnWords(it *Item) string {
	var own []string
	for _, text := range r.texts(it, it.Role != User) {
		text = strings.TrimSpace(withoutNotes(text))
		if it.Role == User {
			text = typedIn(text)
		}
		if text != "" {
			own = append(own, text)
		}
	}
	return strings.Join(own, "\n")
}

// typedIn returns what the user typed in a text without notes.
func typedIn(text string) string {
	return unwrap(strings.TrimSpace(clientsText.ReplaceAllString(text, "")))
}

// mostElements bounds the elements of a text that are told apart, and the beginnings whose end is looked for in vain.
const mostElements = 100

// withoutNotes returns a text without the elements of clients that begin a line or follow another one.
func withoutNotes(text string) string {
	var own strings.Builder
	copied, at := 0, 0
	unclosed := map[string]bool{} // names without an end in the rest of the text
	for len(unclosed) < mostElements {
		first, end, name := nextTag(text[at:])
		if name == "" {
			break
		}
		start := at + first
		at += end
		length := -1
		closing := "</" + name + ">"
		switch {
		case unclosed[name]:
		case outputTag.MatchString(name):
			length = strings.LastIndex(text[at:], closing)
		default:
			length = strings.Index(text[at:], closing)
		}
		if length < 0 { // it is no element
			unclosed[name] = true
			continue
		}
		own.WriteString(text[copied:start])
		at += length + len(closing)
		copied = at
	}
	return own.String() + text[copied:]
}

// nextTag returns where the first tag of a client begins, with the blanks and empty lines above it, where it ends, and
// its name, which is empty if there is none. Only a tag that begins a line or the text counts.
func nextTag(text string) (first, end int, name string) {
	const blanks = " \t\r\n\f"
	for at := 0; ; {
		length := strings.IndexByte(text[at:], '<')
		if length < 0 {
			return 0, 0, ""
		}
		above := text[:at+length]
		at += length + len("<")
		first = len(strings.TrimRight(above, blanks))
		lineEnd := strings.IndexByte(above[first:], '\n')
		if first > 0 && lineEnd < 0 { // words stand before it
			continue
		}
		if first > 0 {
			first += lineEnd + 1
		}
		length = strings.IndexAny(text[at:], blanks+">")
		if length < 0 || !clientTag.MatchString(text[at:at+length]) {
			continue
		}
		end = strings.IndexByte(text[at:], '>')
		if end < 0 {
			return 0, 0, ""
		}
		return first, at + end + len(">"), text[at : at+length]
	}
}

// unwrap returns what the user typed in a text that is nothing but elements: all of it, but for elements beside those
// that only clients write, and for tags around what is typed if there are no other elements. Any other text is returned
// as it is.
func unwrap(text string) string {
	var typed []string
	hasOthers, isClients := false, false
	rest := text
	for n := 0; rest != ""; n++ {
		tag := anyTag.FindStringSubmatch(rest)
		if tag == nil || n == mostElements {
			return text
		}
		rest = rest[len(tag[0]):]
		end := strings.LastIndex(rest, "</"+tag[1]+">") // what a file or a command says may look like an end
		if end < 0 {
			return text
		}
		isClients = isClients || besideTag.MatchString(tag[1])
		if typedTag.MatchString(tag[1]) {
			typed = append(typed, strings.TrimSpace(rest[:end]))
		} else {
			hasOthers = true
		}
		rest = strings.TrimSpace(rest[end+len("</>")+len(tag[1]):])
	}
	if hasOthers && !isClients {
		return text
	}
	return strings.TrimSpace(strings.Join(typed, "\n"))
}

// keepLine matches the lines by which a user says what every summary has to hold.
var keepLine = regexp.MustCompile(`(?im)^keep:[^\r\n]*`)

// IsKeepLine reports whether a line begins as those do. Where it is not the user's, it asks for nothing.
func IsKeepLine(line string) bool { return keepLine.MatchString(line) }

// KeepLines returns the lines of items [first, end) that begin with "keep:", in any case, in what the user typed. Below a
// line that begins with a tag no line of an item counts: what stands in an element may look like its end.
func (r *Request) KeepLines(first, end int) (lines []string) {
	for i := first; i < end; i++ {
		it := &r.Items[i]
		if it.Role != User || !strings.Contains(strings.ToLower(r.TextOf(it)), "keep:") {
			continue
		}
		for _, text := range r.texts(it, false) {
			text = timeNote.ReplaceAllString(text, "")
			if first, _, name := nextTag(text); name != "" {
				text = text[:first]
			}
			aboveTags := lineTag.Split(typedIn(text), 2)[0]
			lines = append(lines, keepLine.FindAllString(aboveTags, -1)...)
		}
	}
	return lines
}

// Title returns the beginning of what the user typed first, for people to tell conversations apart.
func (r *Request) Title() string {
	for i := range r.Items {
		if r.Items[i].Role != User {
			continue
		}
		if words := r.OwnWords(&r.Items[i]); words != "" {
			return excerpt.OneLine(words, 60)
		}
	}
	return ""
}

// TextOf returns the texts of an item's parts, those of documents among them, joined by line breaks.
func (r *Request) TextOf(it *Item) string { return strings.Join(r.texts(it, true), "\n") }

// LinesOf returns TextOf an item, with the output that a JSON value wraps as lines (see jsonspan.Unwrapped).
func (r *Request) LinesOf(it *Item) string { return jsonspan.Unwrapped(r.TextOf(it)) }

// Thought returns the reasoning of an item, as far as it can be read.
func (r *Request) Thought(it *Item) string {
	var list []string
	for _, t := range slices.Concat(it.Thinking, it.Reasoning) {
		shown := t.Text.Of(r.Body)
		if len(shown) <= len("[]") {
			shown = t.Summary.Of(r.Body)
		}
		gjson.ParseBytes(shown).ForEach(func(_, value gjson.Result) bool { // a text, or a list of parts
			list = append(list, cmp.Or(value.Get("text").Str, value.Str))
			return true
		})
	}
	return strings.TrimSpace(strings.Join(list, "\n"))
}

func (r *Request) texts(it *Item, documents bool) (texts []string) {
	for _, p := range it.Parts {
		if p.Kind == TextPart || p.Kind == DocumentPart && documents {
			texts = append(texts, jsonspan.StringOf(p.Value.Of(r.Body)))
		}
	}
	return texts
}

// Media lists the media and the texts of documents of an item; it is "" if there are none.
func (r *Request) Media(it *Item) string {
	nouns := [...]string{DocumentPart: "text file", ImagePart: "picture", AudioPart: "recording", FilePart: "document"}
	var list []string
	for _, p := range it.Parts {
		medium := nouns[p.Kind]
		if medium == "" {
			continue
		}
		title := jsonspan.TextOf(p.Title.Of(r.Body))
		if len(title) > 0 {
			medium += fmt.Sprintf(" %q", excerpt.OneLine(string(title), 100))
		}
		if !p.IsAddress {
			size := p.Value.Len()
			if p.Kind >= ImagePart {
				size = size / 4 * 3 // bytes, as four letters of base64 encode three
			}
			medium += fmt.Sprintf(" (about %d KB)", (size+999)/1000)
		}
		list = append(list, medium)
	}
	return strings.Join(list, ", ")
}
