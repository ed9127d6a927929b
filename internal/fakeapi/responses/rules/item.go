package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"epitome/internal/fakeapi"
)

// Item is one of the input, or of an answer.
type Item struct {
	Kind   string
	Role   string // of a message
	Path   string // input[3]
	Fields fakeapi.Object
	Canon  []byte  // its value, marks for the cache aside
	Marks  []*Mark // for the cache, in it
}

// ID returns what the server or the client named it; "" for nothing.
func (i *Item) ID() string { return i.Fields.Text("id") }

// Call returns the call_id; "" for none.
func (i *Item) Call() string { return i.Fields.Text("call_id") }

// Spoken tells whether the model said it.
func (i *Item) Spoken() bool {
	if i.Kind == "message" {
		return i.Role == "assistant"
	}
	k := kindNamed(i.Kind)
	return k != nil && k.spoken
}

// kind is one type of items. Of its fields those with an exclamation mark are required; "*" allows any.
type kind struct {
	name   string
	fields string
	prefix string // of its ids; "" for any
	spoken bool   // the model says it
}

// kinds are the types of items.
var kinds = []kind{
	{"message", "role! content! status phase", "msg", false},
	{"function_call", "call_id! name! arguments! namespace async caller status", "fc", true},
	{"function_call_output", "call_id output! name namespace caller status", "fc", false},
	{"custom_tool_call", "call_id! name! input! namespace async caller status", "ctc", true},
	{"custom_tool_call_output", "call_id! output! name caller status", "ctc", false},
	{"local_shell_call", "call_id action! status", "", true},
	{"local_shell_call_output", "call_id output! status", "", false},
	{"shell_call", "call_id! action! environment caller created_by status", "", true},
	{"shell_call_output", "call_id! output! max_output_length caller created_by status", "", false},
	{"apply_patch_call", "call_id! operation! caller created_by status", "", true},
	{"apply_patch_call_output", "call_id! output caller created_by status!", "", false},
	{"computer_call", "call_id! action actions pending_safety_checks status", "", true},
	{"computer_call_output", "call_id! output! acknowledged_safety_checks status", "", false},
	{"tool_search_call", "call_id arguments! execution status created_by", "", true},
	{"tool_search_output", "call_id tools! execution status created_by", "", false},
	{"web_search_call", "action status!", "ws", true},
	{"file_search_call", "queries! results status!", "", true},
	{"code_interpreter_call", "*", "", true},
	{"image_generation_call", "*", "", true},
	{"mcp_call", "name! arguments! server_label! output error approval_request_id status", "", true},
	{"mcp_list_tools", "*", "", true},
	{"mcp_approval_request", "name! arguments! server_label!", "", true},
	{"mcp_approval_response", "approval_request_id! approve! reason request_id", "", false},
	{"program", "*", "", true},
	{"program_output", "*", "", false},
	{"reasoning", "summary! content encrypted_content status", "rs", true},
	{"compaction", "encrypted_content! created_by", "", true},
	{"context_compaction", "*", "", true},
	{"compaction_trigger", "", "", false},
	{"configuration_update", "*", "", false},
	{"additional_tools", "*", "", false},
	{"item_reference", "", "", false},
}

// passing are fields that any item may have.
const passing = " type id internal_chat_message_metadata_passthrough"

