// Package messages is the dialect of Anthropic Messages. The API's JSON names appear here and nowhere else.
// A message of the model is one item, with its calls. A message of the user becomes one item for each result, and one
// for each run of other blocks between results.
package messages

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

// Dialect implements conversation.Dialect. It has no state.
type Dialect struct{}

func (Dialect) Name() string { return "messages" }

func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	rd := reader{&conversation.Request{Dialect: d, Body: body}}
	return rd.ReadBody(known, "messages", rd)
}

type reader struct{ *conversation.Request }

// ReadSetting reads a key that not all APIs have.
func (rd reader) ReadSetting(key []byte, v jsonspan.Span) (err error) {
	switch string(key) {
	case outputCap:
		rd.MaxOutput = numberOf(string(v.Of(rd.Body)))
	case "thinking":
		rd.Settings = append(rd.Settings, v) // the provider's cache depends on it
		rd.ThinksFirst = gjson.GetBytes(v.Of(rd.Body), "type").Str == "enabled"
	case "system":
		var prompt conversation.Item
		err = rd.ReadContent(&prompt, v, rd.addBlock)
		for _, p := range prompt.Parts {
			if p.Kind == conversation.TextPart {
				rd.Prompts = append(rd.Prompts, p.Value)
			}
		}
		rd.System = v
	case "mcp_servers", "container": // the provider adds tokens that cannot be counted here
		rd.Unpriced = true
	case "compaction": // the request asks for a summary of the conversation
		rd.Upkeep, rd.Unpriced = conversation.ClientSummarizes, true
	case "thread": // names messages that lie with the provider
		rd.ServerState, rd.Unpriced = v, true
		if rd.Upkeep != conversation.ClientSummarizes { // which prevails, whatever the order of the keys
			rd.Upkeep = conversation.ProviderRemembers
		}
	case "context_management":
		if rd.Upkeep == conversation.NobodyElse && clearsMessages(v.Of(rd.Body)) {
			rd.Upkeep = conversation.ProviderClears
		}
	}
	return err
}

// clearsMessages reports whether the client's context_management has the provider clear or compact messages, which
// epitome then leaves to it. Each of its edits does, except those that clear thinking alone.
func clearsMessages(contextManagement []byte) bool {
	clearsMore := func(kind gjson.Result) bool { return !strings.HasPrefix(kind.Str, "clear_thinking") }
	return slices.ContainsFunc(gjson.GetBytes(contextManagement, "edits.#.type").Array(), clearsMore)
}

