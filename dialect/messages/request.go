package messages

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

const (
	version = "/v1"
	short   = "/messages"
	// path ends the path of every request that holds a conversation; servers put paths of their own before it. A path
	// that ends in the short form alone may belong to another API.
	path     = version + short
	counting = "/count_tokens" // behind path or short: the request asks for the size of its conversation alone

	versionHeader = "anthropic-version" // on every request

	outputCap = "max_tokens"
)

func (Dialect) Path() string { return path }

func (Dialect) Upstream() string { return "anthropic" }

// MaxPictures returns the numbers of Anthropic's guide to vision as of 2026.
func (Dialect) MaxPictures() (number, bytes int) { return 100, 32 << 20 }

func (Dialect) Owns(body []byte) bool {
	return jsonspan.HasAny(body, "system", "anthropic_version", "stop_sequences", "thinking.budget_tokens",
		"tools.#.input_schema|0", `messages.#.content.#(type=="tool_use")#|@flatten|0`,
		`messages.#.content.#(type=="tool_result")#|@flatten|0`)
}

func (Dialect) Serves(p []byte) bool { return bytes.HasSuffix(p, []byte(path)) }

func (Dialect) Counts(p []byte) bool { return bytes.HasSuffix(p, []byte(path+counting)) }

// Compacts returns false: a request for the provider's compaction has no path of its own (ReadSetting finds it).
func (Dialect) Compacts([]byte) bool { return false }

// MeantPath adds the version to a path that lacks it, if a header shows that the request is for this API; else it is
// nil. The AI SDK expects the version in the base URL, and agents are given a base URL without it.
func (Dialect) MeantPath(p []byte, has func(header string) bool) []byte {
	if string(p) != short && string(p) != short+counting || !has(versionHeader) {
		return nil
	}
	return append([]byte(version), p...)
}

func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"x-api-key", key}, {versionHeader, "2023-06-01"}}
}

func (d Dialect) Prompt(model, system, user string, f answer.Form) []byte {
	stream := ""
	if f.Stream {
		stream = `,"stream":true`
	}
	return fmt.Appendf(nil, `{"model":%s,"%s":%d,"system":%s,"messages":[%s]%s}`, jsonspan.Quoted(model),
		outputCap, f.MaxOutput, jsonspan.Quoted(system), d.UserMessage(user), stream)
}

// CapOutput lowers the cap on the output, thinking and answer together, to tokens (of the model). A thinking budget
// that must be below the cap, and no longer is, is lowered so that the answer has as much room as before. ok is false
// if there is no higher cap, or if the model could not think any more.
func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	const minBudget = 1024 // tokens: the API takes no smaller thinking budget
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return body, false
	}
	oldCap, budget := numberOf(o.Raw(outputCap)), budgetOf(o)
	mustThinkLess := budget >= tokens && budget < oldCap // a larger budget, for thinking between calls, stays
	if tokens <= 0 || oldCap <= tokens || mustThinkLess && tokens <= minBudget {
		return body, false
	}
	body = jsonspan.Set(body, outputCap, strconv.Itoa(tokens))
	if mustThinkLess {
		answerRoom := oldCap - budget
		body = jsonspan.Set(body, "thinking.budget_tokens", strconv.Itoa(max(tokens-answerRoom, minBudget)))
	}
	return body, true
}

// budgetOf returns the thinking budget of a request body, in tokens of the model; 0 if it has none.
func budgetOf(body *jsonspan.Object) int {
	thinking := body.In("thinking")
	if thinking.Text("type") != "enabled" {
		return 0
	}
	return numberOf(thinking.Raw("budget_tokens"))
}

// dropped are the settings that Continue deletes: they keep an answer from being one plain text, or were made for
// another answer. All others stay: a change of tools, tool_choice or thinking would cost the cache of all messages.
var dropped = [...]string{
	"stream", "stop_sequences", "output_format", "fallbacks", "diagnostics", "thread", "compaction",
	"output_config.format",
}

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text.
// System messages at the end stay behind it, as the API takes no user's message right behind them.
func (d Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
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
	if last < 0 || choice == "any" || choice == "tool" { // the cache depends on tool_choice, so it must stay
		return nil, errors.New("there is no conversation, or the model must call a tool")
	}
	maxOutput := f.MaxOutput
	if budget := budgetOf(o); budget > 0 { // thinking comes on top, up to the client's cap: more may be refused
		maxOutput = min(maxOutput+budget, max(r.MaxOutput, maxOutput))
	}
	message := fmt.Sprintf(`,{"role":"user","content":[{"type":"text","text":%s%s}]}`,
		jsonspan.Quoted(instruction), missingMark(r))
	asked, err := jsonspan.Splice(body, []jsonspan.Edit{jsonspan.Insert(r.Items[last].MessageSpan().End, message)}, nil)
	if err != nil {
		return nil, err
	}
	asked = jsonspan.Delete(asked, dropped[:]...)
	if f.Stream {
		asked = jsonspan.Set(asked, "stream", "true")
	}
	return jsonspan.Set(asked, outputCap, strconv.Itoa(maxOutput)), nil
}

// missingMark returns a cache mark, with its key, for the end of the conversation in r, as the provider reads its cache
// only at marks, and the client's has moved on to a message behind r. It copies the last one on tools or system prompt.
// It is empty if these have none, if a message of r has one, if all are used up, or if the provider marks the end.
func missingMark(r *conversation.Request) string {
	const mostMarks = 4 // that a request may have
	isMarked := func(it conversation.Item) bool { return len(it.Marks) > 0 }
	marks := gjson.GetBytes(r.Tools.Of(r.Body), "#."+marker).Array()
	marks = append(marks, gjson.GetBytes(r.System.Of(r.Body), "#."+marker).Array()...)
	n := len(marks)
	if n == 0 || n >= mostMarks || slices.ContainsFunc(r.Items, isMarked) || gjson.GetBytes(r.Body, marker).IsObject() {
		return ""
	}
	return `,"` + marker + `":` + marks[n-1].Raw
}
