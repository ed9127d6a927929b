// Package messages is the dialect of Anthropic Messages. The names of its JSON appear here and nowhere else.
//
// A message of the model is one item, with its calls. A message of the user is one item for each result and one for
// each run of other blocks between them.
package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Dialect implements the API.
type Dialect struct{}

func (Dialect) Name() string { return "messages" }

// Read parses a body in one pass.
func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	rd := reader{
		parser:  parser{body: body},
		request: &conversation.Request{Dialect: d, Body: body},
	}
	r := rd.request
	list := func(start int) (int, error) { return r.ReadList(known, start, rd.readItems) }
	if err := conversation.ReadBody(r, "messages", list, rd.readSetting); err != nil {
		return nil, err
	}
	rd.lookBack()
	return r, nil
}

// reader reads one body.
type reader struct {
	parser
	request *conversation.Request
}

// readSetting reads what stands beside the messages.
func (rd *reader) readSetting(key []byte, v jsonspan.Span) (err error) {
	r := rd.request
	switch string(key) {
	case outputCap:
		r.MaxOutput = numberOf(string(v.Of(r.Body)))
	case "thinking":
		r.Settings = append(r.Settings, v)
		r.ThinksFirst = gjson.GetBytes(v.Of(r.Body), "type").Str == "enabled"
	case "system":
		err = rd.readSystem(v)
	case "mcp_servers", "container":
		r.Unpriced = true
	case "compaction":
		r.Upkeep, r.Unpriced = conversation.ClientSummarizes, true
	case "thread":
		r.ServerState, r.Unpriced = v, true
		if r.Upkeep != conversation.ClientSummarizes {
			r.Upkeep = conversation.ProviderRemembers
		}
	case "context_management":
		if r.Upkeep == conversation.NobodyElse && clearsMessages(v.Of(r.Body)) {
			r.Upkeep = conversation.ProviderClears
		}
	}
	return err
}

// readSystem reads the system prompt.
func (rd *reader) readSystem(v jsonspan.Span) error {
	r := rd.request
	r.System = v
	if r.Body[v.Start] != '[' {
		r.Prompts = []jsonspan.Span{v}
		return nil
	}
	texts := parser{body: r.Body}
	list, _, err := texts.list(v.Start, true)
	for _, b := range list {
		if b.kind == textBlock && !b.value.Empty() {
			r.Prompts = append(r.Prompts, b.value)
		}
	}
	return err
}

// clearsMessages reports whether a setting of context_management has the provider edit more than thinking.
func clearsMessages(setting []byte) bool {
	for _, name := range gjson.GetBytes(setting, "edits.#.type").Array() {
		if !strings.HasPrefix(name.Str, "clear_thinking") {
			return true
		}
	}
	return false
}