// numberOf returns the number that a JSON value is; 0 if it is none, or negative.
func numberOf(value string) int {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

var roles = map[string]conversation.Role{
	`"system"`: conversation.System, `"user"`: conversation.User, `"assistant"`: conversation.Assistant,
}

// ReadEntry appends the items of a message.
func (rd reader) ReadEntry(o *jsonspan.Object) error {
	it := conversation.Item{Span: o.Span, Role: roles[o.Raw("role")]}
	content := o.Find("content")
	if it.Role == conversation.User && jsonspan.HasElements(rd.Body, content) {
		return rd.readUser(o.Span, content)
	}
	it.Locked = it.Role == conversation.Unknown || content.Empty()
	if err := rd.ReadContent(&it, content, rd.addBlock); err != nil {
		return err
	}
	if it.Role == conversation.Assistant {
		if len(it.Parts) == 0 { // it only calls or thinks: no text may replace that
			it.Content = jsonspan.Span{}
		}
		last := len(rd.Items) - 1
		it.StartsAnswer = last < 0 || rd.Items[last].Role != conversation.Assistant // the API joins messages in a row
	}
	rd.Items = append(rd.Items, it)
	return nil
}

// readUser appends the items of a user's message with a list of blocks.
func (rd reader) readUser(message, blocks jsonspan.Span) error {
	inRun := false // the last item is a run of blocks that are no results: another such block belongs to it
	_, err := jsonspan.Objects(rd.Body, blocks.Start+1, func(o *jsonspan.Object) error {
		isResult := o.Text("type") == "tool_result"
		if isResult || !inRun {
			rd.Items = append(rd.Items, conversation.Item{Span: o.Span, Message: message, Role: conversation.User})
		}
		inRun = !isResult
		it := &rd.Items[len(rd.Items)-1]
		if !isResult {
			it.End = o.End
			it.Content = it.Span
			rd.addBlock(it, o)
			return nil
		}
		it.Role = conversation.Tool
		it.Answers = o.Text("tool_use_id")
		it.IsError = o.Raw("is_error") == "true"
		rd.addMark(it, o)
		return rd.ReadContent(it, o.Find("content"), rd.addBlock)
	})
	return err
}

// marker is the key of a mark for the provider's cache.
const marker = "cache_control"

func (rd reader) addMark(it *conversation.Item, block *jsonspan.Object) {
	if !block.Find(marker).Empty() {
		it.Marks = append(it.Marks, block.Member(marker))
	}
}

// opaque are types of blocks that are not read, but counted as they are written. They may be taken out with their item.
// An item with a block of another type that is not known is locked, and so is one with a tool_reference, which makes a
// tool known to the model: it may call the tool at any later time.
var opaque = map[string]bool{
	"container_upload": true, "browser_state": true, "fallback": true,
	"server_tool_use": true, "mcp_tool_use": true, "mcp_tool_result": true, "web_search_tool_result": true,
	"web_fetch_tool_result": true, "code_execution_tool_result": true, "bash_code_execution_tool_result": true,
	"text_editor_code_execution_tool_result": true, "advisor_tool_result": true,
}

func (rd reader) addBlock(it *conversation.Item, block *jsonspan.Object) {
	rd.addMark(it, block)
	p := conversation.Part{Span: block.Span, Value: block.Span}
	typeName := block.Text("type")
	switch typeName {
	case "text":
		if v := block.Find("text"); jsonspan.IsText(rd.Body, v) {
			p.Kind, p.Value = conversation.TextPart, v
		}
	case "tool_use":
		call := conversation.Call{ID: block.Text("id"), Name: block.Text("name"), Arguments: block.Find("input")}
		it.Calls = append(it.Calls, call)
		return
	case "server_tool_use", "mcp_tool_use":
		name := strings.TrimPrefix(block.Text("server_name")+"."+block.Text("name"), ".")
		call := conversation.Call{ID: block.Text("id"), Name: name, Arguments: block.Find("input")}
		it.Hosted = append(it.Hosted, call)
	case "thinking", "redacted_thinking":
		it.Thinking = append(it.Thinking, conversation.Thought{
			Span: block.Span, Text: block.Find("thinking"), Sealed: block.Find("data", "signature"),
		})
		return
	case "image":
		it.Parts = append(it.Parts, rd.readMedia(block, conversation.ImagePart)...)
		return
	case "document", "search_result":
		it.Parts = append(it.Parts, rd.readMedia(block, conversation.FilePart)...)
		return
	case "compaction": // the provider's summary of all before it
		p.Value = block.Find("content") // its other keys are not counted
		it.Compaction, it.Locked = true, true
	default:
		it.Locked = it.Locked || !opaque[typeName]
		addOutput(it, block)
	}
	it.Parts = append(it.Parts, p)
}

// addOutput adds the result of a call that the provider ran in the same message, if the block is one.
func addOutput(it *conversation.Item, block *jsonspan.Object) {
	const mostParallel = 100
	recent, id := it.Hosted[max(0, len(it.Hosted)-mostParallel):], block.Text("tool_use_id")
	k := slices.IndexFunc(recent, func(c conversation.Call) bool { return c.ID == id })
	if k >= 0 && id != "" {
		recent[k].Output, recent[k].HasRun = block.Find("content"), true
		recent[k].IsError = block.Raw("is_error") == "true" || block.In("content").Text("error_code") != ""
	}
}

// readMedia returns the parts of a picture, a document or a search result: each of its texts, or else all of it as one
// part of the given kind. The first has the span of the block, so that all of it counts for the hash of the item.
func (rd reader) readMedia(block *jsonspan.Object, kind conversation.PartKind) []conversation.Part {
	source := block.In("source")
	whole := conversation.Part{Span: block.Span, Value: block.Span, Title: block.Find("title")}
	address, data := source.Find("file_id", "url"), source.Find("data")
	if value := cmp.Or(address, data); !value.Empty() {
		whole.Kind = kind
		whole.Value = value
		whole.IsAddress = !address.Empty()
	}
	content := cmp.Or(block.Find("content"), source.Find("content"))
	if source.Text("type") == "text" {
		content = data
	}
	var inner conversation.Item // has the texts as parts
	isText := true              // the content has nothing else
	err := rd.ReadContent(&inner, content, func(inner *conversation.Item, o *jsonspan.Object) {
		v := o.Find("text")
		isText = isText && jsonspan.IsText(rd.Body, v)
		inner.Parts = append(inner.Parts, conversation.Part{Value: v})
	})
	if err != nil || !isText || len(inner.Parts) == 0 {
		return []conversation.Part{whole}
	}
	for k, p := range inner.Parts {
		inner.Parts[k] = conversation.Part{Kind: conversation.DocumentPart, Value: p.Value, Title: whole.Title}
	}
	inner.Parts[0].Span = whole.Span
	return inner.Parts
}
