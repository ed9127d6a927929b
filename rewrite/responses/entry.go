package responses

import (
	"cmp"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// kind is what an entry of the input is.
type kind uint8

const (
	unknownEntry    kind = iota // also a reference to an entry that lies with the provider
	messageEntry                // of any role
	reasoningEntry              //
	callEntry                   // of a tool that the client runs
	outputEntry                 // of such a call
	hostedEntry                 // of a tool that the provider runs: call, result or both
	compactionEntry             // the provider's summary of all before it
	triggerEntry                // asks the provider for one
	toolsEntry                  // declares tools
)

// entryType is what all entries of one type have in common.
type entryType struct {
	kind     kind
	value    string // the key of a message's content, a call's arguments, or the output
	tool     string // what is called, where the type says it
	freeText bool   // the arguments are not JSON
	fixed    bool   // arguments or output have a form of their own, without a place for any text
	pinned   bool   // it stays, as without it tools are gone
	sealed   bool   // only the provider can read it
	byID     bool   // an output may name its call as its own ID
}

var entryTypes = map[string]entryType{
	"message":                 {kind: messageEntry, value: "content"},
	"reasoning":               {kind: reasoningEntry},
	"function_call":           {kind: callEntry, value: "arguments"},
	"function_call_output":    {kind: outputEntry, value: "output"},
	"custom_tool_call":        {kind: callEntry, value: "input", freeText: true},
	"custom_tool_call_output": {kind: outputEntry, value: "output"},
	"local_shell_call":        {kind: callEntry, value: "action", tool: "local_shell", fixed: true},
	"local_shell_call_output": {kind: outputEntry, value: "output", byID: true},
	"shell_call":              {kind: callEntry, value: "action", tool: "shell", fixed: true},
	"shell_call_output":       {kind: outputEntry, value: "output"},
	"apply_patch_call":        {kind: callEntry, value: "operation", tool: "apply_patch", fixed: true},
	"apply_patch_call_output": {kind: outputEntry, value: "output"},
	"computer_call":           {kind: callEntry, value: "action", tool: "computer", fixed: true},
	"computer_call_output":    {kind: outputEntry, value: "output", fixed: true},
	"program":                 {kind: callEntry, tool: "program", fixed: true, sealed: true},
	"program_output":          {kind: outputEntry, fixed: true, sealed: true},
	"tool_search_call":        {kind: callEntry, value: "arguments", tool: "tool_search", fixed: true, pinned: true},
	"tool_search_output":      {kind: outputEntry, value: "tools", fixed: true, pinned: true},
	"web_search_call":         {kind: hostedEntry},
	"file_search_call":        {kind: hostedEntry},
	"code_interpreter_call":   {kind: hostedEntry},
	"image_generation_call":   {kind: hostedEntry, value: "result"},
	"mcp_call":                {kind: hostedEntry},
	"mcp_list_tools":          {kind: hostedEntry},
	"compaction":              {kind: compactionEntry, sealed: true},
	"context_compaction":      {kind: compactionEntry, sealed: true},
	"compaction_summary":      {kind: compactionEntry, sealed: true},
	"compaction_trigger":      {kind: triggerEntry},
	"additional_tools":        {kind: toolsEntry},
}

const itemReference = "item_reference"

var roles = map[string]conversation.Role{
	"system": conversation.System, "developer": conversation.System,
	"user": conversation.User, "assistant": conversation.Assistant,
}

// entry is one entry of the input.
type entry struct {
	jsonspan.Span
	entryType
	typeName string
	role     conversation.Role
	id       string
	callID   string        // of the call, or of the call that it answers
	tool     string        // name of the tool
	value    jsonspan.Span // under the key that the type names
	isInner  bool          // a program made the call, not the model
	isAsync  bool          // the output may come at any time
	isFailed bool          // the client says that the call failed
}

// isModels reports whether an entry is a piece of an answer of the model.
func (e *entry) isModels() bool {
	switch e.kind {
	case reasoningEntry, callEntry, hostedEntry:
		return true
	}
	return e.kind == messageEntry && e.role == conversation.Assistant
}

// readEntry reads the entry that begins at body[i], which is an object. One without a type is a message, or names an
// entry that lies with the provider.
func readEntry(body []byte, i int) (e entry, err error) {
	o, err := jsonspan.ObjectAt(body, i)
	if err != nil {
		return e, err
	}
	e.Span = o.Span
	e.typeName = o.Text("type")
	if e.typeName == "" {
		switch {
		case !o.Find("role").Empty():
			e.typeName = "message"
		case !o.Find("id").Empty():
			e.typeName = itemReference
		}
	}
	e.entryType = entryTypes[e.typeName]
	if e.entryType.value != "" {
		e.value = o.Find(e.entryType.value)
	}
	e.id, e.callID = o.Text("id"), o.Text("call_id")
	e.sealed = e.sealed || !o.Find("encrypted_content").Empty()
	if e.pinned && (e.callID == "" || o.Text("execution") == "server") {
		e.kind = hostedEntry
	}
	switch e.kind {
	case messageEntry:
		e.role = roles[o.Text("role")]
	case toolsEntry:
		e.role = conversation.System
	case reasoningEntry, hostedEntry:
		e.role = conversation.Assistant
	case callEntry:
		e.role = conversation.Assistant
		e.callID = cmp.Or(e.callID, e.id)
		e.tool = cmp.Or(e.entryType.tool, o.Text("name"))
		if space := o.Text("namespace"); space != "" {
			e.tool = space + "." + e.tool
		}
		e.isAsync = o.Raw("async") == "true"
		e.isInner = o.In("caller").Text("caller_id") != ""
	case outputEntry:
		e.role, e.tool = conversation.Tool, o.Text("name")
		status := o.Text("status")
		e.isFailed = status == "failed" || status == "incomplete"
		if e.byID {
			e.callID = cmp.Or(e.callID, e.id)
		}
	}
	return e, nil
}

// breakpoint is the key of a mark for the provider's cache.
const breakpoint = "prompt_cache_breakpoint"

// addParts adds what an entry says to its item: nothing of calls, reasoning, and what only the provider can read.
func (e *entry) addParts(body []byte, it *conversation.Item) {
	switch {
	case e.kind == callEntry, e.kind == reasoningEntry:
	case e.kind == messageEntry:
		addContent(body, it, e.value)
	case e.sealed:
	case e.kind == outputEntry && e.byID:
		if !e.value.Empty() && body[e.value.Start] == '"' {
			part := conversation.Part{Span: e.value, Kind: conversation.TextPart, Value: e.value, Encoded: true}
			it.Parts = append(it.Parts, part)
		}
	case e.kind == outputEntry && !e.pinned:
		addContent(body, it, e.value)
	case e.typeName == "image_generation_call" && !e.value.Empty():
		it.Parts = append(it.Parts, conversation.Part{Kind: conversation.ImagePart, Value: e.value})
	default:
		it.Parts = append(it.Parts, conversation.Part{Value: e.Span})
	}
}

// addContent adds the parts of a string, a list of parts, or what else an output may be.
func addContent(body []byte, it *conversation.Item, content jsonspan.Span) {
	if content.Empty() {
		return
	}
	switch body[content.Start] {
	case '"':
		it.Parts = append(it.Parts, conversation.Part{Span: content, Kind: conversation.TextPart, Value: content})
	case '[':
		_, _ = jsonspan.Elements(body, content.Start, func(i int) (int, error) { // its end is known
			end, err := jsonspan.EndOfValue(body, i)
			if err == nil {
				addPart(body, it, jsonspan.Span{Start: i, End: end})
			}
			return end, err
		})
	default: // a screenshot, which is all of an output
		n := len(it.Parts)
		addPart(body, it, content)
		for k := range it.Parts[n:] {
			it.Parts[n+k].Span = jsonspan.Span{}
		}
	}
}

// addPart adds a part of a list. The outputs of a command are two texts.
func addPart(body []byte, it *conversation.Item, place jsonspan.Span) {
	part := conversation.Part{Span: place, Value: place}
	o, err := jsonspan.ObjectAt(body, place.Start)
	if err != nil {
		it.Parts = append(it.Parts, part)
		return
	}
	if isCommandOutput(o) {
		for _, v := range [...]jsonspan.Span{o.Value("stdout"), o.Value("stderr")} {
			if !v.Empty() && body[v.Start] == '"' {
				it.Parts = append(it.Parts, conversation.Part{Kind: conversation.TextPart, Value: v})
			}
		}
		return
	}
	if !o.Find(breakpoint).Empty() {
		o.TakeOut(breakpoint)
		it.Marks = append(it.Marks, o.Edits()[0].Span)
	}
	switch typeName := o.Text("type"); {
	case strings.HasSuffix(typeName, "text"):
		if v := o.Value("text"); !v.Empty() && body[v.Start] == '"' {
			part.Kind, part.Value = conversation.TextPart, v
		}
	case typeName == "refusal":
		part.Value = o.Find("refusal")
	case typeName == "input_image", typeName == "computer_screenshot":
		part.Kind, part.Value, part.Detail = conversation.ImagePart, o.Find("image_url", "file_id"), o.Value("detail")
	case typeName == "input_file":
		part.Kind, part.Value = conversation.FilePart, o.Find("file_data", "file_url", "file_id")
	case typeName == "input_audio":
		audio := o.In("input_audio")
		part.Kind, part.Value, part.Detail = conversation.AudioPart, audio.Value("data"), audio.Value("format")
	case !o.Find("encrypted_content").Empty():
		return
	}
	if part.Value.Empty() {
		part.Kind, part.Value = conversation.OtherPart, place
	}
	it.Parts = append(it.Parts, part)
}

// isCommandOutput reports whether a part is what a command wrote: it has no type.
func isCommandOutput(o *jsonspan.Object) bool {
	return o.Value("type").Empty() && !o.Find("stdout", "stderr").Empty()
}