// numberOf returns a number above zero; 0 if v is none.
func numberOf(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// readItems appends the items of the message that begins at body[i].
func (rd *reader) readItems(i int) (int, error) {
	m, err := rd.message(i)
	if err != nil {
		return 0, err
	}
	if m.role == conversation.User && len(m.blocks) > 0 {
		rd.addUserItems(&m)
	} else {
		rd.add(m.item(rd.body))
	}
	return m.End, nil
}

func (rd *reader) add(it conversation.Item) {
	r := rd.request
	last := len(r.Items) - 1
	it.StartsAnswer = it.Role == conversation.Assistant &&
		(last < 0 || r.Items[last].Role != conversation.Assistant)
	r.Items = append(r.Items, it)
}

// addUserItems appends the items of a user's message of blocks.
func (rd *reader) addUserItems(m *message) {
	for n := 0; n < len(m.blocks); {
		first := &m.blocks[n]
		it := conversation.Item{Span: first.Span, Message: m.Span, Role: conversation.User}
		if first.kind == resultBlock {
			it.Role, it.Answers, it.IsError = conversation.Tool, first.id, first.isError
			it.Content, it.Marks, it.Parts = first.value, first.marks, partsOf(rd.body, first.value, first.inner)
			n++
		} else {
			from := n
			for ; n < len(m.blocks) && m.blocks[n].kind != resultBlock; n++ {
				b := &m.blocks[n]
				it.End = b.End
				it.Marks = append(it.Marks, b.marks...)
				it.Locked = it.Locked || b.kind != textBlock && b.kind != mediaBlock
			}
			it.Content, it.Parts = it.Span, partsOf(rd.body, it.Span, m.blocks[from:n])
		}
		rd.add(it)
	}
}

// item returns the one item of a message that is not a list of the user's blocks.
func (m *message) item(body []byte) conversation.Item {
	it := conversation.Item{Span: m.Span, Role: m.role, Content: m.content, Parts: partsOf(body, m.content, m.blocks)}
	isAnswer := m.role == conversation.Assistant
	for k := range m.blocks {
		b := &m.blocks[k]
		it.Marks = append(it.Marks, b.marks...)
		switch {
		case b.kind == textBlock:
		case isAnswer && b.kind == callBlock:
			it.Calls = append(it.Calls, conversation.Call{ID: b.id, Name: b.name, Arguments: b.value})
		case isAnswer && b.kind == thoughtBlock:
			it.Thinking = append(it.Thinking, conversation.Thought{Span: b.Span, Text: b.value})
		case isAnswer && (b.kind == serverBlock || b.kind == mediaBlock):
		default:
			it.Locked = true
			it.Compaction = it.Compaction || b.kind == compactionBlock
		}
	}
	switch {
	case m.role == conversation.Unknown, m.content.Empty():
		it.Locked = true
	case body[m.content.Start] == '[' && isAnswer && len(it.Parts) == 0:
		it.Content = jsonspan.Span{}
	case body[m.content.Start] != '[' && body[m.content.Start] != '"':
		it.Content, it.Locked = jsonspan.Span{}, true
	}
	return it
}

// lookBack sets what depends on the items behind. A result that names tools makes them known to the model: it stays
// while the model has not answered it, and where one of its tools is called later.
func (rd *reader) lookBack() {
	items := rd.request.Items
	called := map[string]bool{}
	answered := false
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		answered = answered || it.Role == conversation.Assistant
		for _, c := range it.Calls {
			called[c.Name] = true
		}
		if it.Role != conversation.Tool {
			continue
		}
		names, isLocked := false, !answered
		for _, p := range it.Parts {
			if p.Kind != conversation.OtherPart {
				continue
			}
			if b, err := rd.block(p.Start, false); err == nil && b.kind == referenceBlock {
				names, isLocked = true, isLocked || called[b.name]
			}
		}
		if names {
			it.Locked = isLocked
		}
	}
}

// partsOf returns the parts of a content: a string is one text, and blocks are parts but for calls, results and
// thinking.
func partsOf(body []byte, content jsonspan.Span, list []block) (parts []conversation.Part) {
	if !content.Empty() && body[content.Start] == '"' {
		return []conversation.Part{{Span: content, Kind: conversation.TextPart, Value: content}}
	}
	parts = make([]conversation.Part, 0, len(list))
	for k := range list {
		b := &list[k]
		p := conversation.Part{Span: b.Span, Value: b.Span}
		switch b.kind {
		case callBlock, resultBlock, thoughtBlock:
			continue
		case textBlock:
			if b.isText(body) {
				p.Kind, p.Value = conversation.TextPart, b.value
			}
		case compactionBlock:
			p.Value = b.value // the rest is sealed
		case mediaBlock:
			p.Kind, p.Value = mediaIn(body, b)
		}
		parts = append(parts, p)
	}
	return slices.Clip(parts)
}

// mediaIn returns what an image or document is, and its data or address. Any other text of a document is as it is
// written.
func mediaIn(body []byte, b *block) (conversation.PartKind, jsonspan.Span) {
	source, err := jsonspan.ObjectAt(body[:b.End], b.value.Start)
	if b.value.Empty() || err != nil {
		return conversation.OtherPart, b.Span
	}
	value, mime := source.Find("file_id", "url", "data"), source.Text("media_type")
	switch {
	case value.Empty():
		return conversation.OtherPart, b.Span
	case mime == "" && !b.isDocument, strings.HasPrefix(mime, "image/"):
		return conversation.ImagePart, value
	case mime == "" || mime == "application/pdf":
		return conversation.FilePart, value
	}
	return conversation.OtherPart, value
}