// kindNamed is the type with this name; nil for none.
func kindNamed(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

// Most of what a string may have.
const (
	maxID   = 64       // bytes of an id
	maxText = 10 << 20 // bytes of a text
)

// ReadItem reads one item and checks what can be told of it alone.
func ReadItem(raw json.RawMessage, path string, maker Maker) (*Item, *Refusal) {
	fields, ok := fakeapi.CutObject(raw)
	if !ok {
		return nil, wrongType(path, "an input item", raw)
	}
	i := &Item{Kind: fields.Text("type"), Role: fields.Text("role"), Path: path, Fields: fields}
	if i.Kind == "" {
		switch {
		case fields.Has("role"):
			i.Kind = "message"
		case fields.Has("id") && len(fields) == 1:
			i.Kind = "item_reference"
		case maker == LlamaCpp:
			return nil, Flaw("", "", "Cannot determine type of 'item'")
		default:
			return nil, missing(path + ".type")
		}
	}
	for _, check := range []func() *Refusal{i.checkKind, i.checkID, i.checkValues, i.checkLengths} {
		if refused := check(); refused != nil {
			return nil, refused
		}
	}
	if refused := i.checkMaker(maker); refused != nil {
		return nil, refused
	}
	i.Marks = readMarks(fields)
	i.Canon = canon(fields)
	return i, nil
}

// checkKind wants a known type with its fields and no others.
func (i *Item) checkKind() *Refusal {
	k := kindNamed(i.Kind)
	if k == nil {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return wrongValue(i.Path, i.Kind, quoted(names...))
	}
	return checkFields(i.Fields, i.Path, k.fields+passing)
}

// checkID wants an id, where there is one, as the server makes them.
func (i *Item) checkID() *Refusal {
	if !i.Fields.Has("id") {
		return nil
	}
	id, path := i.ID(), i.Path+".id"
	k := kindNamed(i.Kind)
	switch {
	case len(id) > maxID:
		return tooLong(path, len(id), maxID)
	case !strings.HasPrefix(id, k.prefix):
		return Flaw(path, "invalid_value", "Invalid '%s': '%s'. Expected an ID that begins with '%s'.", path, id, k.prefix)
	}
	return nil
}

// checkFields holds o to a list of names, those with an exclamation mark being required. "*" allows any.
func checkFields(o fakeapi.Object, path, names string) *Refusal {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		plain, required := strings.CutSuffix(name, "!")
		allowed[plain] = true
		if _, ok := o[plain]; required && !ok {
			return missing(join(path, plain))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !allowed[name] && !allowed["*"] {
			return Flaw(join(path, name), "unknown_parameter", "Unknown parameter: '%s'.", join(path, name))
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// quoted lists names as the server does.
func quoted(names ...string) string {
	for i := range names {
		names[i] = "'" + names[i] + "'"
	}
	last := len(names) - 1
	switch last {
	case 0:
		return names[0]
	case 1:
		return names[0] + " and " + names[1]
	}
	return strings.Join(names[:last], ", ") + ", and " + names[last]
}

// checkLengths bounds all strings of an item.
func (i *Item) checkLengths() *Refusal {
	for _, name := range slices.Sorted(maps.Keys(i.Fields)) {
		raw := i.Fields[name]
		path := i.Path + "." + name
		switch {
		case name == "call_id" && bytes.Equal(raw, []byte(`""`)):
			return Flaw(path, "empty_string",
				"Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", path)
		case name == "call_id" && len(raw)-2 > maxID:
			return tooLong(path, len(raw)-2, maxID)
		case len(raw)-2 > maxText && raw[0] == '"':
			return tooLong(path, len(raw)-2, maxText)
		}
	}
	return nil
}

// checkMaker holds an item to what servers other than the vendor's take.
func (i *Item) checkMaker(maker Maker) *Refusal {
	known := func(names string) bool { return slices.Contains(strings.Fields(names), i.Kind) }
	switch maker {
	case LlamaCpp:
		if !known("message function_call function_call_output reasoning") {
			return Flaw("", "", "Cannot determine type of 'item'")
		}
		if parts, ok := fakeapi.CutList(i.Fields["content"]); i.Kind == "reasoning" && (!ok || len(parts) == 0) {
			return Flaw("", "", "item['content'] is not an array")
		}
	case VLLM:
		if i.Spoken() && i.Kind == "message" && i.Fields.Has("type") && !(i.Fields.Has("id") && i.Fields.Has("status")) {
			return Flaw("", "", "1 validation error for ResponseOutputMessage: id and status: Field required")
		}
	case Ollama:
		if !known("message function_call function_call_output reasoning web_search_call") {
			return Flaw("", "", `unknown input item type: "%s"`, i.Kind)
		}
	}
	return nil
}

// place is the path of number n within a list.
func place(path string, n int) string { return fmt.Sprintf("%s[%d]", path, n) }
