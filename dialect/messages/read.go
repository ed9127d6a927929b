// Package messages is the dialect of Anthropic Messages. Only here appear the JSON names of its conversations.
// A message of the model is one item, with its calls. A message of the user becomes one item for each result, and one
// for each run of other blocks between results.
package messages

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

// Dialect implements conversation.Dialect. It has no state.
type Dialect struct{}

var api = conversation.APIs["messages"]

func (Dialect) API() *conversation.API { return api }

func (Dialect) ReadSetting(r *conversation.Request, key []byte, v jsonspan.Span) (err error) {
	switch string(key) {
	case "thinking":
		r.Settings = append(r.Settings, v) // the provider's cache depends on it
		r.ThinksFirst = gjson.GetBytes(v.Of(r.Body), "type").Str == "enabled"
	case "system":
		var prompt conversation.Item
		err = r.ReadContent(&prompt, v, addBlock)
		for _, p := range prompt.Parts {
			if p.Kind == conversation.TextPart {
				r.Prompts = append(r.Prompts, p.Value)
			}
		}
		r.System = v
	case "mcp_servers", "container": // the provider adds tokens that cannot be counted here
		r.Unpriced = true
	case "compaction": // the request asks for a summary of the conversation
		r.Upkeep = conversation.ClientSummarizes
		r.Unpriced = true
	case "thread": // names messages that lie with the provider
		r.ServerState = v
		r.Unpriced = true
		r.Upkeep = max(r.Upkeep, conversation.ProviderRemembers)
	case "context_management":
		// Each edit has the provider clear or compact messages, which epitome then leaves to it, except of thinking alone.
		clearsMore := func(kind gjson.Result) bool { return !strings.HasPrefix(kind.Str, "clear_thinking") }
		if slices.ContainsFunc(gjson.GetBytes(v.Of(r.Body), "edits.#.type").Array(), clearsMore) {
			r.Upkeep = max(r.Upkeep, conversation.ProviderClears)
		}
	}
	return err
}

// ReadEntry appends the items of a message.
func (Dialect) ReadEntry(r *conversation.Request, o *jsonspan.Object) error {
	it := conversation.Item{Span: o.Span, Role: conversation.Roles[o.Text("role")]}
	content := o.Find("content")
	if it.Role == conversation.User && jsonspan.HasElements(r.Body, content) {
		return readUser(r, o.Span, content)
	}
	it.Locked = it.Role == conversation.Unknown || content.Empty()
	if err := r.ReadContent(&it, content, addBlock); err != nil {
		return err
	}
	if it.Role == conversation.Assistant {
		if len(it.Parts) == 0 { // it only calls or thinks: no text may replace that
			it.Content = jsonspan.Span{}
		}
		last := len(r.Items) - 1
		it.StartsAnswer = last < 0 || r.Items[last].Role != conversation.Assistant // the API joins messages in a row
	}
	r.Items = append(r.Items, it)
	return nil
}

// readUser appends the items of a user's message with a list of blocks.
func readUser(r *conversation.Request, message, blocks jsonspan.Span) error {
	inRun := false // the last item is a run of blocks that are no results: another such block belongs to it
	_, err := jsonspan.Objects(r.Body, blocks.Start+1, func(o *jsonspan.Object) error {
		isResult := o.Text("type") == "tool_result"
		if isResult || !inRun {
			r.Items = append(r.Items, conversation.Item{Span: o.Span, Message: message, Role: conversation.User})
		}
		inRun = !isResult
		it := &r.Items[len(r.Items)-1]
		if !isResult {
			it.End = o.End
			it.Content = it.Span
			addBlock(r, it, o)
			return nil
		}
		it.Role = conversation.Tool
		it.Answers = o.Text("tool_use_id")
		it.IsError = o.Raw("is_error") == "true"
		it.AddMark(o, marker)
		return r.ReadContent(it, o.Find("content"), addBlock)
	})
	return err
}

// marker is the key of a mark for the provider's cache.
const marker = "cache_control"

// opaque are types of blocks that are not read, but counted as they are written. They may be taken out with their item.
// An item with a block of another type that is not known is locked, and so is one with a tool_reference, which makes a
// tool known to the model: it may call the tool at any later time.
var opaque = map[string]bool{
	"container_upload": true, "browser_state": true, "fallback": true,
	"server_tool_use": true, "mcp_tool_use": true, "mcp_tool_result": true, "web_search_tool_result": true,
	"web_fetch_tool_result": true, "code_execution_tool_result": true, "bash_code_execution_tool_result": true,
	"text_editor_code_execution_tool_result": true, "advisor_tool_result": true,
}

