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
	billing = regexp.MustCompile(`x-anthropic-billing-header:[^"\\]*`)

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

// Title returns the beginning of what the user typed first, for people to tell conversations apart.
func (r *Request) Title() string {
	for i := range r.Items {
		if words := r.OwnWords(i); words != "" {
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
