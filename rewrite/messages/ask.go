package messages

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

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

	outputCap = "max_tokens"
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
	return fmt.Appendf(nil, `{"model":%s,"%s":%d,"system":%s,"messages":[%s]%s}`, jsonspan.Quoted(model),
		outputCap, f.MaxOutput, jsonspan.Quoted(system), d.UserMessage(user), stream)
}

// minBudget is how many tokens a model must be given to think, if it is given any.
const minBudget = 1024

// CapOutput lowers the cap on the output to so many tokens, and what the model is given to think to what leaves as much
// for the answer as before, where it no longer fits. ok is false if there is no cap, if it is lower, or if the model
// could not think any more.
func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return body, false
	}
	own, budget := numberOf(o.Raw(outputCap)), budgetIn(o)
	mustThinkLess := budget >= tokens && budget < own // a higher one is legal where the model thinks between calls
	if tokens <= 0 || own <= tokens || mustThinkLess && tokens <= minBudget {
		return body, false
	}
	body = jsonspan.Set(body, outputCap, strconv.Itoa(tokens))
	if mustThinkLess {
		body = jsonspan.Set(body, "thinking.budget_tokens", strconv.Itoa(max(tokens-(own-budget), minBudget)))
	}
	return body, true
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
	"output_config.format",
}

// Continue puts an instruction behind the conversation in body, as a message of the user's, and asks for a plain text.
// A last message of the system stays last.
func (d Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	r, err := d.Read(body, nil)
	if err != nil {
		return nil, err
	}
	last := len(r.Items) - 1
	for last > 0 && r.Items[last].Role == conversation.System {
		last--
	}
	choice := o.In("tool_choice").Text("type")
	if last < 0 || choice == "any" || choice == "tool" {
		return nil, errors.New("there is no conversation, or the model must call a tool")
	}
	most := f.MaxOutput
	if budget := budgetIn(o); budget > 0 { // on top of the answer, but the model may allow no more than the client
		most = min(most+budget, max(r.MaxOutput, most))
	}
	message := fmt.Sprintf(`,{"role":"user","content":[{"type":"text","text":%s%s}]}`,
		jsonspan.Quoted(instruction), missingMark(r))
	asked, err := jsonspan.Splice(body, []jsonspan.Edit{jsonspan.Insert(r.Items[last].Place().End, message)})
	if err != nil {
		return nil, err
	}
	asked = jsonspan.Delete(asked, dropped[:]...)
	if f.Stream {
		asked = jsonspan.Set(asked, "stream", "true")
	}
	return jsonspan.Set(asked, outputCap, strconv.Itoa(most)), nil
}

// mostMarks is how many marks for the cache a request may have.
const mostMarks = 4

// missingMark returns the mark that the end of a conversation lacks, with its key, as the client marked tools or system
// prompt: its own mark on a message stood here in an earlier request, and has moved on since. It is empty where a
// message is marked, where the provider marks the end itself, and where nothing is cached.
func missingMark(r *conversation.Request) string {
	isMarked := func(it conversation.Item) bool { return len(it.Marks) > 0 }
	marks := gjson.GetBytes(r.Tools.Of(r.Body), "#."+marker).Array()
	marks = append(marks, gjson.GetBytes(r.System.Of(r.Body), "#."+marker).Array()...)
	n := len(marks)
	if n == 0 || n >= mostMarks || slices.ContainsFunc(r.Items, isMarked) || gjson.GetBytes(r.Body, marker).IsObject() {
		return ""
	}
	return `,"` + marker + `":` + marks[n-1].Raw
}