func addBlock(r *conversation.Request, it *conversation.Item, block *jsonspan.Object) {
	it.AddMark(block, marker)
	p := conversation.Part{Span: block.Span, Value: block.Span}
	typeName := block.Text("type")
	switch typeName {
	case "text":
		if v := block.Find("text"); jsonspan.IsText(r.Body, v) {
			p.Kind, p.Value = conversation.TextPart, v
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		name := strings.TrimPrefix(block.Text("server_name")+"."+block.Text("name"), ".")
		call := conversation.Call{ID: block.Text("id"), Name: name, Arguments: block.Find("input")}
		if typeName == "tool_use" {
			it.Calls = append(it.Calls, call)
			return
		}
		it.Hosted = append(it.Hosted, call) // the provider runs it
	case "thinking", "redacted_thinking":
		it.Thinking = append(it.Thinking, conversation.Thought{
			Span: block.Span, Text: block.Find("thinking"), Sealed: block.Find("data", "signature"),
		})
		return
	case "image":
		it.Parts = append(it.Parts, readMedia(r, block, conversation.ImagePart)...)
		return
	case "document", "search_result":
		it.Parts = append(it.Parts, readMedia(r, block, conversation.FilePart)...)
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
	const mostParallel = 100 // a search of all calls would take quadratic time
	recent := it.Hosted[max(0, len(it.Hosted)-mostParallel):]
	id := block.Text("tool_use_id")
	k := slices.IndexFunc(recent, func(c conversation.Call) bool { return c.ID == id })
	if k >= 0 && id != "" {
		recent[k].Output, recent[k].HasRun = block.Find("content"), true
		recent[k].IsError = block.Raw("is_error") == "true" || block.In("content").Text("error_code") != ""
	}
}

// readMedia returns the parts of a picture, a document or a search result: each of its texts, or else all of it as one
// part of the given kind. The first has the span of the block, so that all of it counts for the hash of the item.
func readMedia(r *conversation.Request, block *jsonspan.Object, kind conversation.PartKind) []conversation.Part {
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
	err := r.ReadContent(&inner, content, conversation.AddPart)
	isOther := func(p conversation.Part) bool { return p.Kind != conversation.TextPart }
	if err != nil || len(inner.Parts) == 0 || slices.ContainsFunc(inner.Parts, isOther) {
		return []conversation.Part{whole}
	}
	for k, p := range inner.Parts {
		inner.Parts[k] = conversation.Part{Kind: conversation.DocumentPart, Value: p.Value, Title: whole.Title}
	}
	inner.Parts[0].Span = whole.Span
	return inner.Parts
}

// Check knows the rules that a rewrite could break: all calls of an answer, of the last one too, have
// results right behind it, before the user says anything; system messages and answers stand only where they may; an
// answer that has to begin with thinking does; no text is blank and no message but the last is empty. Messages of one
// role in a row are one message to the API, so roles need not alternate.
func (Dialect) Check(c *conversation.Checker, r *conversation.Request, i int) {
	it := &r.Items[i]
	if it.StartsAnswer || it.Role == conversation.User { // behind the user's words a result is too late
		c.Close()
	}
	checkPlace(c, r, i)
	if slices.ContainsFunc(it.Parts, func(p conversation.Part) bool { return isBlank(r.Body, &p) }) {
		c.Add("a text is blank", "")
	}
	isLast := i == len(r.Items)-1
	isEmpty := it.Role == conversation.Assistant && len(it.Parts)+len(it.Calls)+len(it.Thinking) == 0
	if isEmpty && !isLast { // the API takes an empty message only as the last
		c.Add("a message says nothing", "")
	}
	if isLast && !thinksFirst(r) {
		c.Add("an answer with thoughts does not begin with one", "")
	}
}

// checkPlace checks whether item i may stand behind the item before it: a system message behind the user's words or
// results and before an answer, and an answer not as the first of all.
func checkPlace(c *conversation.Checker, r *conversation.Request, i int) {
	before := conversation.Assistant // at the start, too, no system message may stand
	if i > 0 {
		before = r.Items[i-1].Role
	}
	role := r.Items[i].Role
	isUsers := role == conversation.User || role == conversation.Tool
	if role == conversation.System && before == conversation.Assistant || isUsers && before == conversation.System {
		c.Add("a message of the system stands where none may", "")
	}
	isFirst := role == conversation.Assistant && i == r.Lead
	if isFirst && !r.Items[i].Compaction { // the provider's own summary may come first
		c.Add("the first message is not the user's", "")
	}
}

// thinksFirst reports whether the first answer since the user last spoke begins with thinking, if it must: the model
// thinks first, and is to continue that answer, as results stand behind it.
func thinksFirst(r *conversation.Request) bool {
	var first *conversation.Item
	hasResults := false
	for i := len(r.Items) - 1; i >= 0 && r.ThinksFirst; i-- {
		it := &r.Items[i]
		switch {
		case it.Role == conversation.Tool:
			hasResults = true
		case it.Role == conversation.Assistant && !hasResults:
			return true // nothing asks the model to continue its last answer
		case it.Role == conversation.User && first != nil: // words behind the last results end no round
			return beginsWithThinking(first)
		case it.StartsAnswer:
			first = it
		}
	}
	return first == nil || beginsWithThinking(first)
}

func beginsWithThinking(it *conversation.Item) bool {
	if len(it.Thinking) == 0 {
		return false
	}
	isFirst := func(start int) bool { return it.Thinking[0].Start < start }
	beforeParts := len(it.Parts) == 0 || isFirst(it.Parts[0].Start)
	return beforeParts && (len(it.Calls) == 0 || isFirst(it.Calls[0].Arguments.Start))
}

// isBlank reports whether a part is a text of nothing but white space, which the API refuses.
func isBlank(body []byte, p *conversation.Part) bool {
	v := p.Value.Of(body) // a JSON string: v[1], the first byte of the text, saves reading all of nearly every text
	mayBe := p.Kind == conversation.TextPart && (v[1] == ' ' || v[1] == '\\' || v[1] == '"')
	return mayBe && len(bytes.TrimSpace(jsonspan.TextOf(v))) == 0
}
