// Package responses is the dialect of OpenAI Responses. Only here appear the JSON names of its conversations.
// An edit changes no byte outside its span; entries of unknown types are never changed; encrypted content is not read.
package responses

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

// Dialect implements conversation.Dialect. An item is one entry of the input, but the entries of one answer (reasoning,
// messages, calls) are one item, as they may only be taken out together.
type Dialect struct{}

var api = conversation.APIs["responses"]

func (Dialect) API() *conversation.API { return api }

func (Dialect) ReadSetting(r *conversation.Request, key []byte, v jsonspan.Span) error {
	switch string(key) {
	case "input": // not a list, but a text of the user, which is never changed
		if jsonspan.IsText(r.Body, v) {
			r.Items = []conversation.Item{{Span: v, Role: conversation.User, Locked: true}}
			return r.ReadContent(&r.Items[0], v, addPart)
		}
	case "instructions":
		r.System, r.Prompts = v, []jsonspan.Span{v}
	case "previous_response_id", "conversation", "prompt": // the provider has more of the conversation
		if r.ServerState.Empty() || string(key) != "prompt" { // a prompt template is weaker: it names no conversation
			r.ServerState = v
		}
		r.Upkeep = max(r.Upkeep, conversation.ProviderRemembers)
	case "context_management":
		asked := gjson.GetBytes(v.Of(r.Body), `#(type=="compaction")`)
		if asked.Exists() {
			r.Threshold = int(asked.Get("compact_threshold").Int())
			quote := bytes.LastIndex(r.Body[:v.Start], key) - 1 // before the key
			r.Unserved = jsonspan.Span{Start: quote, End: v.End}
		}
		if jsonspan.HasElements(r.Body, v) {
			r.Upkeep = max(r.Upkeep, conversation.ProviderClears)
		}
	case "truncation":
		r.Truncates = string(v.Of(r.Body)) == `"auto"`
	case "client_metadata":
		if bytes.Contains(v.Of(r.Body), []byte(`\"request_kind\":\"compaction\"`)) { // Codex asks for its own summary
			r.Upkeep = conversation.ClientSummarizes
		}
	}
	return nil
}

// ReadEntry reads an entry of the input.
func (Dialect) ReadEntry(r *conversation.Request, o *jsonspan.Object) error {
	typeName := o.Text("type")
	if typeName == "" && !o.Find("role").Empty() {
		typeName = "message"
	}
	it := conversation.Item{
		Span: o.Span, Role: roleOf(o, typeName), Trigger: typeName == trigger,
		Compaction: slices.Contains(compactions, typeName),
	}
	if it.Trigger {
		r.Upkeep = conversation.ClientSummarizes
	}
	if it.Role == conversation.Tool {
		it.Name = o.Text("name")
		it.Answers = o.Text("call_id")
		it.IsError = hasFailed(o)
	}
	isByProgram := o.In("caller").Text("caller_id") != "" // a program of an earlier entry calls: no new answer starts
	it.StartsAnswer = it.Role == model && !isByProgram
	// Declarations of tools stay, and so does an asynchronous call, whose output may come at any later time.
	it.Locked = it.Role == conversation.Unknown || typeName == "additional_tools" || o.Raw("async") == "true"
	if arguments, isHosted := hosted[typeName]; isHosted {
		it.Hosted = []conversation.Call{hostedCallOf(o, o.Find(arguments))}
	}
	if err := readValue(r, &it, o, typeName); err != nil {
		return err
	}
	add(r, it)
	return nil
}

// roleOf returns who speaks in an entry of a type.
func roleOf(o *jsonspan.Object, typeName string) conversation.Role {
	_, isCall := calls[typeName]
	_, isHosted := hosted[typeName]
	switch {
	case typeName == "message":
		return conversation.Roles[o.Text("role")]
	case isCall, isHosted, typeName == "reasoning", typeName == "mcp_list_tools":
		return model
	case slices.Contains(results, typeName):
		return conversation.Tool
	case typeName == "additional_tools":
		return conversation.System
	}
	return conversation.Unknown
}

// mayBePart reports whether an item may be a part of an answer, as those of unknown types may.
func mayBePart(it *conversation.Item) bool {
	return it.Role == model || it.Role == conversation.Unknown && !it.Compaction && !it.Trigger
}

// readValue reads into it what an entry of a type holds. One that is not read is counted as it is written.
func readValue(r *conversation.Request, it *conversation.Item, o *jsonspan.Object, typeName string) (err error) {
	output, picture, sealed := o.Find("output"), o.Find("result"), o.Find("encrypted_content")
	arguments, isCall := calls[typeName]
	switch {
	case isCall:
		call := callOf(o, o.Find(arguments))
		call.FreeText = arguments == freeText
		it.Calls = []conversation.Call{call}
	case typeName == "reasoning", typeName == "program_output", !sealed.Empty(): // no part, as it is not read
		thought := conversation.Thought{Text: o.Find("content"), Summary: o.Find("summary"), Sealed: sealed}
		it.Reasoning = []conversation.Thought{thought}
	case typeName == "message":
		err = r.ReadContent(it, o.Find("content"), addPart)
	case typeName == "computer_call_output": // a screenshot, which no text can replace
		addPart(r, it, o.In("output"))
	case typeName == "local_shell_call_output": // JSON in a text, as any text in its place must be
		it.Answers = cmp.Or(it.Answers, o.Text("id")) // names the call where call_id is missing
		err = r.ReadContent(it, output, addPart)
		if len(it.Parts) == 1 {
			it.Parts[0].Encoded = true
		}
	case it.Role == conversation.Tool:
		err = r.ReadContent(it, output, addPart)
	case typeName == "image_generation_call" && !picture.Empty(): // in base64
		it.Parts = []conversation.Part{{Kind: conversation.ImagePart, Value: picture}}
	default:
		it.Parts = []conversation.Part{{Value: o.Span}}
	}
	return err
}

