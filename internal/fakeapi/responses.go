package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The rules of Responses, each with the words in which the API refuses.

// item is one of the input, or of an answer.
type item struct {
	gjson.Result
	kind, role, path string
}

func (i item) text(name string) string { return i.Get(name).Str }

// spoken reports whether the model made the item.
func (i item) spoken() bool {
	if i.kind == "message" {
		return i.role == "assistant"
	}
	return itemKinds[i.kind].spoken
}

// responsesNames are the members that a request may have.
const responsesNames = "model input instructions max_output_tokens max_tool_calls metadata parallel_tool_calls " +
	"previous_response_id conversation prompt prompt_cache_key prompt_cache_retention prompt_cache_options " +
	"reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools " +
	"top_logprobs top_p truncation user include background context_management client_metadata moderation personality"

// itemKinds are the types of items with their members, "!" marking the required ones, what their IDs begin with, and
// whether the model makes them.
var itemKinds = map[string]struct {
	names, prefix string
	spoken        bool
}{
	"message":                 {"role! content! phase status", "msg", false},
	"function_call":           {"call_id! name! arguments! namespace async caller status", "fc", true},
	"function_call_output":    {"call_id output! name caller status", "", false},
	"custom_tool_call":        {"call_id! name! input! namespace caller status", "ctc", true},
	"custom_tool_call_output": {"call_id output! name caller status", "", false},
	"local_shell_call":        {"call_id action! status", "", true},
	"local_shell_call_output": {"call_id output! status", "", false},
	"shell_call":              {"call_id! action! environment caller created_by status", "", true},
	"shell_call_output":       {"call_id! output! max_output_length caller created_by status", "", false},
	"apply_patch_call":        {"call_id! operation! caller created_by status", "", true},
	"apply_patch_call_output": {"call_id! output caller created_by status!", "", false},
	"computer_call":           {"call_id! action actions pending_safety_checks status", "", true},
	"computer_call_output":    {"call_id! output! acknowledged_safety_checks status", "", false},
	"tool_search_call":        {"call_id arguments! execution status created_by", "", true},
	"tool_search_output":      {"call_id tools! execution status created_by", "", false},
	"web_search_call":         {"action status!", "ws", true},
	"file_search_call":        {"queries! results status!", "", true},
	"code_interpreter_call":   {"*", "", true},
	"image_generation_call":   {"*", "", true},
	"mcp_call":                {"*", "", true},
	"mcp_list_tools":          {"*", "", true},
	"mcp_approval_request":    {"*", "", true},
	"mcp_approval_response":   {"*", "", false},
	"program":                 {"*", "", true},
	"program_output":          {"*", "", false},
	"reasoning":               {"summary! content encrypted_content status", "rs", true},
	"compaction":              {"encrypted_content! created_by", "", true},
	"context_compaction":      {"*", "", true},
	"compaction_trigger":      {"", "", false},
	"configuration_update":    {"*", "", false},
	"additional_tools":        {"*", "", false},
	"item_reference":          {"", "", false},
}

// partKinds are the types of content with their members, and the places where they stand.
var partKinds = map[string]struct{ names, places string }{
	"input_text":          {"text! prompt_cache_breakpoint", "user output"},
	"input_image":         {"image_url file_id detail prompt_cache_breakpoint", "user output"},
	"input_file":          {"file_data file_url file_id filename detail prompt_cache_breakpoint", "user output"},
	"output_text":         {"text! annotations logprobs parsed", "assistant"},
	"refusal":             {"refusal!", "assistant"},
	"summary_text":        {"text!", "summary"},
	"reasoning_text":      {"text!", "reasoning"},
	"text":                {"text!", "reasoning"},
	"computer_screenshot": {"image_url file_id", "output"},
}

// readResponses reads a request and holds it to the rules.
func (p *Provider) readResponses(q *request) *Refusal {
	q.stored = !q.body.Get("store").Exists() || q.body.Get("store").Bool()
	q.maxOutput = int(q.body.Get("max_output_tokens").Int())
	q.thinks = q.model.Thinks
	if refused := checkParameters(q.body, "", responsesNames); refused != nil {
		return refused
	}
	checks := []func() *Refusal{q.checkSettings, q.readInput, func() *Refusal { return p.takeCompaction(q) },
		func() *Refusal { return p.book.expand(q) }, q.checkCalls, func() *Refusal { return p.book.check(q) }}
	for _, check := range checks {
		if refused := check(); refused != nil {
			return refused
		}
	}
	p.promptOfResponses(q)
	return nil
}

// wrong refuses a parameter.
func wrong(param, code, format string, args ...any) *Refusal {
	refused := flaw(format, args...)
	refused.Param, refused.Code = param, code
	return refused
}

