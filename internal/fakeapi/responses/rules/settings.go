package rules

import (
	"strings"

	"epitome/internal/fakeapi"
)

// minOutput is the least that max_output_tokens may ask for.
const minOutput = 16

// includes are what may be asked for besides.
const includes = "code_interpreter_call.outputs computer_call_output.output.image_url file_search_call.results " +
	"message.input_image.image_url message.output_text.logprobs reasoning.encrypted_content web_search_call.action.sources " +
	"web_search_call.results"

// checkSettings judges what is no item and no tool.
func (q *Request) checkSettings() *Refusal {
	checks := []func() *Refusal{q.checkOutput, q.checkReasons, q.checkChoice, q.checkTruncation, q.checkIncludes}
	for _, check := range checks {
		if refused := check(); refused != nil {
			return refused
		}
	}
	if q.Fields.Has("stream_options") && !q.Streamed {
		return Flaw("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if text, ok := fakeapi.CutObject(q.Fields["text"]); ok {
		return checkFormat(text)
	}
	return nil
}

func (q *Request) checkOutput() *Refusal {
	const name = "max_output_tokens"
	if !q.Fields.Has(name) {
		return nil
	}
	most, ok := fakeapi.Whole(q.Fields[name])
	switch {
	case !ok:
		return wrongType(name, "an integer", q.Fields[name])
	case most < minOutput:
		return Flaw(name, "integer_below_min_value",
			"Invalid '%s': integer below minimum value. Expected a value >= %d, but got %d instead.", name, minOutput, most)
	case q.Model.MaxOutput > 0 && most > q.Model.MaxOutput:
		return Flaw(name, "integer_above_max_value",
			"Invalid '%s': integer above maximum value. Expected a value <= %d, but got %d instead.",
			name, q.Model.MaxOutput, most)
	}
	q.MaxOutput = most
	return nil
}

// checkReasons judges what only some models serve.
func (q *Request) checkReasons() *Refusal {
	unsupported := func(name string) *Refusal {
		return Flaw(name, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", name)
	}
	reasoning, _ := fakeapi.CutObject(q.Fields["reasoning"])
	switch {
	case !q.Model.Reasons && reasoning.Has("effort"):
		return unsupported("reasoning.effort")
	case !q.Model.Reasons && q.Includes("reasoning.encrypted_content"):
		return Flaw("include", "", "Encrypted content is not supported with this model.")
	case q.Model.Reasons && reasoning.Text("effort") != "none" && q.Fields.Has("temperature") &&
		string(q.Fields["temperature"]) != "1":
		return unsupported("temperature")
	}
	const efforts = "none minimal low medium high xhigh max"
	if effort := reasoning.Text("effort"); effort != "" && !listed(efforts, effort) {
		return wrongValue("reasoning.effort", effort, quoted(strings.Fields(efforts)...))
	}
	return nil
}

// listed tells whether a name stands in a list of them.
func listed(names, name string) bool {
	for each := range strings.FieldsSeq(names) {
		if each == name {
			return true
		}
	}
	return false
}

// checkChoice wants a tool that is chosen to be there.
func (q *Request) checkChoice() *Refusal {
	raw := q.Fields["tool_choice"]
	if choice, ok := fakeapi.IsText(raw); ok {
		switch {
		case !listed("none auto required", choice):
			return wrongValue("tool_choice", choice, quoted("none", "auto", "required"))
		case choice == "required" && len(q.Tools) == 0:
			return Flaw("tool_choice", "", "Tool choice 'required' must be specified with 'tools' parameter.")
		}
		return nil
	}
	chosen, ok := fakeapi.CutObject(raw)
	if name := chosen.Text("name"); ok && name != "" {
		for _, tool := range q.Tools {
			if tool.Text("name") == name {
				return nil
			}
		}
		return Flaw("tool_choice", "", "Tool choice '%s' not found in 'tools' parameter.", name)
	}
	return nil
}

func (q *Request) checkTruncation() *Refusal {
	truncation := q.Fields.Text("truncation")
	q.Truncates = truncation == "auto"
	if truncation != "" && !listed("auto disabled", truncation) {
		return wrongValue("truncation", truncation, quoted("auto", "disabled"))
	}
	return nil
}

func (q *Request) checkIncludes() *Refusal {
	list, _ := fakeapi.CutList(q.Fields["include"])
	for n, raw := range list {
		if text, ok := fakeapi.IsText(raw); !ok || !listed(includes, text) {
			return wrongValue(place("include", n), text, quoted(strings.Fields(includes)...))
		}
	}
	return nil
}

// checkFormat judges the form that an answer is to have.
func checkFormat(text fakeapi.Object) *Refusal {
	if refused := checkFields(text, "text", "format verbosity"); refused != nil {
		return refused
	}
	format, ok := fakeapi.CutObject(text["format"])
	if kind := format.Text("type"); ok && !listed("text json_object json_schema grammar", kind) {
		return wrongValue("text.format.type", kind, quoted("json_object", "json_schema", "text"))
	}
	if format.Text("type") == "json_schema" {
		return checkFields(format, "text.format", "type name! schema! strict description")
	}
	return nil
}
