package rules

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"epitome/internal/fakeapi"
)

// Request is a body that was read; whether it is sound is judged part by part.
type Request struct {
	Fields       fakeapi.Object
	Purpose      Purpose
	Scope        string // whose it is: the credentials
	Name         string // of the model
	Model        Model
	Streamed     bool
	Stored       bool
	Background   bool
	Truncates    bool // what does not fit is left out
	MaxOutput    int  // 0 where the request does not say
	Previous     string
	Conversation string
	Tools        []fakeapi.Object
	Items        []*Item // of this body; whoever keeps state puts what came before in front
}

// Purpose is what is asked for.
type Purpose int

// What is asked for, by the path.
const (
	Answer  Purpose = iota // /v1/responses
	Count                  // /v1/responses/input_tokens
	Compact                // /v1/responses/compact
)

// topFields are the names that a body may have.
const topFields = "model input instructions max_output_tokens max_tool_calls metadata parallel_tool_calls " +
	"previous_response_id conversation prompt prompt_cache_key prompt_cache_retention prompt_cache_options reasoning " +
	"safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p " +
	"truncation user include background context_management client_metadata moderation personality"

// Read reads a body with its headers, and holds it to all rules that are told by it alone.
func Read(header http.Header, body []byte, purpose Purpose, modelOf func(string) Model) (*Request, *Refusal) {
	q := &Request{Purpose: purpose, Scope: header.Get("Authorization"), Stored: true}
	if !json.Valid(body) {
		return q, Flaw("", "", "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload, "+
			"but what was sent was not valid JSON.")
	}
	var ok bool
	if q.Fields, ok = fakeapi.CutObject(body); !ok {
		return q, wrongType("body", "an object", body)
	}
	if refused := checkFields(q.Fields, "", topFields); refused != nil {
		return q, refused
	}
	if q.Name = q.Fields.Text("model"); q.Name == "" && !q.Fields.Has("prompt") && purpose != Count {
		return q, missing("model")
	}
	q.Model = modelOf(q.Name)
	for _, read := range []func() *Refusal{q.readState, q.readTools, q.readInput, q.checkSettings, q.checkTrigger} {
		if refused := read(); refused != nil {
			return q, refused
		}
	}
	return q, nil
}

// readState reads what the server is to keep, and what it has.
func (q *Request) readState() *Refusal {
	for name, at := range map[string]*bool{"stream": &q.Streamed, "store": &q.Stored, "background": &q.Background} {
		if q.Fields.Has(name) && json.Unmarshal(q.Fields[name], at) != nil {
			return wrongType(name, "a boolean", q.Fields[name])
		}
	}
	q.Previous = q.Fields.Text("previous_response_id")
	q.Conversation = q.Fields.Text("conversation")
	if named, ok := fakeapi.CutObject(q.Fields["conversation"]); ok {
		q.Conversation = named.Text("id")
	}
	switch {
	case q.Previous != "" && q.Conversation != "":
		return Flaw("previous_response_id", "mutually_exclusive_parameters",
			"Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'.")
	case q.Previous != "" && !strings.HasPrefix(q.Previous, "resp"):
		return Flaw("previous_response_id", "invalid_value",
			"Invalid 'previous_response_id': '%s'. Expected an ID that begins with 'resp'.", q.Previous)
	case q.Background && !q.Stored:
		return Flaw("background", "", "Background mode requires store to be true.")
	case q.Model.Maker != OpenAI && (q.Previous != "" || q.Conversation != ""):
		return Flaw("", "", "previous_response_id is not supported by this server")
	}
	return nil
}

// toolKinds are the types of tools, with what each of them must have.
var toolKinds = []struct{ name, required string }{
	{"function", "name parameters"}, {"custom", "name"}, {"namespace", "name tools"}, {"web_search", ""},
	{"web_search_2025_08_26", ""}, {"web_search_preview", ""}, {"file_search", "vector_store_ids"},
	{"computer_use_preview", ""}, {"computer", ""}, {"mcp", "server_label"}, {"code_interpreter", "container"},
	{"image_generation", ""}, {"local_shell", ""}, {"shell", ""}, {"apply_patch", ""}, {"tool_search", ""},
	{"programmatic_tool_calling", ""},
}