func missing(param string) *Refusal {
	return wrong(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

func wrongType(param, want string, got gjson.Result) *Refusal {
	return wrong(param, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.",
		param, want, got.Type)
}

func wrongValue(param, got string) *Refusal {
	return wrong(param, "invalid_value", "Invalid value: '%s' of '%s'.", got, param)
}

// checkParameters wants the required members of an object, and no others than those named.
func checkParameters(o gjson.Result, path, names string) *Refusal {
	if !o.IsObject() {
		return wrongType(path, "an object", o)
	}
	if path != "" {
		path += "."
	}
	switch lacks, extra := checkNames(o, names); {
	case lacks != "":
		return missing(path + lacks)
	case extra != "":
		return wrong(path+extra, "unknown_parameter", "Unknown parameter: '%s'.", path+extra)
	}
	return nil
}

// checkSettings judges what is no item.
func (q *request) checkSettings() *Refusal {
	get := func(name string) gjson.Result { return q.body.Get(name) }
	choice := get("tool_choice")
	names := get("tools.#.name").Array()
	isChosen := func(name gjson.Result) bool { return name.Str == choice.Get("name").Str }
	const most = "max_output_tokens"
	switch {
	case q.name == "" && !q.counting:
		return missing("model")
	case get(most).Exists() && q.maxOutput < 16:
		return wrong(most, "integer_below_min_value",
			"Invalid '%s': integer below minimum value. Expected a value >= 16, but got %d instead.", most, q.maxOutput)
	case q.maxOutput > q.model.MaxOutput:
		return wrong(most, "integer_above_max_value",
			"Invalid '%s': integer above maximum value. Expected a value <= %d, but got %d instead.",
			most, q.model.MaxOutput, q.maxOutput)
	case choice.Str == "required" && len(names) == 0:
		return wrong("tool_choice", "", "Tool choice 'required' must be specified with 'tools' parameter.")
	case choice.Get("name").Exists() && !slices.ContainsFunc(names, isChosen):
		return wrong("tool_choice", "", "Tool choice '%s' not found in 'tools' parameter.", choice.Get("name").Str)
	case get("stream_options").IsObject() && !q.stream:
		return wrong("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case get("background").Bool() && !q.stored:
		return wrong("background", "", "Background mode requires store to be true.")
	}
	for i, tool := range get("tools").Array() {
		if !tool.Get("type").Exists() {
			return missing(fmt.Sprintf("tools[%d].type", i))
		}
	}
	return nil
}

// readInput reads the items, each by itself.
func (q *request) readInput() *Refusal {
	input := q.body.Get("input")
	list := input.Array()
	switch continued := q.body.Get("previous_response_id").Str != ""; {
	case input.Type == gjson.String:
		list = []gjson.Result{gjson.Parse(`{"role":"user","content":` + input.Raw + `}`)}
	case !input.Exists() && !continued:
		return wrong("input", "missing_required_parameter",
			`One of "input" or "previous_response_id" must be provided.`)
	case input.Exists() && !input.IsArray():
		return wrongType("input", "one of an array of input items or string", input)
	case len(list) == 0 && !continued:
		return wrong("input", "empty_array", "Invalid 'input': empty array. Expected an array with minimum length 1.")
	}
	seen := map[string]bool{}
	for n, raw := range list {
		i, refused := readItem(raw, fmt.Sprintf("input[%d]", n))
		id := i.text("id")
		switch {
		case refused != nil:
			return refused
		case id != "" && seen[id] && i.kind != "local_shell_call_output":
			return wrong("input", "", "Duplicate item found with id %s. Remove duplicate items from your input and "+
				"try again.", id)
		case i.kind == "compaction_trigger" && n < len(list)-1:
			return wrong(i.path, "invalid_value", "Invalid '%s': 'compaction_trigger' must be the last input item.",
				i.path)
		}
		seen[id] = true
		q.items = append(q.items, i)
		q.compacts = i.kind == "compaction_trigger"
	}
	return nil
}

// takeCompaction refuses what belongs to compactions, or passes over it, where the provider has none.
func (p *Provider) takeCompaction(q *request) *Refusal {
	const param = "context_management"
	switch p.options.Compaction {
	case Compacts:
		q.compactAt = int(q.body.Get(param + `.#(type=="compaction").compact_threshold`).Int())
		return nil
	case RefusesCompaction:
		if q.body.Get(param).Exists() {
			return wrong(param, "unknown_parameter", "Unknown parameter: '%s'.", param)
		}
	}
	var others []item
	for _, i := range q.items {
		switch {
		case i.kind != "compaction" && i.kind != "compaction_trigger":
			others = append(others, i)
		case p.options.Compaction == RefusesCompaction:
			return wrongValue(i.path, i.kind)
		}
	}
	q.items, q.compacts = others, false
	return nil
}

// readItem reads an item. One without a type is a message if it has a role, or else a reference.
func readItem(raw gjson.Result, path string) (item, *Refusal) {
	i := item{Result: raw, kind: raw.Get("type").Str, role: raw.Get("role").Str, path: path}
	switch {
	case !raw.IsObject():
		return i, wrongType(path, "an input item", raw)
	case i.kind != "":
	case i.role != "":
		i.kind = "message"
	case raw.Get("id").Exists():
		i.kind = "item_reference"
	default:
		return i, missing(path + ".type")
	}
	kind, known := itemKinds[i.kind]
	if !known {
		return i, wrongValue(path, i.kind)
	}
	const any = " type id internal_chat_message_metadata_passthrough"
	if refused := checkParameters(raw, path, kind.names+any); refused != nil {
		return i, refused
	}
	if id := i.text("id"); id != "" && (len(id) > 64 || !strings.HasPrefix(id, kind.prefix)) {
		return i, wrong(path+".id", "invalid_value", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.",
			path, id, kind.prefix)
	}
	return i, i.check()
}

// check judges what the members of an item hold.
func (i item) check() *Refusal {
	for _, name := range []string{"call_id", "name", "arguments", "input", "encrypted_content"} {
		if v := i.Get(name); v.Exists() && !isNull(v) && v.Type != gjson.String && i.kind != "tool_search_call" {
			return wrongType(i.path+"."+name, "a string", v)
		}
	}
	switch i.kind {
	case "message":
		places := map[string]string{"user": "user", "system": "user", "developer": "user", "assistant": "assistant"}
		if places[i.role] == "" {
			return wrongValue(i.path+".role", i.role)
		}
		return i.checkContent("content", places[i.role])
	case "function_call_output", "custom_tool_call_output":
		return i.checkContent("output", "output")
	case "local_shell_call_output":
		if !gjson.Valid(i.text("output")) {
			return wrong(i.path+".output", "invalid_value", "Invalid '%s.output': the string is not valid JSON.",
				i.path)
		}
	case "shell_call_output":
		for n, chunk := range i.Get("output").Array() {
			path := fmt.Sprintf("%s.output[%d]", i.path, n)
			if refused := checkParameters(chunk, path, "stdout! stderr! outcome! created_by"); refused != nil {
				return refused
			}
		}
	case "reasoning":
		if refused := i.checkContent("summary", "summary"); refused != nil {
			return refused
		}
		if !isNull(i.Get("content")) {
			return i.checkContent("content", "reasoning")
		}
	}
	return nil
}

// checkContent wants a string, or parts that may stand in a place.
func (i item) checkContent(name, place string) *Refusal {
	content, path := i.Get(name), i.path+"."+name
	if content.Type == gjson.String && (name == "content" || name == "output") {
		return nil
	}
	if !content.IsArray() {
		return wrongType(path, "one of an array of objects or string", content)
	}
	for n, part := range content.Array() {
		at := fmt.Sprintf("%s[%d]", path, n)
		kind, known := partKinds[part.Get("type").Str]
		if !known || !slices.Contains(strings.Fields(kind.places), place) {
			return wrongValue(at, part.Get("type").Str)
		}
		if refused := checkParameters(part, at, "type "+kind.names); refused != nil {
			return refused
		}
	}
	return nil
}

// calls are the types of calls that a client answers, with what the API calls them.
var calls = []struct{ call, output, noun string }{
	{"function_call", "function_call_output", "function call"},
	{"custom_tool_call", "custom_tool_call_output", "custom tool call"},
	{"local_shell_call", "local_shell_call_output", "local shell call"},
	{"shell_call", "shell_call_output", "shell call"},
	{"apply_patch_call", "apply_patch_call_output", "apply patch call"},
	{"computer_call", "computer_call_output", "computer call"},
	{"tool_search_call", "tool_search_output", "tool search call"},
}

// checkCalls wants each call answered once and behind it, and each output called for. An output without a call_id
// stands for itself, but that of a local shell has the id of its call, or the call's call_id as its id.
func (q *request) checkCalls() *Refusal {
	for _, c := range calls {
		named := map[string]int{} // the index of the call, by its names
		open := map[int]string{}
		for n, i := range q.items {
			name := i.text("call_id")
			if name == "" && strings.HasPrefix(i.kind, "local_shell_call") {
				name = i.text("id")
			}
			switch at, called := named[name]; {
			case name == "":
			case i.kind == c.call && called:
				return wrong("input", "", "Duplicate %s found with call_id %s.", c.noun, name)
			case i.kind == c.call:
				named[name], open[n] = n, name
				if i.kind == "local_shell_call" {
					named[i.text("id")] = n
				}
			case i.kind == c.output && !called:
				return wrong("input", "", "No tool call found for %s output with call_id %s.", c.noun, name)
			case i.kind == c.output && open[at] == "":
				return wrong("input", "", "Duplicate tool output found for %s %s.", c.noun, name)
			case i.kind == c.output:
				delete(open, at)
			}
		}
		for n, i := range q.items {
			if open[n] != "" && !i.Get("async").Bool() {
				return wrong("input", "", "No tool output found for %s %s.", c.noun, open[n])
			}
		}
	}
	return nil
}

// notFound refuses an item or a response that the provider does not have.
func notFound(format string, args ...any) *Refusal {
	refused := wrong("input", "", format, args...)
	refused.Status = http.StatusNotFound
	return refused
}
