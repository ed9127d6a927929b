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
	rd := reader{&conversation.Request{Dialect: d, Body: body}}
	list := func(start int) (int, error) { return rd.ReadList(known, start, rd.readMessage) }
	if err := conversation.ReadBody(rd.Request, "messages", list, rd.readSetting); err != nil {
		return nil, err
	}
	rd.lockReferences()
	return rd.Request, nil
}

// reader reads one body.
type reader struct{ *conversation.Request }

// readSetting reads what stands beside the messages.
func (rd reader) readSetting(key []byte, v jsonspan.Span) (err error) {
	switch string(key) {
	case outputCap:
		rd.MaxOutput = numberOf(string(v.Of(rd.Body)))
	case "thinking":
		rd.Settings = append(rd.Settings, v)
		rd.ThinksFirst = gjson.GetBytes(v.Of(rd.Body), "type").Str == "enabled"
	case "system":
		var prompt conversation.Item
		err = rd.readContent(&prompt, v)
		for _, p := range prompt.Parts {
			if p.Kind == conversation.TextPart {
				rd.Prompts = append(rd.Prompts, p.Value)
			}
		}
		rd.System = v
	case "mcp_servers", "container":
		rd.Unpriced = true
	case "compaction":
		rd.Upkeep, rd.Unpriced = conversation.ClientSummarizes, true
	case "thread":
		rd.ServerState, rd.Unpriced = v, true
		if rd.Upkeep != conversation.ClientSummarizes {
			rd.Upkeep = conversation.ProviderRemembers
		}
	case "context_management":
		if rd.Upkeep == conversation.NobodyElse && clearsMessages(v.Of(rd.Body)) {
			rd.Upkeep = conversation.ProviderClears
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

var roles = map[string]conversation.Role{
	`"system"`: conversation.System, `"user"`: conversation.User, `"assistant"`: conversation.Assistant,
}

// readMessage appends the items of the message that begins at Body[i].
func (rd reader) readMessage(i int) (int, error) {
	o, err := jsonspan.ObjectAt(rd.Body, i)
	if err != nil {
		return 0, err
	}
	it := conversation.Item{Span: o.Span, Role: roles[o.Raw("role")]}
	content := o.Find("content")
	if it.Role == conversation.User && jsonspan.HasElements(rd.Body, content) {
		return o.End, rd.readUser(o.Span, content)
	}
	it.Locked = it.Role == conversation.Unknown || content.Empty()
	if err := rd.readContent(&it, content); err != nil {
		return 0, err
	}
	if it.Role == conversation.Assistant {
		if len(it.Parts) == 0 {
			it.Content = jsonspan.Span{}
		}
		last := len(rd.Items) - 1
		it.StartsAnswer = last < 0 || rd.Items[last].Role != conversation.Assistant
	}
	rd.Items = append(rd.Items, it)
	return o.End, nil
}

// readUser appends the items of a user's message, which has a list of blocks.
func (rd reader) readUser(message, blocks jsonspan.Span) error {
	var run *conversation.Item // of blocks that are no results; nil behind a result
	_, err := jsonspan.Elements(rd.Body, blocks.Start, func(i int) (int, error) {
		o, err := jsonspan.ObjectAt(rd.Body, i)
		if err != nil {
			return 0, err
		}
		isResult := o.Text("type") == "tool_result"
		if isResult || run == nil {
			rd.Items = append(rd.Items, conversation.Item{Span: o.Span, Message: message, Role: conversation.User})
			run = &rd.Items[len(rd.Items)-1]
		}
		if !isResult {
			run.End = o.End
			run.Content = run.Span
			rd.addBlock(run, o)
			return o.End, nil
		}
		it := run
		run = nil
		it.Role, it.Answers, it.IsError = conversation.Tool, o.Text("tool_use_id"), o.Raw("is_error") == "true"
		rd.addMark(it, o)
		return o.End, rd.readContent(it, o.Find("content"))
	})
	return err
}

// readContent reads what a message or a result says: a string, or a list of blocks.
func (rd reader) readContent(it *conversation.Item, v jsonspan.Span) (err error) {
	it.Content = v
	switch {
	case v.Empty():
	case rd.Body[v.Start] == '"':
		it.Parts = []conversation.Part{{Span: v, Kind: conversation.TextPart, Value: v}}
	case rd.Body[v.Start] == '[':
		_, err = jsonspan.Elements(rd.Body, v.Start, func(i int) (int, error) {
			o, err := jsonspan.ObjectAt(rd.Body, i)
			if err != nil {
				return 0, err
			}
			rd.addBlock(it, o)
			return o.End, nil
		})
	default:
		it.Content, it.Locked = jsonspan.Span{}, true
	}
	return err
}

// marker is the key of a mark for the provider's cache.
const marker = "cache_control"

func (rd reader) addMark(it *conversation.Item, block *jsonspan.Object) {
	if !block.Find(marker).Empty() {
		it.Marks = append(it.Marks, block.Member(marker))
	}
}

// opaque are types of blocks that are counted as they are written. An item with a block of any other unknown type is
// locked.
var opaque = map[string]bool{
	"search_result": true, "container_upload": true, "browser_state": true, reference: true, "fallback": true,
	"server_tool_use": true, "mcp_tool_use": true, "mcp_tool_result": true, "web_search_tool_result": true,
	"web_fetch_tool_result": true, "code_execution_tool_result": true, "bash_code_execution_tool_result": true,
	"text_editor_code_execution_tool_result": true, "advisor_tool_result": true,
}

// reference is the type of a block in a result that makes a tool known to the model.
const reference = "tool_reference"

// addBlock adds what a block says to its item.
func (rd reader) addBlock(it *conversation.Item, o *jsonspan.Object) {
	rd.addMark(it, o)
	p := conversation.Part{Span: o.Span, Value: o.Span}
	switch typeName := o.Text("type"); typeName {
	case "text":
		if v := o.Find("text"); !v.Empty() && rd.Body[v.Start] == '"' {
			p.Kind, p.Value = conversation.TextPart, v
		}
	case "tool_use":
		call := conversation.Call{ID: o.Text("id"), Name: o.Text("name"), Arguments: o.Find("input")}
		it.Calls = append(it.Calls, call)
		return
	case "thinking", "redacted_thinking":
		it.Thinking = append(it.Thinking, conversation.Thought{Span: o.Span, Text: o.Find("thinking")})
		return
	case "image", "document":
		p.Kind, p.Value = mediaIn(o, typeName)
	case "compaction":
		p.Value = o.Find("content") // the rest is sealed
		it.Compaction, it.Locked = true, true
	default:
		it.Locked = it.Locked || !opaque[typeName]
	}
	it.Parts = append(it.Parts, p)
}

// mediaIn returns what an image or document is, and its data or address. Any other text of a document is as it is
// written.
func mediaIn(block *jsonspan.Object, typeName string) (conversation.PartKind, jsonspan.Span) {
	source := block.In("source")
	value, mime := source.Find("file_id", "url", "data"), source.Text("media_type")
	switch {
	case value.Empty():
		return conversation.OtherPart, block.Span
	case strings.HasPrefix(mime, "image/"), mime == "" && typeName == "image":
		return conversation.ImagePart, value
	case mime == "" || mime == "application/pdf":
		return conversation.FilePart, value
	}
	return conversation.OtherPart, value
}

// lockReferences locks results that make tools known to the model: those that it has not answered yet, and those with a
// tool that is called later.
func (rd reader) lockReferences() {
	called, isAnswered := map[string]bool{}, false
	for i := len(rd.Items) - 1; i >= 0; i-- {
		it := &rd.Items[i]
		isAnswered = isAnswered || it.Role == conversation.Assistant
		for _, c := range it.Calls {
			called[c.Name] = true
		}
		var tools []string
		for _, p := range it.Parts {
			if p.Kind != conversation.OtherPart || it.Role != conversation.Tool {
				continue
			}
			if b := gjson.ParseBytes(p.Of(rd.Body)); b.Get("type").Str == reference {
				tools = append(tools, b.Get("tool_name").Str)
			}
		}
		if len(tools) > 0 {
			it.Locked = !isAnswered || slices.ContainsFunc(tools, func(name string) bool { return called[name] })
		}
	}
}
