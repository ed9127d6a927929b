package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"epitome/internal/fakeapi"
)

// Mark is a breakpoint of the cache.
type Mark struct {
	Long bool // for twelve hours and not for thirty minutes
}

// parts are the types of content, with their fields, and where they may stand.
var parts = []struct{ name, fields, places string }{
	{"input_text", "text! prompt_cache_breakpoint", "user output"},
	{"input_image", "image_url file_id detail prompt_cache_breakpoint", "user output"},
	{"input_file", "file_data file_url file_id filename detail prompt_cache_breakpoint", "user output"},
	{"input_audio", "input_audio! prompt_cache_breakpoint", "user"},
	{"output_text", "text! annotations logprobs parsed", "assistant"},
	{"refusal", "refusal!", "assistant"},
	{"summary_text", "text!", "summary"},
	{"reasoning_text", "text!", "reasoning"},
	{"text", "text!", "reasoning"},
	{"computer_screenshot", "image_url file_id", "screen"},
}

// checkValues checks what the fields of i hold.
func (i *Item) checkValues() *Refusal {
	switch i.Kind {
	case "message":
		return i.checkMessage()
	case "function_call":
		return i.checkTexts("call_id", "name", "arguments")
	case "custom_tool_call":
		return i.checkTexts("call_id", "name", "input")
	case "function_call_output", "custom_tool_call_output":
		return i.checkContent("output", "output")
	case "local_shell_call_output":
		if text, ok := fakeapi.IsText(i.Fields["output"]); !ok {
			return wrongType(i.Path+".output", "a string", i.Fields["output"])
		} else if !json.Valid([]byte(text)) {
			return Flaw(i.Path+".output", "invalid_value", "Invalid '%s.output': the string is not valid JSON.", i.Path)
		}
	case "shell_call_output":
		return i.checkChunks()
	case "apply_patch_call_output":
		if i.Fields.Has("output") {
			return i.checkTexts("output")
		}
	case "reasoning":
		return i.checkReasoning()
	case "compaction":
		return i.checkTexts("encrypted_content")
	case "item_reference":
		return i.checkTexts("id")
	}
	return nil
}

// checkTexts wants strings in some fields.
func (i *Item) checkTexts(names ...string) *Refusal {
	for _, name := range names {
		if _, ok := fakeapi.IsText(i.Fields[name]); !ok && i.Fields.Has(name) {
			return wrongType(i.Path+"."+name, "a string", i.Fields[name])
		}
		if !i.Fields.Has(name) {
			return missing(i.Path + "." + name)
		}
	}
	return nil
}

func (i *Item) checkMessage() *Refusal {
	switch i.Role {
	case "user", "system", "developer":
		return i.checkContent("content", "user")
	case "assistant":
		return i.checkContent("content", "assistant")
	}
	return wrongValue(i.Path+".role", i.Role, quoted("assistant", "system", "developer", "user"))
}

// checkContent wants a string, or a list of parts that may stand in a place.
func (i *Item) checkContent(name, where string) *Refusal {
	raw, path := i.Fields[name], i.Path+"."+name
	if text, ok := fakeapi.IsText(raw); ok {
		if len(text) > maxText {
			return tooLong(path, len(text), maxText)
		}
		return nil
	}
	list, ok := fakeapi.CutList(raw)
	if !ok {
		return wrongType(path, "one of an array of objects or string", raw)
	}
	return checkParts(list, path, where)
}

// checkParts wants known types with their fields in a place where they may stand.
func checkParts(list []json.RawMessage, path, where string) *Refusal {
	for n, raw := range list {
		at := place(path, n)
		fields, ok := fakeapi.CutObject(raw)
		if !ok {
			return wrongType(at, "an object", raw)
		}
		if !fields.Has("type") {
			return missing(at + ".type")
		}
		if refused := checkPart(fields, at, where); refused != nil {
			return refused
		}
	}
	return nil
}

// checkPart wants one part of a known type with its fields.
func checkPart(part fakeapi.Object, path, where string) *Refusal {
	var names []string
	for _, p := range parts {
		if !slices.Contains(strings.Fields(p.places), where) {
			continue
		}
		if p.name != part.Text("type") {
			names = append(names, p.name)
			continue
		}
		if text := part.Text("text"); len(text) > maxText {
			return tooLong(path+".text", len(text), maxText)
		}
		return checkFields(part, path, "type "+p.fields)
	}
	return wrongValue(path, part.Text("type"), quoted(names...))
}

