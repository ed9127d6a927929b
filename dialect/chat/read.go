// Package chat is the dialect of Chat Completions. The JSON names of its conversations appear here and, as far as other
// APIs have them too or epitome writes them, in package conversation.
// No byte outside an edit changes.
package chat

import (
	"bytes"
	"cmp"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

// Dialect implements conversation.Dialect. It has no state.
type Dialect struct{}

var api = conversation.APIs["chat"]

func (Dialect) API() *conversation.API { return api }

func (Dialect) ReadSetting(r *conversation.Request, key []byte, v jsonspan.Span) error {
	switch string(key) {
	case "functions": // these came before tools, and some clients still have them
		r.Tools = v
	case "function_call":
		r.Settings = append(r.Settings, v)
	case "plugins", "web_search_options": // the provider adds tokens that cannot be counted here
		r.Unpriced = true
	case "response_format": // a JSON schema is such an addition
		r.Unpriced = r.Unpriced || bytes.Contains(v.Of(r.Body), []byte(`"json_schema"`))
	}
	return nil
}

// ReadEntry reads a message as one item.
func (Dialect) ReadEntry(r *conversation.Request, o *jsonspan.Object) (err error) {
	it := conversation.Item{Span: o.Span, Role: conversation.Roles[o.Text("role")], Name: o.Text("name")}
	switch it.Role {
	case conversation.Tool:
		it.Answers = cmp.Or(o.Text("tool_call_id"), it.Name) // a function's result has its name alone
	case conversation.Assistant:
		it.StartsAnswer = true // in this API each answer is one message
		it.Reasoning = readReasoning(r.Body, o)
	case conversation.Unknown: // who speaks in it is not known, so it is never changed
		it.Locked = true
	}
	if err = r.ReadContent(&it, o.Find("content"), conversation.AddPart); err != nil {
		return err
	}
	if it.Calls, err = readCalls(r.Body, o); err != nil {
		return err
	}
	r.Items = append(r.Items, it)
	return nil
}

// readReasoning reads the reasoning beside an answer. Servers name it differently, and some repeat it as blocks. Where
// these say more than the text, as OpenRouter's encrypted ones do, all of them count by their size.
func readReasoning(body []byte, message *jsonspan.Object) []conversation.Thought {
	text := message.Find("reasoning_content", "reasoning")
	blocks := message.Find("reasoning_details", "thinking_blocks")
	saysMore := text.Empty() || bytes.Contains(blocks.Of(body), []byte(`"reasoning.encrypted"`))
	switch {
	case saysMore && jsonspan.HasElements(body, blocks):
		return []conversation.Thought{{Summary: cmp.Or(text, blocks), Sealed: blocks}}
	case text.Empty():
		return nil
	}
	return []conversation.Thought{{Text: text}}
}

func readCalls(body []byte, message *jsonspan.Object) (calls []conversation.Call, err error) {
	if function := message.In("function_call"); !function.Empty() {
		name := function.Text("name")
		calls = []conversation.Call{{ID: name, Name: name, Arguments: function.Value("arguments"), ByName: true}}
	}
	list := message.Value("tool_calls")
	if !jsonspan.HasElements(body, list) {
		return calls, nil
	}
	_, err = jsonspan.Objects(body, list.Start+1, func(call *jsonspan.Object) error {
		function, custom := call.In("function"), call.In("custom") // a custom tool takes free text
		calls = append(calls, conversation.Call{
			ID: call.Text("id"), Name: cmp.Or(custom.Text("name"), function.Text("name")),
			Arguments: cmp.Or(custom.Value("input"), function.Value("arguments")), FreeText: !custom.Empty(),
		})
		return nil
	})
	return calls, err
}

// Check knows the only rule of this API that a rewrite could break: the results of a message's calls stand right behind
// it, in any order.
func (Dialect) Check(c *conversation.Checker, r *conversation.Request, i int) {
	if r.Items[i].Role != conversation.Tool {
		c.Close()
	}
}
