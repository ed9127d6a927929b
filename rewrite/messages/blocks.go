package messages

import (
	"cmp"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// marker is the key of a mark for the provider's cache.
const marker = "cache_control"

// kind is what a block is.
type kind uint8

const (
	oddBlock kind = iota // of an unknown type
	textBlock
	callBlock
	resultBlock
	thoughtBlock    // shown or not
	mediaBlock      // images, documents, and whatever else a user shows
	serverBlock     // calls and results of tools that run at the provider
	referenceBlock  // in a result: a tool that the model may call from then on
	compactionBlock // the provider's summary of all before it
)

var kinds = map[string]kind{
	"text": textBlock, "tool_use": callBlock, "tool_result": resultBlock,
	"thinking": thoughtBlock, "redacted_thinking": thoughtBlock,
	"image": mediaBlock, "document": mediaBlock, "search_result": mediaBlock, "container_upload": mediaBlock,
	"server_tool_use": serverBlock, "mcp_tool_use": serverBlock, "mcp_tool_result": serverBlock,
	"fallback":               serverBlock,
	"web_search_tool_result": serverBlock, "web_fetch_tool_result": serverBlock,
	"code_execution_tool_result": serverBlock, "bash_code_execution_tool_result": serverBlock,
	"text_editor_code_execution_tool_result": serverBlock, "advisor_tool_result": serverBlock,
	"tool_reference": referenceBlock, "compaction": compactionBlock,
}

// block is a part of a message, or of a result.
type block struct {
	jsonspan.Span
	kind       kind
	isDocument bool
	id         string // of a call, or of the call that a result answers
	answers    bool   // id is of the call that it answers
	isError    bool
	name       string          // of a tool
	value      jsonspan.Span   // text, thinking, input, source, or content of a result; empty if absent or null
	inner      []block         // of the content of a result
	marks      []jsonspan.Span // those of inner too
	isMarked   bool            // it is, itself
}

// parser reads messages and blocks of a body.
type parser struct{ body []byte }

// message is one message as it was read.
type message struct {
	jsonspan.Span
	role    conversation.Role
	content jsonspan.Span // empty if it is not there or null
	blocks  []block       // of a list
}

// message reads the message that begins at body[i].
func (p *parser) message(i int) (m message, err error) {
	o, err := jsonspan.ObjectAt(p.body, i)
	if err != nil {
		return m, err
	}
	m.Span, m.role, m.content = o.Span, roleOf(o.Raw("role")), o.Find("content")
	if !m.content.Empty() && p.body[m.content.Start] == '[' {
		m.blocks, _, err = p.list(m.content.Start, true)
	}
	return m, err
}

func roleOf(quoted string) conversation.Role {
	switch quoted {
	case `"system"`:
		return conversation.System
	case `"user"`:
		return conversation.User
	case `"assistant"`:
		return conversation.Assistant
	}
	return conversation.Unknown
}

// list reads the blocks of the list that begins at body[i], and if deeper is true the blocks in their contents.
func (p *parser) list(i int, deeper bool) (list []block, end int, err error) {
	end, err = jsonspan.Elements(p.body, i, func(i int) (int, error) {
		b, err := p.block(i, deeper)
		list = append(list, b)
		return b.End, err
	})
	return list, end, err
}

// valueKeys are the keys of what blocks say.
var valueKeys = map[kind]string{
	textBlock: "text", callBlock: "input", thoughtBlock: "thinking", mediaBlock: "source",
	resultBlock: "content", compactionBlock: "content",
}

// block reads the block that begins at body[i], and if deeper is true the blocks in its content. Anything but an object
// is an odd block.
func (p *parser) block(i int, deeper bool) (b block, err error) {
	if p.body[i] != '{' {
		b.Start = i
		b.End, err = jsonspan.EndOfValue(p.body, i)
		return b, err
	}
	o, err := jsonspan.ObjectAt(p.body, i)
	if err != nil {
		return b, err
	}
	typeName := o.Text("type")
	b.Span, b.kind, b.isDocument = o.Span, kinds[typeName], typeName == "document"
	b.id, b.name = o.Text("tool_use_id"), cmp.Or(o.Text("name"), o.Text("tool_name"))
	if b.answers = b.id != ""; !b.answers {
		b.id = o.Text("id")
	}
	b.isError = o.Raw("is_error") == "true"
	if key := valueKeys[b.kind]; key != "" {
		b.value = o.Find(key)
	}
	if !o.Find(marker).Empty() {
		b.isMarked = true
		o.TakeOut(marker)
		b.marks = append(b.marks, o.Edits()[0].Span)
	}
	content := o.Find("content")
	if deeper && !content.Empty() && p.body[content.Start] == '[' {
		if b.inner, _, err = p.list(content.Start, false); err != nil {
			return b, err
		}
		for k := range b.inner {
			b.marks = append(b.marks, b.inner[k].marks...)
		}
	}
	return b, nil
}

// isText reports whether a block has a text that is a string.
func (b *block) isText(body []byte) bool {
	return b.kind == textBlock && !b.value.Empty() && body[b.value.Start] == '"'
}
