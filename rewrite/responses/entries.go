package responses

import (
	"epitome/pattern/lazy"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// kind is what an entry of the input is.
type kind uint8

// The kinds of entries.
const (
	oddEntry        kind = iota // nobody knows here what it is
	messageEntry                // of whomever
	reasoningEntry              // what the model thought
	callEntry                   // of a tool that the client runs
	outputEntry                 // of such a call
	remoteEntry                 // a call with its result, of a tool that runs at the provider
	loadedEntry                 // what a search for tools at the provider has declared
	compactionEntry             // what a provider put in the place of all before it
	triggerEntry                // the client asks for that
	referenceEntry              // an entry that lies with the provider
	toolsEntry                  // declarations of tools
)

// shape is how entries of a type are written.
type shape struct {
	kind   kind
	name   string // of the tool, where the type says it
	value  string // the key of its arguments, or of what came back
	free   bool   // the arguments are any text
	fixed  bool   // neither arguments nor result may be replaced by a text
	loads  bool   // it stays, with all that belongs to it: without it tools are gone
	hidden bool   // what is in it is nothing to read
	byID   bool   // it answers by its own id
}

// localShell is the name of a tool whose outputs may answer by the id of its entry.
const localShell = "local_shell"

// shapes are those of all types that are known.
var shapes = lazy.Of(newShapes)

func newShapes() map[string]shape {
	return map[string]shape{
		"message":                 {kind: messageEntry, value: "content"},
		"reasoning":               {kind: reasoningEntry},
		"function_call":           {kind: callEntry, value: "arguments"},
		"function_call_output":    {kind: outputEntry, value: "output"},
		"custom_tool_call":        {kind: callEntry, value: "input", free: true},
		"custom_tool_call_output": {kind: outputEntry, value: "output"},
		"local_shell_call":        {kind: callEntry, name: localShell, value: "action", fixed: true},
		"local_shell_call_output": {kind: outputEntry, value: "output", byID: true},
		"shell_call":              {kind: callEntry, name: "shell", value: "action", fixed: true},
		"shell_call_output":       {kind: outputEntry, value: "output"},
		"apply_patch_call":        {kind: callEntry, name: "apply_patch", value: "operation", fixed: true},
		"apply_patch_call_output": {kind: outputEntry, value: "output"},
		"computer_call":           {kind: callEntry, name: "computer", value: "action", fixed: true},
		"computer_call_output":    {kind: outputEntry, value: "output", fixed: true},
		"program":                 {kind: callEntry, name: "program", fixed: true, hidden: true},
		"program_output":          {kind: outputEntry, value: "result", fixed: true, hidden: true},
		"tool_search_call":        {kind: callEntry, name: "tool_search", value: "arguments", fixed: true, loads: true},
		"tool_search_output":      {kind: outputEntry, value: "tools", fixed: true, loads: true},
		"web_search_call":         {kind: remoteEntry},
		"file_search_call":        {kind: remoteEntry},
		"code_interpreter_call":   {kind: remoteEntry},
		"image_generation_call":   {kind: remoteEntry, value: "result"},
		"mcp_call":                {kind: remoteEntry},
		"mcp_list_tools":          {kind: remoteEntry},
		"compaction":              {kind: compactionEntry, hidden: true},
		"context_compaction":      {kind: compactionEntry, hidden: true},
		"compaction_summary":      {kind: compactionEntry, hidden: true},
		"compaction_trigger":      {kind: triggerEntry},
		"item_reference":          {kind: referenceEntry},
		"additional_tools":        {kind: toolsEntry},
	}
}

// entry is one of the input.
type entry struct {
	span.Span
	shape
	typ    string
	role   conversation.Role
	id     string    // its own
	call   string    // of the call, or of the call that it answers; empty if there is none
	tool   string    // the name of what is called
	value  span.Span // the content of a message, the arguments of a call, or what came back; empty if there is none
	thinks span.Span // of reasoning, its longest text; empty if none is shown
	sealed bool      // there is more in it that only the provider can read
	inner  bool      // a program has called it, and not the model
	late   bool      // its output comes when it will
	named  bool      // its own id is that of the call
	ended  conversation.Verdict
}

// speaks reports whether an entry is what the model says, thinks or calls.
func (e *entry) speaks() bool {
	switch e.kind {
	case messageEntry:
		return e.role == conversation.Assistant
	case reasoningEntry, callEntry, remoteEntry, loadedEntry:
		return true
	}
	return false
}

// keys are those of an entry that matter here.
var keys = [...]string{
	"type", "role", "id", "call_id", "name", "namespace", "caller", "execution", "summary", "content", "arguments",
	"output", "input", "action", "operation", "result", "tools", "encrypted_content", "async", "status",
}

// values are those of an entry's keys; empty where there is none or it is null.
type values [len(keys)]span.Span

// at is the place of the value of a key; nil if that does not matter.
func (v *values) at(key string) *span.Span {
	for k := range keys {
		if keys[k] == key {
			return &v[k]
		}
	}
	return nil
}

// text is the text of a key.
func (v *values) text(body []byte, key string) (string, error) {
	return span.ShortText(v.at(key).Of(body))
}

// readEntry reads the entry that begins at body[i], which is an object.
func readEntry(body []byte, i int) (e entry, err error) {
	var all values
	e.Start = i
	e.End, err = span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if to := all.at(string(key)); to != nil && err == nil {
			*to = span.UnlessNull(body, span.Span{Start: i, End: end})
		}
		return end, err
	})
	if err != nil {
		return e, err
	}
	return e, e.take(body, &all)
}

