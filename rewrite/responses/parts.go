package responses

import (
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// AppendParts appends the parts of an item's content: a string is one part of text. Calls and thoughts are none, and of
// what is sealed nothing is to be seen.
func (Dialect) AppendParts(
	dst []conversation.Part, body []byte, content span.Span,
) (list []conversation.Part, err error) {
	if content.Empty() || body[content.Start] != '{' {
		return appendContent(dst, body, content)
	}
	err = span.Each(body, content, func(i int) (int, error) {
		e, err := readEntry(body, i)
		if err == nil {
			dst, err = appendEntry(dst, body, &e)
		}
		return e.End, err
	})
	return dst, err
}

// appendContent appends the parts of a text or of a list of parts.
func appendContent(
	dst []conversation.Part, body []byte, content span.Span,
) (list []conversation.Part, err error) {
	switch {
	case content.Empty():
		return dst, nil
	case body[content.Start] == '[':
		_, err = span.Elements(body, content.Start, func(i int) (int, error) {
			end, err := span.EndOfValue(body, i)
			if err == nil {
				dst, err = appendPart(dst, body, span.Span{Start: i, End: end})
			}
			return end, err
		})
		return dst, err
	case body[content.Start] == '{':
		return appendPart(dst, body, content)
	}
	return append(dst, conversation.Part{Kind: conversation.TextPart, Value: content}), nil
}

// appendEntry appends the parts of an entry that is content as a whole.
func appendEntry(dst []conversation.Part, body []byte, e *entry) ([]conversation.Part, error) {
	other := conversation.Part{Kind: conversation.OtherPart, Value: e.Span}
	switch {
	case e.kind == messageEntry:
		return appendContent(dst, body, e.value)
	case e.hidden:
		other.Value = span.Span{}
	case e.kind == callEntry, e.kind == reasoningEntry:
		return dst, nil
	case e.byID:
		if e.value.Empty() || body[e.value.Start] != '"' {
			break
		}
		return append(dst, conversation.Part{Kind: conversation.TextPart, Value: e.value, Encoded: true}), nil
	case e.kind == outputEntry && !e.loads:
		return appendContent(dst, body, e.value)
	case e.kind == remoteEntry && !e.value.Empty():
		other.Kind, other.Value = conversation.ImagePart, e.value
	case e.sealed:
		other.Value = span.Span{}
	}
	return append(dst, other), nil
}

// partKeys are those of a part that matter here.
var partKeys = [...]string{
	"type", "text", "refusal", "image_url", "file_id", "file_data", "file_url", "input_audio", "detail", "stdout",
	"stderr", "encrypted_content",
}

// part is one of a content, by its keys; empty where it has none or that is null.
type part [len(partKeys)]span.Span

func (p *part) at(key string) *span.Span {
	for k := range partKeys {
		if partKeys[k] == key {
			return &p[k]
		}
	}
	return nil
}

// first is the first of the keys that the part has.
func (p *part) first(keys ...string) span.Span {
	for _, key := range keys {
		if v := *p.at(key); !v.Empty() {
			return v
		}
	}
	return span.Span{}
}

// readPart reads the part that begins at body[i], which is an object.
func readPart(body []byte, i int) (p part, err error) {
	_, err = span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if to := p.at(string(key)); to != nil && err == nil {
			*to = span.UnlessNull(body, span.Span{Start: i, End: end})
		}
		return end, err
	})
	return p, err
}

// appendPart appends the part at place. What a command has written is two texts.
func appendPart(dst []conversation.Part, body []byte, place span.Span) ([]conversation.Part, error) {
	other := conversation.Part{Kind: conversation.OtherPart, Value: place}
	if body[place.Start] != '{' {
		return append(dst, other), nil
	}
	p, err := readPart(body, place.Start)
	if err != nil {
		return dst, err
	}
	kind, err := span.ShortText(p.at("type").Of(body))
	if err != nil {
		return dst, err
	}
	switch {
	case isChunk(&p):
		for _, v := range [...]span.Span{p.first("stdout"), p.first("stderr")} {
			if !v.Empty() && body[v.Start] == '"' {
				dst = append(dst, conversation.Part{Kind: conversation.TextPart, Value: v})
			}
		}
		return dst, nil
	case strings.HasSuffix(kind, "text"):
		if text := p.first("text"); !text.Empty() && body[text.Start] == '"' {
			other.Kind, other.Value = conversation.TextPart, text
		}
	case kind == "refusal":
		if said := p.first("refusal"); !said.Empty() {
			other.Value = said
		}
	default:
		other = media(other, body, kind, &p)
	}
	return append(dst, other), nil
}

// isChunk reports whether a part is what a command has written.
func isChunk(p *part) bool { return p.at("type").Empty() && !p.first("stdout", "stderr").Empty() }

// media is the part of a kind that is no text; what is sealed is nothing to be seen.
func media(other conversation.Part, body []byte, kind string, p *part) conversation.Part {
	switch kind {
	case "input_image", "computer_screenshot":
		if v := p.first("image_url", "file_id"); !v.Empty() {
			return conversation.Part{Kind: conversation.ImagePart, Value: v, Detail: p.first("detail")}
		}
	case "input_file":
		if v := p.first("file_data", "file_url", "file_id"); !v.Empty() {
			return conversation.Part{Kind: conversation.FilePart, Value: v}
		}
	case "input_audio":
		at := p.first("input_audio")
		if at.Empty() || body[at.Start] != '{' {
			return other
		}
		if o, err := span.ObjectAt(body, at.Start); err == nil && !o.Value("data").Empty() {
			return conversation.Part{Kind: conversation.AudioPart, Value: o.Value("data"), Detail: o.Value("format")}
		}
	}
	if !p.first("encrypted_content").Empty() {
		other.Value = span.Span{}
	}
	return other
}
