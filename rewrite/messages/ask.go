package messages

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

const (
	version = "/v1"
	short   = "/messages"
	// path is how the path of a request ends that holds a conversation: servers have it below paths of their own. One
	// that ends in the short form alone may belong to another API.
	path     = version + short
	counting = "/count_tokens" // behind the path

	versionHeader = "anthropic-version" // on every request
)

func (Dialect) Path() string { return path }

func (Dialect) Serves(p []byte) bool { return bytes.HasSuffix(p, []byte(path)) }

func (Dialect) Counts(p []byte) bool { return bytes.HasSuffix(p, []byte(path+counting)) }

// Compacts is false: a request that has the provider compact a conversation says so in its body.
func (Dialect) Compacts([]byte) bool { return false }

// MeantPath returns the path with its version, for a request whose headers say which API it is for: the AI SDK leaves
// the version to the base URL, and agents are given one without.
func (Dialect) MeantPath(p []byte, has func(header string) bool) []byte {
	if string(p) != short && string(p) != short+counting || !has(versionHeader) {
		return nil
	}
	return append([]byte(version), p...)
}

func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"x-api-key", key}, {versionHeader, "2023-06-01"}}
}

func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	stream := ""
	if f.Stream {
		stream = `,"stream":true`
	}
	return fmt.Appendf(nil, `{"model":%s,"max_tokens":%d,"system":%s,"messages":[%s]%s}`, jsonspan.Quoted(model),
		f.MaxOutput, jsonspan.Quoted(system), d.UserMessage(user), stream)
}

// minBudget is how many tokens a model must be given to think, if it is given any.
const minBudget = 1024

// CapOutput lowers the cap on the output to so many tokens. What the model is given to think is lowered with it where
// it no longer fits: then as much is left for the answer as the client left, if possible. ok is false if there is no
// cap, if it is lower, or if the model could not think any more.
func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return body, false
	}
	own, budget := numberOf(o.Raw("max_tokens")), budgetIn(o)
	if own <= tokens || tokens <= 0 {
		return body, false
	}
	o.Set("max_tokens", strconv.Itoa(tokens))
	if budget >= tokens && budget < own { // a higher one is legal where the model thinks between calls
		if tokens <= minBudget {
			return body, false
		}
		o.In("thinking").Set("budget_tokens", strconv.Itoa(max(tokens-(own-budget), minBudget)))
	}
	capped, err = jsonspan.Splice(body, o.Edits())
	if err != nil {
		return body, false
	}
	return capped, true
}

// budgetIn returns how many tokens the model is given to think; 0 if the request does not say.
func budgetIn(o *jsonspan.Object) int {
	thinking := o.In("thinking")
	if thinking.Text("type") != "enabled" {
		return 0
	}
	return numberOf(thinking.Raw("budget_tokens"))
}

// dropped are settings that keep an answer from being one plain text, or were made for another answer. All others
// stay: other tools, another choice of tools or another way to think would cost the cache of all messages.
var dropped = [...]string{
	"stream", "stop_sequences", "output_format", "fallbacks", "diagnostics", "thread", "compaction",
}

var (
	errForced  = errors.New("the request has the model call a tool")
	errOpen    = errors.New("the last message calls tools whose results are not there")
	errUnknown = errors.New("the last message cannot be read")
)

// Continue puts an instruction behind the conversation in body, as the user's last text, and asks for a plain text.
// Where the client has the provider keep a cache, the end of the conversation is marked for it.
func (d Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	settings, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	r, err := d.Read(body, nil)
	if err != nil {
		return nil, err
	}
	choice := settings.In("tool_choice").Text("type")
	if choice == "any" || choice == "tool" {
		return nil, errForced
	}
	settings.TakeOut(dropped[:]...)
	settings.In("output_config").TakeOut("format")
	most := f.MaxOutput
	if budget := budgetIn(settings); budget > 0 { // on top of the answer, but the model may allow no more than the client
		if most += budget; r.MaxOutput > 0 {
			most = min(most, r.MaxOutput)
		}
	}
	settings.Set("max_tokens", strconv.Itoa(most))
	if f.Stream {
		settings.Set("stream", "true")
	}
	said, err := d.instruct(r, instruction)
	if err != nil {
		return nil, err
	}
	out, err := jsonspan.Splice(body, append(settings.Edits(), said...))
	if err != nil {
		return nil, err
	}
	asked, err := d.Read(out, nil)
	if err == nil {
		err = conversation.Worse(r, asked)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// instruct returns the edits that put a text behind all that the user said: behind the last words and results, or as a
// message of its own. A last message of the system stays last.
func (d Dialect) instruct(r *conversation.Request, text string) ([]jsonspan.Edit, error) {
	if len(r.Items) == 0 {
		return []jsonspan.Edit{insert(r.List, d.UserMessage(text))}, nil
	}
	last := len(r.Items) - 1
	for last > 0 && r.Items[last].Role == conversation.System {
		last--
	}
	it := &r.Items[last]
	mark, err := missingMark(r)
	if err != nil {
		return nil, err
	}
	said := it.Content.Of(r.Body)
	switch {
	case it.Role == conversation.Assistant && len(it.Calls) > 0:
		return nil, errOpen
	case it.Role == conversation.Assistant:
		message := append([]byte{','}, d.UserMessage(text)...)
		return append(markEnd(r, it, mark), insert(it.End, message)), nil
	case !it.Message.Empty():
		block := append([]byte{','}, blockOf(text, "")...)
		return append(markEnd(r, it, mark), insert(it.End, block)), nil
	case it.Role != conversation.User || isBlank(said):
		return nil, errUnknown
	}
	list := fmt.Appendf(nil, "[%s,%s]", quotedBlock(said, mark), blockOf(text, ""))
	return []jsonspan.Edit{{Span: it.Content, With: list}}, nil
}

// missingMark returns the mark with which the end of the conversation is to be marked, as the client marked tools or
// system prompt: its own mark on a message stood here in an earlier request, and has moved on since. It is empty where
// a message is marked, where the provider marks the end itself, and where nothing is cached.
func missingMark(r *conversation.Request) (string, error) {
	for i := range r.Items {
		if len(r.Items[i].Marks) > 0 {
			return "", nil
		}
	}
	marks, isAutomatic, err := marksBeside(r)
	if err != nil || isAutomatic || len(marks) == 0 || len(marks) >= mostMarks {
		return "", err
	}
	return string(marks[len(marks)-1].Value.Of(r.Body)), nil
}

// markEnd returns the edits that mark the last block of an item, if it can be.
func markEnd(r *conversation.Request, it *conversation.Item, mark string) []jsonspan.Edit {
	at := it.Start
	if it.Role != conversation.Tool {
		if len(it.Parts) == 0 {
			return nil
		}
		last := &it.Parts[len(it.Parts)-1]
		if last.Kind == conversation.OtherPart || last.Kind == conversation.TextPart && isBlank(last.Value.Of(r.Body)) {
			return nil
		}
		at = last.Start
	}
	o, err := jsonspan.ObjectAt(r.Body, at)
	if err != nil || mark == "" {
		return nil
	}
	o.Set(marker, mark)
	return o.Edits()
}