func hasFailed(entry *jsonspan.Object) bool {
	status := entry.Text("status")
	return status == "failed" || status == "incomplete"
}

// callOf reads a call. Where an entry names no tool, all entries of its type call the same one.
func callOf(entry *jsonspan.Object, args jsonspan.Span) conversation.Call {
	name := cmp.Or(entry.Text("name"), strings.TrimSuffix(entry.Text("type"), "_call"))
	space := cmp.Or(entry.Text("namespace"), entry.Text("server_label"))
	if space != "" {
		name = space + "." + name
	}
	return conversation.Call{ID: cmp.Or(entry.Text("call_id"), entry.Text("id")), Name: name, Arguments: args}
}

// hostedCallOf returns a call that the provider ran, with what came back. Entries of some types have no status, as they
// are listed once they have ended.
func hostedCallOf(entry *jsonspan.Object, args jsonspan.Span) conversation.Call {
	c := callOf(entry, args)
	fault := entry.Find("error")
	c.Output = cmp.Or(fault, entry.Find("output", "outputs", "results"))
	c.IsError = hasFailed(entry) || !fault.Empty()
	status := entry.Text("status")
	c.HasRun = c.IsError || status == "completed" || status == ""
	return c
}

// add adds the item that was read of one entry to the request. If the entry may be a part of an answer, it joins the
// last item if that may be one too, so that both stay or go together.
func add(r *conversation.Request, it conversation.Item) {
	last := len(r.Items) - 1
	if last < 0 || !mayBePart(&it) || !mayBePart(&r.Items[last]) {
		r.Items = append(r.Items, it)
		return
	}
	joined := &r.Items[last]
	joined.End = it.End
	joined.Role = max(joined.Role, it.Role) // the model's, unless all entries are of unknown types
	joined.Content = jsonspan.Span{}        // no text can stand in the place of several entries
	joined.Parts = append(joined.Parts, it.Parts...)
	joined.Reasoning = append(joined.Reasoning, it.Reasoning...)
	joined.Calls = append(joined.Calls, it.Calls...)
	joined.Hosted = append(joined.Hosted, it.Hosted...)
	joined.StartsAnswer = joined.StartsAnswer || it.StartsAnswer
	joined.Locked = joined.Locked || it.Locked
}

// breakpoint is the key of a mark for the provider's cache.
const breakpoint = "prompt_cache_breakpoint"

// addPart adds a part to an item. The output of a command becomes a part for each of its streams, without a Span: only
// their texts can be replaced.
func addPart(r *conversation.Request, it *conversation.Item, o *jsonspan.Object) {
	if sealed := o.Find("encrypted_content"); !sealed.Empty() {
		it.Reasoning = append(it.Reasoning, conversation.Thought{Sealed: sealed})
		return
	}
	before := len(it.Parts)
	for _, key := range []string{"stdout", "stderr"} {
		if v := o.Value(key); jsonspan.IsText(r.Body, v) {
			it.Parts = append(it.Parts, conversation.Part{Kind: conversation.TextPart, Value: v})
		}
	}
	if len(it.Parts) > before {
		return
	}
	it.AddMark(o, breakpoint)
	conversation.AddPart(r, it, o)
}

// Check knows the rules that a rewrite could break: the model's reasoning must stay with the words or calls that it led
// to, and each call has one output, anywhere behind it.
func (Dialect) Check(c *conversation.Checker, r *conversation.Request, i int) {
	it := &r.Items[i]
	if it.Role == model && len(it.Parts)+len(it.Calls) == 0 { // it is nothing but reasoning
		c.Add("what the model thought is apart from what it led to", "")
	}
}

const model = conversation.Assistant

// trigger is the type of an entry that asks the provider for a summary.
const trigger = "compaction_trigger"

// freeText is the key of arguments that are any text; under other keys they are JSON.
const freeText = "input"

// The known types of entries, besides some that are read in their own ways. Of calls, and of calls that the provider
// runs, they come with the key of the arguments.
var (
	calls = map[string]string{
		"function_call": "arguments", "custom_tool_call": freeText, "local_shell_call": "action",
		"shell_call": "action", "apply_patch_call": "operation", "computer_call": "action", "program": "",
	}
	hosted = map[string]string{
		"web_search_call": "action", "file_search_call": "queries", "code_interpreter_call": "code",
		"image_generation_call": "revised_prompt", "mcp_call": "arguments",
	}
	results = []string{
		"function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output",
		"apply_patch_call_output", "computer_call_output", "program_output",
	}
	compactions = []string{"compaction", "context_compaction", "compaction_summary"} // of all that is before them
)
