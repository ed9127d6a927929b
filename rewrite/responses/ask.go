package responses

import (
	"errors"
	"fmt"
	"strconv"

	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/answer"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// outputCap is the setting that bounds an answer.
const outputCap = "max_output_tokens"

func (Dialect) Path() string { return "/v1" + pathEnd }

func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// dropped are settings that would keep the answer from being one plain text, or were made for another answer.
var dropped = [...]string{
	"stream", "stream_options", "background", "context_management", "truncation", "include", "max_tool_calls",
	"metadata", "top_logprobs", "tool_choice", "previous_response_id", "conversation", "prompt",
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "json_schema", "grammar",
}

// Continue puts an instruction behind the conversation in body, and asks for one plain text: tools stay, but none may be
// called, and the provider keeps nothing of it.
func (Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	input := o.Value("input")
	switch {
	case !o.Find("previous_response_id", "conversation", "prompt").Empty():
		return nil, errors.New("cannot continue a conversation that lies with the provider")
	case input.Empty() || body[input.Start] != '[':
		return nil, errors.New("cannot continue a conversation whose input is not a list")
	}
	speaker, hasTools, err := readEnd(body, input)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	hasTools = hasTools || jsonspan.HasElements(body, o.Value("tools"))
	o.TakeOut(dropped[:]...)
	o.In("text").TakeOut("format")
	o.In("prompt_cache_options").TakeOut("prewarm")
	if hasTools {
		o.Set("tool_choice", `"none"`)
	}
	o.Set("store", "false")
	if f.OtherCap {
		o.TakeOut(outputCap)
	} else {
		o.Set(outputCap, strconv.Itoa(f.MaxOutput))
	}
	if f.Stream {
		o.Set("stream", "true")
	}
	said := jsonspan.AddElement(body, input, message(speaker, instruction))
	out, err := jsonspan.Splice(body, append(o.Edits(), said))
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	return out, nil
}

// readEnd returns the role of a message that may follow the input, and whether the input declares tools. It is an error
// if no message may follow. After encrypted reasoning the role is the developer's: once the user speaks, the provider
// leaves that reasoning out, and all tokens behind it miss the cache.
func readEnd(body []byte, input jsonspan.Span) (role string, hasTools bool, err error) {
	for _, flaw := range (Dialect{}).Flaws(&conversation.Request{Body: body}) {
		if flaw.Rule == conversation.RuleUnanswered || flaw.Rule == conversation.RuleReasoning {
			return "", false, errors.New(flaw.Rule)
		}
	}
	role = "user"
	_, err = jsonspan.Elements(body, input.Start, func(i int) (int, error) {
		e, err := readEntry(body, i)
		switch {
		case e.kind == messageEntry && e.role == conversation.User:
			role = "user"
		case e.kind == reasoningEntry && e.sealed:
			role = "developer"
		case e.kind == toolsEntry:
			hasTools = true
		case e.kind == triggerEntry:
			err = errors.New("a compaction was asked for")
		}
		return e.End, err
	})
	return role, hasTools, err
}

func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	settings := ""
	if !f.OtherCap {
		settings = fmt.Sprintf(`,"%s":%d`, outputCap, f.MaxOutput)
	}
	if f.Stream {
		settings += `,"stream":true`
	}
	return fmt.Appendf(nil, `{"model":%s,"instructions":%s,"input":[%s],"store":false%s}`, jsonspan.Quoted(model),
		jsonspan.Quoted(system), d.UserMessage(user), settings)
}

// Refusals of a form.
var (
	highestCap = pattern.Of(outputCap + `\b[^<>]*<= ?([0-9]+)\b`)
	noCap      = pattern.Of(`(?i)\b(?:unsupported|unknown|unrecognized|not supported)\b[^.]*\b` + outputCap + `\b|` +
		`\b` + outputCap + `\b[^.]*\b(?:unsupported|unknown|unrecognized|not supported)\b`)
)

// Adapt returns another form to ask in after a provider has refused f; false if f is not what it complains of. A form
// with another cap has none here.
func (Dialect) Adapt(f prose.Form, refusal []byte) (other prose.Form, ok bool) {
	if !f.OtherCap && noCap.Match(refusal) {
		f.OtherCap = true
		return f, true
	}
	return answer.Adapt(f, refusal, highestCap)
}

func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	return conversation.CapOutput(body, tokens, outputCap)
}
