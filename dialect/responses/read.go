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

func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	rd := &reader{Request: &conversation.Request{Dialect: d, Body: body}}
	return rd.ReadBody(known, rd)
}

type reader struct {
	*conversation.Request
	inAnswer bool // the last item is an answer, or may be: the next entry may belong to it
}

// ReadSetting reads a key that not all APIs have.
func (rd *reader) ReadSetting(key []byte, v jsonspan.Span) error {
	r := rd.Request
	switch string(key) {
	case "input": // not a list, but a text of the user, which is never changed
		if jsonspan.IsText(r.Body, v) {
			r.Items = []conversation.Item{{Span: v, Role: conversation.User, Locked: true}}
			return r.ReadContent(&r.Items[0], v, rd.addPart)
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
func (rd *reader) ReadEntry(o *jsonspan.Object) error {
	typeName := o.Text("type")
	if typeName == "" && !o.Find("role").Empty() {
		typeName = "message"
	}
	role, mayBePart := roleOf(o, typeName)
	it := conversation.Item{
		Span: o.Span, Role: role, Compaction: slices.Contains(compactions, typeName), Trigger: typeName == trigger,
	}
	if it.Trigger {
		rd.Upkeep = conversation.ClientSummarizes
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
	if err := rd.readValue(&it, o, typeName); err != nil {
		return err
	}
	rd.add(it, mayBePart)
	return nil
}

// roleOf returns who speaks in an entry of a type, and whether it may be a part of an answer, as unknown ones may.
func roleOf(o *jsonspan.Object, typeName string) (role conversation.Role, mayBePart bool) {
	_, isCall := calls[typeName]
	_, isHosted := hosted[typeName]
	switch {
	case typeName == "message":
		role = conversation.Roles[o.Text("role")]
		return role, role == model
	case isCall, isHosted, typeName == "reasoning", typeName == "mcp_list_tools":
		return model, true
	case slices.Contains(results, typeName):
		return conversation.Tool, false
	case typeName == "additional_tools":
		return conversation.System, false
	}
	return conversation.Unknown, typeName != trigger && !slices.Contains(compactions, typeName)
}

// readValue reads into it what an entry of a type holds. One that is not read is counted as it is written.
func (rd *reader) readValue(it *conversation.Item, o *jsonspan.Object, typeName string) (err error) {
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
		err = rd.ReadContent(it, o.Find("content"), rd.addPart)
	case typeName == "computer_call_output": // a screenshot, which no text can replace
		rd.addPart(it, o.In("output"))
	case typeName == "local_shell_call_output": // JSON in a text, as any text in its place must be
		it.Answers = cmp.Or(it.Answers, o.Text("id")) // names the call where call_id is missing
		err = rd.ReadContent(it, output, rd.addPart)
		if len(it.Parts) == 1 {
			it.Parts[0].Encoded = true
		}
	case it.Role == conversation.Tool:
		err = rd.ReadContent(it, output, rd.addPart)
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

// add adds the item that was read of one entry to the request. mayBePart says that the entry may be a part of an
// answer: behind another such entry it joins the last item, so that both stay or go together.
func (rd *reader) add(it conversation.Item, mayBePart bool) {
	r := rd.Request
	if !mayBePart || !rd.inAnswer {
		r.Items = append(r.Items, it)
		rd.inAnswer = mayBePart
		return
	}
	last := &r.Items[len(r.Items)-1]
	last.End = it.End
	last.Role = max(last.Role, it.Role) // the model's, unless all entries are of unknown types
	last.Content = jsonspan.Span{}      // no text can stand in the place of several entries
	last.Parts = append(last.Parts, it.Parts...)
	last.Reasoning = append(last.Reasoning, it.Reasoning...)
	last.Calls = append(last.Calls, it.Calls...)
	last.Hosted = append(last.Hosted, it.Hosted...)
	last.StartsAnswer = last.StartsAnswer || it.StartsAnswer
	last.Locked = last.Locked || it.Locked
}

// breakpoint is the key of a mark for the provider's cache.
const breakpoint = "prompt_cache_breakpoint"

// addPart adds a part to an item. The output of a command becomes a part for each of its streams, without a Span: only
// their texts can be replaced.
func (rd *reader) addPart(it *conversation.Item, o *jsonspan.Object) {
	isOutput := false
	for _, key := range []string{"stdout", "stderr"} {
		if v := o.Value(key); jsonspan.IsText(rd.Body, v) {
			it.Parts = append(it.Parts, conversation.Part{Kind: conversation.TextPart, Value: v})
			isOutput = true
		}
	}
	if sealed := o.Find("encrypted_content"); !sealed.Empty() {
		it.Reasoning = append(it.Reasoning, conversation.Thought{Sealed: sealed})
		return
	}
	if isOutput {
		return
	}
	if !o.Find(breakpoint).Empty() {
		it.Marks = append(it.Marks, o.Member(breakpoint))
	}
	rd.AddPart(it, o)
}

// Check finds the broken rules, of those that a rewrite could break: the model's reasoning must stay with the words or
// calls that it led to, and each call has one output, anywhere behind it.
func (Dialect) Check(r *conversation.Request) *conversation.Checker {
	c := new(conversation.Checker)
	for i := range r.Items {
		it := &r.Items[i]
		if it.Role == model && len(it.Parts)+len(it.Calls) == 0 { // it is nothing but reasoning
			c.Add("what the model thought is apart from what it led to", "")
		}
		c.Pair(i, it)
	}
	c.Close()
	return c
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