// checkChunks wants what a shell printed, piece by piece, with how each ended.
func (i *Item) checkChunks() *Refusal {
	path := i.Path + ".output"
	list, ok := fakeapi.CutList(i.Fields["output"])
	if !ok {
		return wrongType(path, "an array of objects", i.Fields["output"])
	}
	for n, raw := range list {
		fields, ok := fakeapi.CutObject(raw)
		if !ok {
			return wrongType(place(path, n), "an object", raw)
		}
		if refused := checkFields(fields, place(path, n), "stdout! stderr! outcome! created_by"); refused != nil {
			return refused
		}
		for _, name := range []string{"stdout", "stderr"} {
			if _, ok := fakeapi.IsText(fields[name]); !ok {
				return wrongType(place(path, n)+"."+name, "a string", fields[name])
			}
		}
		outcome, ok := fakeapi.CutObject(fields["outcome"])
		if kind := outcome.Text("type"); !ok || kind != "exit" && kind != "timeout" {
			return wrongValue(place(path, n)+".outcome", kind, quoted("timeout", "exit"))
		}
	}
	return nil
}

func (i *Item) checkReasoning() *Refusal {
	list, ok := fakeapi.CutList(i.Fields["summary"])
	if !ok {
		return wrongType(i.Path+".summary", "an array of objects", i.Fields["summary"])
	}
	if refused := checkParts(list, i.Path+".summary", "summary"); refused != nil {
		return refused
	}
	if i.Fields.Has("encrypted_content") {
		if refused := i.checkTexts("encrypted_content"); refused != nil {
			return refused
		}
	}
	if !i.Fields.Has("content") {
		return nil
	}
	if list, ok = fakeapi.CutList(i.Fields["content"]); !ok {
		return wrongType(i.Path+".content", "an array of objects", i.Fields["content"])
	}
	return checkParts(list, i.Path+".content", "reasoning")
}

// eachPart calls f with each part of a message's content or an output.
func eachPart(o fakeapi.Object, f func(name string, n int, part fakeapi.Object)) {
	for _, name := range []string{"content", "output"} {
		list, _ := fakeapi.CutList(o[name])
		for n, raw := range list {
			if part, ok := fakeapi.CutObject(raw); ok {
				f(name, n, part)
			}
		}
	}
}

// readMarks are the breakpoints in an item.
func readMarks(o fakeapi.Object) []*Mark {
	var all []*Mark
	eachPart(o, func(_ string, _ int, part fakeapi.Object) {
		if part.Has("prompt_cache_breakpoint") {
			mark, _ := fakeapi.CutObject(part["prompt_cache_breakpoint"])
			all = append(all, &Mark{Long: mark.Text("ttl") == "12h"})
		}
	})
	return all
}

// canon is the value of an item: its id, its state and marks for the cache aside, and fields that are null. A message
// without a type is one with it, and a string the same as one part of it.
func canon(o fakeapi.Object) []byte {
	bare := fakeapi.Object{}
	for name, raw := range o {
		if !slices.Contains(strings.Fields("id status internal_chat_message_metadata_passthrough"), name) && o.Has(name) {
			bare[name] = raw
		}
	}
	if bare.Has("role") {
		bare["type"] = json.RawMessage(`"message"`)
	}
	given := map[string][]byte{}
	kind := "input_text"
	if bare.Text("role") == "assistant" {
		kind = "output_text"
	}
	for _, name := range []string{"content", "output"} {
		if text, ok := fakeapi.IsText(bare[name]); ok {
			given[name] = fakeapi.Normal(fakeapi.Encode([]map[string]string{{"type": kind, "text": text}}))
		}
	}
	lists := map[string][]json.RawMessage{}
	eachPart(bare, func(name string, _ int, part fakeapi.Object) {
		delete(part, "prompt_cache_breakpoint")
		if part.Text("type") == "output_text" {
			part = fakeapi.Object{"type": part["type"], "text": part["text"]}
		}
		lists[name] = append(lists[name], fakeapi.Encode(part))
	})
	for name, list := range lists {
		given[name] = fakeapi.Normal(fakeapi.Encode(list))
	}
	return bare.NormalWith(given)
}
