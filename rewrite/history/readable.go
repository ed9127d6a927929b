package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Readable returns what a value says, for a reader of lines: what lies beside an artifact that is JSON. The text of a
// string is JSON too, and is laid out. Of a list of parts the texts stand one below the other, as they are, and what
// else is written in JSON between them, laid out; pictures, sound and documents are left out. It depends on the value
// alone, so that it can be made again.
func Readable(r *conversation.Request, v span.Span) []byte {
	raw := v.Of(r.Body)
	if len(raw) > 0 && raw[0] == '"' {
		text, err := span.Unquote(raw)
		if err != nil { // it is read as it stands
			return bytes.Clone(raw)
		}
		return span.Layout([]byte(text))
	}
	parts, err := r.Dialect.AppendParts(nil, r.Body, v)
	if err != nil { // odd
		return span.Layout(raw)
	}
	var texts []string
	for _, p := range parts {
		switch raw := p.Value.Of(r.Body); {
		case len(raw) == 0 || mediaName(p.Kind) != "":
		case raw[0] == '"':
			texts = append(texts, string(span.TextOf(raw)))
		default:
			texts = append(texts, string(span.Layout(raw)))
		}
	}
	return []byte(JoinTexts(texts))
}

// JoinTexts returns the texts one below the other, each beginning a line. Empty ones are left out.
func JoinTexts(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var s strings.Builder
	for _, text := range texts {
		if s.Len() > 0 && text != "" && !strings.HasSuffix(s.String(), "\n") {
			s.WriteByte('\n')
		}
		s.WriteString(text)
	}
	return s.String()
}

// MediaIn says in words which pictures, sound and documents a content has, the first ones first; empty if it has none.
func MediaIn(r *conversation.Request, content span.Span) string {
	if content.Empty() {
		return ""
	}
	var names []string
	count := map[string]int{}
	parts, _ := r.Dialect.AppendParts(nil, r.Body, content) // what cannot be read shows nothing
	for _, p := range parts {
		name := mediaName(p.Kind)
		if count[name]++; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for k, name := range names {
		if names[k] = "a " + name; count[name] > 1 {
			names[k] = fmt.Sprintf("%d %ss", count[name], name)
		}
	}
	return strings.Join(names, " and ")
}

// mediaName is what a model is told that a part is which is no text; empty for all others.
func mediaName(k conversation.PartKind) string {
	switch k {
	case conversation.ImagePart:
		return "picture"
	case conversation.AudioPart:
		return "recording"
	case conversation.FilePart:
		return "document"
	}
	return ""
}
