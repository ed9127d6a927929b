package responses

import (
	"errors"
	"fmt"
	"strconv"

	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/reply"
	"epitome/rewrite/span"
)

// This file asks a model for a text of its own.

// outputCap is the cap on what is answered.
const outputCap = "max_output_tokens"

// elsewhere are settings that name what lies with the provider.
var elsewhere = [...]string{"previous_response_id", "conversation", "prompt"}

// dropped are settings that would keep the answer from being one plain text, or were made for another answer. What
// else there is stays, as what is cached may hang on it.
var dropped = [...]string{
	"stream", "stream_options", "background", "context_management", "truncation", "include", "max_tool_calls",
	"metadata", "top_logprobs", "tool_choice",
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "json_schema", "grammar",
}

var (
	errNoList    = errors.New("the input is no list")
	errElsewhere = errors.New("what was said before lies with the provider")
	errOpen      = errors.New("the conversation waits for something else")
)

// Continue puts an instruction behind the conversation in body, as its last message, and asks for a text. Tools stay,
// and are not called; the provider keeps nothing of it.
func (Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := span.WholeObject(body)
	if err != nil {
		return nil, err
	}
	c := continuation{body: body, settings: o}
	for _, key := range elsewhere {
		if !span.UnlessNull(body, o.Value(key)).Empty() {
			return nil, errElsewhere
		}
	}
	said, err := c.say(instruction)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	if err := c.settle(f); err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	out, err := span.Splice(body, append(o.Edits(), said))
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	return out, nil
}

// continuation is the body of a client as it becomes one that asks for another text.
type continuation struct {
	body     []byte
	settings *span.Object
	hasTools bool // tools are declared among the items
	thinks   bool // there is what only the provider can read of what the model thought since the user spoke
}

// settle makes the settings those that the answer needs.
func (c *continuation) settle(f prose.Form) error {
	o := c.settings
	tools := o.Value("tools")
	o.TakeOut(dropped[:]...)
	o.TakeOut(elsewhere[:]...)
	if err := errors.Join(o.TakeOutIn(c.body, "text", "format"),
		o.TakeOutIn(c.body, "prompt_cache_options", "prewarm")); err != nil {
		return err
	}
	if c.hasTools || span.HasElements(c.body, tools) {
		o.Set("tool_choice", `"none"`)
	}
	o.Set("store", "false")
	if o.TakeOut(outputCap); !f.OtherCap {
		o.Set(outputCap, strconv.Itoa(f.MaxOutput))
	}
	if f.Stream {
		o.Set("stream", "true")
	}
	return nil
}

// Prompt returns a request with a system prompt and a user's message. The provider keeps nothing of it.
func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	b := span.AppendQuoted([]byte(`{"model":`), model)
	b = span.AppendQuoted(append(b, `,"instructions":`...), system)
	b = append(append(append(b, `,"input":[`...), d.Message(conversation.User, user)...), `],"store":false`...)
	if !f.OtherCap {
		b = strconv.AppendInt(append(b, `,"`+outputCap+`":`...), int64(f.MaxOutput), 10)
	}
	if f.Stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
}

// Complaints about the form of a request.
var (
	mostOutput = pattern.Of(outputCap + `\b[^<>]*<= ?([0-9]+)\b`)
	noCap      = pattern.Of(`(?i)\b(?:unsupported|unknown|unrecognized|not supported)\b[^.]*\b` + outputCap + `\b|` +
		`\b` + outputCap + `\b[^.]*\b(?:unsupported|unknown|unrecognized|not supported)\b`)
)

// Adapt returns another form to ask in after a provider has refused f; ok is false if f is not what it complains of.
// Some take no cap at all.
func (Dialect) Adapt(f prose.Form, refusal []byte) (other prose.Form, ok bool) {
	if lower, ok, named := reply.LowerCap(f, refusal, mostOutput); named && !f.OtherCap {
		return lower, ok
	}
	switch {
	case !f.OtherCap && noCap.Match(refusal):
		f.OtherCap = true
	case reply.WantsStream(f, refusal):
		f.Stream = true
	default:
		return f, false
	}
	return f, true
}

// CapOutput lowers the cap on the output that a request asks for to so many tokens. ok is false for a request without
// a cap, or with a lower one: it is as it was.
func (Wire) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := span.WholeObject(body)
	if err != nil {
		return body, false
	}
	if n, err := strconv.Atoi(string(o.Value(outputCap).Of(body))); err != nil || n <= tokens || tokens <= 0 {
		return body, false
	}
	o.Set(outputCap, strconv.Itoa(tokens))
	out, err := span.Splice(body, o.Edits())
	if err != nil {
		return body, false
	}
	return out, true
}