func (q *Request) readTools() *Refusal {
	if !q.Fields.Has("tools") {
		return nil
	}
	list, ok := fakeapi.CutList(q.Fields["tools"])
	if !ok {
		return wrongType("tools", "an array of objects", q.Fields["tools"])
	}
	for n, raw := range list {
		path := place("tools", n)
		tool, ok := fakeapi.CutObject(raw)
		if !ok {
			return wrongType(path, "an object", raw)
		}
		if !tool.Has("type") {
			return missing(path + ".type")
		}
		if refused := q.checkTool(tool, path); refused != nil {
			return refused
		}
		q.Tools = append(q.Tools, tool)
	}
	return nil
}

// checkTool wants a known type, and what that type must have.
func (q *Request) checkTool(tool fakeapi.Object, path string) *Refusal {
	var names []string
	for _, k := range toolKinds {
		names = append(names, k.name)
		if k.name != tool.Text("type") {
			continue
		}
		for name := range strings.FieldsSeq(k.required) {
			if _, ok := tool[name]; !ok {
				return missing(path + "." + name)
			}
		}
		if q.Model.Maker == LlamaCpp && k.name != "function" {
			return Flaw("", "", "unsupported tool type: %s", k.name)
		}
		return nil
	}
	return wrongValue(path+".type", tool.Text("type"), quoted(names...))
}

func (q *Request) readInput() *Refusal {
	raw, given := q.Fields["input"]
	if text, ok := fakeapi.IsText(raw); ok {
		fields := fakeapi.Object{"role": json.RawMessage(`"user"`), "content": fakeapi.Encode(text)}
		q.Items = []*Item{{Kind: "message", Role: "user", Path: "input", Fields: fields, Canon: canon(fields)}}
		return nil
	}
	if !given && (q.Previous != "" || q.Conversation != "" || q.Fields.Has("prompt")) {
		return nil
	}
	if !given {
		return Flaw("input", "missing_required_parameter",
			`One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`)
	}
	list, ok := fakeapi.CutList(raw)
	if !ok {
		return wrongType("input", "one of an array of input items or string", raw)
	}
	if len(list) == 0 && q.Previous == "" && q.Conversation == "" {
		return Flaw("input", "empty_array",
			"Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	seen := map[string]bool{}
	for n, raw := range list {
		item, refused := ReadItem(raw, place("input", n), q.Model.Maker)
		if refused != nil {
			return refused
		}
		if id := item.ID(); id != "" && seen[id] && item.Kind != "local_shell_call_output" {
			return Flaw("input", "",
				"Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)
		} else {
			seen[id] = true
		}
		q.Items = append(q.Items, item)
	}
	return nil
}

// checkTrigger wants a request for a compaction at the end, and once.
func (q *Request) checkTrigger() *Refusal {
	for n, i := range q.Items {
		if i.Kind == "compaction_trigger" && n < len(q.Items)-1 {
			return Flaw(i.Path, "invalid_value", "Invalid '%s': 'compaction_trigger' must be the last input item.", i.Path)
		}
	}
	if q.Compacts() && (q.Fields.Has("context_management") || q.Purpose == Compact) {
		return Flaw("input", "invalid_value", "'compaction_trigger' cannot be combined with other ways of compaction.")
	}
	return nil
}

// Compacts tells whether the answer is to be a compaction.
func (q *Request) Compacts() bool {
	return len(q.Items) > 0 && q.Items[len(q.Items)-1].Kind == "compaction_trigger"
}

// Threshold is the number of tokens from which on the server compacts by itself; 0 for never.
func (q *Request) Threshold() int {
	list, _ := fakeapi.CutList(q.Fields["context_management"])
	for _, raw := range list {
		fields, _ := fakeapi.CutObject(raw)
		if most, ok := fakeapi.Whole(fields["compact_threshold"]); ok && fields.Text("type") == "compaction" {
			return most
		}
	}
	return 0
}

// Includes tells whether the request wants something more in the answer.
func (q *Request) Includes(what string) bool {
	list, _ := fakeapi.CutList(q.Fields["include"])
	for _, raw := range list {
		if text, _ := fakeapi.IsText(raw); text == what {
			return true
		}
	}
	return false
}

// String names a request in a complaint.
func (q *Request) String() string {
	return fmt.Sprintf("a request of %s with %d items", q.Name, len(q.Items))
}