// take takes what an entry of its type has. What has no type is told by its role, or is but named by its id.
func (e *entry) take(body []byte, all *values) (err error) {
	if e.typ, err = all.text(body, "type"); err != nil {
		return err
	}
	if e.typ == "" {
		switch {
		case !all.at("role").Empty():
			e.typ = "message"
		case !all.at("id").Empty():
			e.typ = "item_reference"
		}
	}
	e.shape = shapes.Get()[e.typ]
	if e.shape.value != "" {
		e.value = *all.at(e.shape.value)
	}
	e.role = e.roleIn(roleOf(all.at("role").Of(body)))
	e.sealed = e.hidden || !all.at("encrypted_content").Empty()
	if e.id, err = all.text(body, "id"); err != nil {
		return err
	}
	if e.call, err = all.text(body, "call_id"); err != nil {
		return err
	}
	switch e.kind {
	case reasoningEntry:
		e.thinks = longestText(body, *all.at("summary"), *all.at("content"))
	case callEntry:
		err = e.takeCall(body, all)
	case outputEntry:
		err = e.takeOutput(body, all)
	}
	return err
}

// takeCall takes what only calls have.
func (e *entry) takeCall(body []byte, all *values) (err error) {
	if e.call == "" {
		e.call = e.id
	}
	e.tool = e.name
	if e.tool == "" {
		e.tool, err = all.text(body, "name")
	}
	if space, odd := all.text(body, "namespace"); space != "" && odd == nil {
		e.tool = space + "." + e.tool
	}
	if e.loads && e.runsThere(body, all) {
		e.kind = remoteEntry
	}
	e.late = string(all.at("async").Of(body)) == "true"
	if caller := all.at("caller"); !caller.Empty() && body[caller.Start] == '{' {
		o, odd := span.ObjectAt(body, caller.Start)
		e.inner = odd == nil && !o.Value("caller_id").Empty()
	}
	return err
}

// takeOutput takes what only outputs have.
func (e *entry) takeOutput(body []byte, all *values) (err error) {
	switch {
	case e.byID && e.call == "":
		e.call, e.named = e.id, true
	case e.loads && e.runsThere(body, all):
		e.kind, e.role = loadedEntry, conversation.Assistant
	}
	e.ended = e.verdictIn(all.at("status").Of(body))
	e.tool, err = all.text(body, "name")
	return err
}

// verdictIn is what the status of an output says of its call. That it is completed says of most that it has come.
func (e *entry) verdictIn(status []byte) conversation.Verdict {
	switch string(status) {
	case `"failed"`, `"incomplete"`:
		return conversation.WentWrong
	case `"completed"`:
		if e.typ == "apply_patch_call_output" {
			return conversation.WentWell
		}
	}
	return conversation.NoVerdict
}

// runsThere reports whether a search for tools runs at the provider.
func (e *entry) runsThere(body []byte, all *values) bool {
	return string(all.at("execution").Of(body)) == `"server"` || all.at("call_id").Empty()
}

// roleIn is the role of an entry whose own says that it is another's.
func (e *entry) roleIn(said conversation.Role) conversation.Role {
	switch {
	case e.kind == messageEntry:
		return said
	case e.kind == toolsEntry:
		return conversation.System
	case e.kind == outputEntry:
		return conversation.Tool
	case e.speaks():
		return conversation.Assistant
	}
	return conversation.Unknown
}

// roleOf reads a role with its quotes.
func roleOf(role []byte) conversation.Role {
	switch string(role) {
	case `"system"`, `"developer"`:
		return conversation.System
	case `"user"`:
		return conversation.User
	case `"assistant"`:
		return conversation.Assistant
	}
	return conversation.Unknown
}

// longestText is the longest of the texts in lists of them; empty if there is none.
func longestText(body []byte, lists ...span.Span) (longest span.Span) {
	for _, list := range lists {
		parts, err := appendContent(nil, body, list)
		for _, p := range parts {
			if err == nil && p.Kind == conversation.TextPart && p.Value.End-p.Value.Start > longest.End-longest.Start {
				longest = p.Value
			}
		}
	}
	return longest
}
