package messages

import (
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
	name       string              // of a tool
	value      jsonspan.Span       // text, thinking, input, source, or content of a result; empty if absent or null
	inner      []block             // of the content of a result
	marks      []conversation.Mark // those of inner too
	isMarked   bool                // it is, itself

	sum     jsonspan.Sum // of all but marks
	textSum jsonspan.Sum // of the text
	isPlain bool         // there is nothing else in the block
}

// parser reads messages and blocks of a body, with or without their hashes.
type parser struct {
	body []byte
	hash bool
}

// message is one message as it was read.
type message struct {
	jsonspan.Span
	role    conversation.Role
	content jsonspan.Span // empty if it is not there or null
	blocks  []block       // of a list

	roleSum, contentSum jsonspan.Sum
	others              []jsonspan.Member
}

// message reads the message that begins at body[i].
func (p *parser) message(i int) (m message, err error) {
	m.Start = i
	m.End, err = jsonspan.Members(p.body, i, func(key []byte, i int) (end int, err error) {
		var sum jsonspan.Sum
		isContent := string(key) == "content"
		if isContent && p.body[i] == '[' {
			m.blocks, end, err = p.list(i, true)
			sum = p.sumOf(m.blocks)
		} else {
			end, sum, err = p.value(i)
		}
		if err != nil {
			return 0, err
		}
		v := jsonspan.Span{Start: i, End: end}
		switch {
		case isContent:
			m.content, m.contentSum = jsonspan.UnlessNull(p.body, v), sum
		case string(key) == "role":
			m.role, m.roleSum = roleOf(v.Of(p.body)), sum
		case string(key) != marker:
			m.others = append(m.others, jsonspan.Member{Key: key, Value: sum})
		}
		return end, nil
	})
	return m, err
}

func roleOf(quoted []byte) conversation.Role {
	switch string(quoted) {
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

// block reads the block that begins at body[i], and if deeper is true the blocks in its content. Anything but an object
// is an odd block.
func (p *parser) block(i int, deeper bool) (b block, err error) {
	b.Start = i
	if p.body[i] != '{' {
		b.End, b.sum, err = p.value(i)
		return b, err
	}
	var id, content jsonspan.Span
	members := make([]jsonspan.Member, 0, 4) // what most blocks have
	b.isPlain = true
	b.End, err = jsonspan.Members(p.body, i, func(key []byte, i int) (end int, err error) {
		var sum jsonspan.Sum
		if deeper && string(key) == "content" && p.body[i] == '[' {
			b.inner, end, err = p.list(i, false)
			sum = p.sumOf(b.inner)
		} else {
			end, sum, err = p.value(i)
		}
		if err != nil {
			return 0, err
		}
		v := jsonspan.UnlessNull(p.body, jsonspan.Span{Start: i, End: end})
		if string(key) == marker {
			if b.isMarked = !v.Empty(); !b.isMarked {
				return end, nil
			}
			o, err := jsonspan.ObjectAt(p.body, b.Start)
			if err != nil {
				return 0, err
			}
			b.marks = append(b.marks, conversation.Mark{Span: o.WithComma(marker), Value: v})
			return end, nil
		}
		if p.hash {
			members = append(members, jsonspan.Member{Key: key, Value: sum})
		}
		isText := false
		switch string(key) {
		case "type":
			kindName, _ := jsonspan.ShortText(v.Of(p.body))
			b.kind, b.isDocument, isText = kinds[kindName], kindName == "document", kindName == "text"
		case "text":
			b.value, b.textSum, isText = v, sum, !v.Empty() && p.body[v.Start] == '"'
		case "thinking", "input", "source":
			b.value = v
		case "id":
			if !b.answers {
				id = v
			}
		case "tool_use_id":
			id, b.answers = v, !v.Empty()
		case "name", "tool_name":
			b.name, err = jsonspan.ShortText(v.Of(p.body))
		case "content":
			content = v
		case "is_error":
			b.isError = string(v.Of(p.body)) == "true"
		}
		b.isPlain = b.isPlain && isText
		return end, err
	})
	if err != nil {
		return b, err
	}
	if b.kind == resultBlock || b.kind == compactionBlock {
		b.value = content
	}
	b.isPlain = b.isPlain && !b.value.Empty() && b.kind == textBlock
	for k := range b.inner {
		b.marks = append(b.marks, b.inner[k].marks...)
	}
	if p.hash {
		b.sum = jsonspan.MemberSum(members)
	}
	b.id, err = jsonspan.ShortText(id.Of(p.body))
	return b, err
}

// value returns the end of the value at body[i] and, if wanted, a hash of it.
func (p *parser) value(i int) (end int, sum jsonspan.Sum, err error) {
	if p.hash {
		return jsonspan.Digest(p.body, i, nil)
	}
	end, err = jsonspan.EndOfValue(p.body, i)
	return end, sum, err
}

// sumOf hashes blocks but for thinking, which clients send back or leave out as they like. One plain text is the same
// as a string.
func (p *parser) sumOf(list []block) jsonspan.Sum {
	if !p.hash {
		return jsonspan.Sum{}
	}
	var only *block
	sums := make([]jsonspan.Sum, 0, len(list))
	for k := range list {
		if list[k].kind != thoughtBlock {
			only = &list[k]
			sums = append(sums, only.sum)
		}
	}
	if len(sums) == 1 && only.isPlain {
		return only.textSum
	}
	return jsonspan.ListSum(sums)
}
