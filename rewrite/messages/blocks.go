package messages

import (
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// kind is what a block is.
type kind uint8

// The kinds of blocks.
const (
	oddBlock kind = iota // nobody knows here what it is
	textBlock
	callBlock
	resultBlock
	thoughtBlock    // shown or not
	mediaBlock      // images, documents, and what else a user shows
	serverBlock     // calls and results of tools that run at the provider
	compactionBlock // what a provider put in the place of all before it
)

// block is a part of a message, or of a result.
type block struct {
	span.Span
	kind  kind
	id    string // of a call, or of the call that a result answers
	name  string
	value span.Span // text, thought, input of a call, or content of a result; empty if there is none or it is null
	ended conversation.Verdict
	loads bool      // a result that declares tools
	media span.Span // where an image or document comes from; empty if it is none

	document bool
	answers  bool                // it has the id of a call that it answers
	marks    []conversation.Mark // for the provider's cache, also those of a result's own blocks
	marked   bool                // it is, itself
}

// kindOf is the kind of a block with that type.
func kindOf(kindName string) kind {
	switch kindName {
	case "text":
		return textBlock
	case "tool_use":
		return callBlock
	case "tool_result":
		return resultBlock
	case "thinking", "redacted_thinking":
		return thoughtBlock
	case "image", "document", "search_result", "container_upload":
		return mediaBlock
	case "server_tool_use", "mcp_tool_use", "mcp_tool_result", "fallback", "web_search_tool_result",
		"web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result", "advisor_tool_result":
		return serverBlock
	case "compaction":
		return compactionBlock
	}
	return oddBlock
}

// readBlock reads the block that begins at body[i]. What is no object is an odd one.
func readBlock(body []byte, i int) (b block, err error) {
	b.Start = i
	if body[i] != '{' {
		b.End, err = span.EndOfValue(body, i)
		return b, err
	}
	var typ string
	var at values
	b.End, err = span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		v := span.UnlessNull(body, span.Span{Start: i, End: end})
		switch string(key) {
		case "type":
			typ, err = span.ShortText(v.Of(body))
			return end, err
		case marker:
			if b.marked = !v.Empty(); b.marked {
				b.marks = append(b.marks, markAt(body, v))
			}
		}
		if to := at.of(key); to != nil {
			*to = v
		}
		return end, nil
	})
	if err != nil {
		return b, err
	}
	b.kind, b.document = kindOf(typ), typ == "document"
	return b, b.take(body, &at)
}

// values are those of a block's keys that matter here.
type values struct{ id, answers, name, input, content, text, thinking, source, isError span.Span }

func (at *values) of(key []byte) *span.Span {
	switch string(key) {
	case "id":
		return &at.id
	case "tool_use_id":
		return &at.answers
	case "name":
		return &at.name
	case "input":
		return &at.input
	case "content":
		return &at.content
	case "text":
		return &at.text
	case "thinking":
		return &at.thinking
	case "source":
		return &at.source
	case "is_error":
		return &at.isError
	}
	return nil
}

// take takes what a block of its kind has.
func (b *block) take(body []byte, at *values) (err error) {
	id := at.id
	if b.answers = !at.answers.Empty(); b.answers {
		id = at.answers
	}
	switch b.kind {
	case textBlock:
		b.value = at.text
	case callBlock:
		b.value = at.input
		b.name, err = span.ShortText(at.name.Of(body))
	case resultBlock:
		b.value, id = at.content, at.answers // if there is one
		b.loads, b.ended = b.lookInside(body), verdictOf(at.isError.Of(body))
	case thoughtBlock:
		b.value = at.thinking
	case compactionBlock:
		b.value = at.content
	case mediaBlock:
		b.media = at.source
	}
	if err == nil {
		b.id, err = span.ShortText(id.Of(body))
	}
	return err
}

// verdictOf is what a result says with is_error.
func verdictOf(isError []byte) conversation.Verdict {
	switch string(isError) {
	case "true":
		return conversation.WentWrong
	case "false":
		return conversation.WentWell
	}
	return conversation.NoVerdict
}

// lookInside takes the marks in the content of a result, and reports whether that declares tools: without it they are
// gone.
func (b *block) lookInside(body []byte) (loads bool) {
	if b.value.Empty() || body[b.value.Start] != '[' {
		return false
	}
	_, err := span.Elements(body, b.value.Start, func(i int) (int, error) {
		if body[i] != '{' {
			return span.EndOfValue(body, i)
		}
		return span.Members(body, i, func(key []byte, i int) (int, error) {
			end, err := span.EndOfValue(body, i)
			loads = loads || err == nil && string(key) == "type" && string(body[i:end]) == `"tool_reference"`
			if err == nil && string(key) == marker {
				if v := span.UnlessNull(body, span.Span{Start: i, End: end}); !v.Empty() {
					b.marks = append(b.marks, markAt(body, v))
				}
			}
			return end, err
		})
	})
	return loads || err != nil // what cannot be read is left alone
}

// AppendParts appends the parts of an item's content: a string is one part of text. Calls, results and thoughts are
// none; what else is no text is one as it stands.
func (Dialect) AppendParts(
	dst []conversation.Part, body []byte, content span.Span,
) (list []conversation.Part, err error) {
	if content.Empty() {
		return dst, nil
	}
	read := func(i int) (int, error) {
		b, err := readBlock(body, i)
		if err == nil {
			dst, err = appendPart(dst, body, &b)
		}
		return b.End, err
	}
	switch body[content.Start] {
	case '[':
		_, err = span.Elements(body, content.Start, read)
	case '{':
		err = span.Each(body, content, read)
	default:
		dst = append(dst, conversation.Part{Kind: conversation.TextPart, Value: content})
	}
	return dst, err
}

func appendPart(dst []conversation.Part, body []byte, b *block) ([]conversation.Part, error) {
	p := conversation.Part{Kind: conversation.OtherPart, Value: b.Span}
	switch b.kind {
	case callBlock, resultBlock, thoughtBlock:
		return dst, nil
	case textBlock:
		if !b.value.Empty() {
			p.Kind, p.Value = conversation.TextPart, b.value
		}
	case compactionBlock:
		p.Value = b.value // what is sealed in it is no text
	case mediaBlock:
		if err := b.look(body, &p); err != nil {
			return dst, err
		}
	}
	return append(dst, p), nil
}

// look finds the bytes or address of an image or document.
func (b *block) look(body []byte, p *conversation.Part) error {
	if b.media.Empty() || body[b.media.Start] != '{' {
		return nil
	}
	mime := ""
	value := span.Span{}
	_, err := span.Members(body, b.media.Start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "media_type":
			mime, err = span.ShortText(body[i:end])
		case "data", "url", "file_id":
			value = span.Span{Start: i, End: end}
		}
		return end, err
	})
	switch {
	case err != nil || value.Empty():
	case strings.HasPrefix(mime, "image/") || mime == "" && !b.document:
		p.Kind, p.Value = conversation.ImagePart, value
	case mime == "application/pdf" || mime == "":
		p.Kind, p.Value = conversation.FilePart, value
	default:
		p.Value = value // a document's text
	}
	return err
}
