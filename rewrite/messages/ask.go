package messages

import (
	"bytes"
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

// leastBudget is how many tokens a model must be given to think at least, if it is given any.
const leastBudget = 1024

// dropped are settings that would keep the answer from being one plain text, or were made for another answer. What else
// there is stays: other tools, another choice among them or another way to think would cost all that is cached of the
// messages.
var dropped = [...]string{"stream", "stop_sequences", "output_format", "fallbacks", "diagnostics", "thread", "compaction"}

var (
	errNoMessages = errors.New("the body has no messages")
	errForced     = errors.New("the request has the model call a tool")
	errOpen       = errors.New("the last message calls tools whose results are not there")
	errOdd        = errors.New("the last message cannot be read")
)

// Continue puts an instruction behind the conversation in body, as the user's last text, and asks for a text. Of tools,
// thinking and what else the cache hangs on nothing changes; where the client has the provider keep a cache, the end of
// the conversation is marked for it.
func (Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := span.WholeObject(body)
	if err != nil {
		return nil, err
	}
	c := continuation{body: body, settings: o}
	if err := c.settle(f); err != nil {
		return nil, err
	}
	said, err := c.say(instruction)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	out, err := span.Splice(body, append(o.Edits(), said...))
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	return out, nil
}

// continuation is the body of a client as it becomes one that asks for another text.
type continuation struct {
	body     []byte
	settings *span.Object
}

// settle makes the settings those that the answer needs.
func (c *continuation) settle(f prose.Form) error {
	if choice := c.memberOf("tool_choice", "type"); choice == `"any"` || choice == `"tool"` {
		return errForced
	}
	c.settings.TakeOut(dropped[:]...)
	if err := c.takeOutFormat(); err != nil {
		return err
	}
	c.settings.Set("max_tokens", strconv.Itoa(c.outputCap(f.MaxOutput)))
	if f.Stream {
		c.settings.Set("stream", "true")
	}
	return nil
}

// memberOf is a value in a setting that is an object, as it is written; empty if there is none.
func (c *continuation) memberOf(setting, key string) string {
	v := c.settings.Value(setting)
	o, err := span.ObjectAt(c.body[:v.End], v.Start)
	if err != nil {
		return ""
	}
	return string(o.Value(key).Of(c.body))
}

// takeOutFormat leaves of the settings of the output all but its form.
func (c *continuation) takeOutFormat() error {
	const key = "output_config"
	if c.memberOf(key, "format") == "" { // or it cannot be read
		return nil
	}
	return c.settings.TakeOutIn(c.body, key, "format")
}

// outputCap is the cap on the output under which so many tokens are left for the answer. What the model is given to
// think with comes on top of them, but the cap does not rise above the client's own then: the model may take no more.
func (c *continuation) outputCap(tokens int) int {
	own := numberOf(c.settings.Value("max_tokens").Of(c.body))
	budget := c.budget()
	if budget == 0 {
		return tokens
	}
	if own > 0 {
		return min(budget+tokens, own)
	}
	return budget + tokens
}

// budget is how many tokens the model is given to think; 0 if that is not said.
func (c *continuation) budget() int {
	if c.memberOf("thinking", "type") != `"enabled"` {
		return 0
	}
	return numberOf([]byte(c.memberOf("thinking", "budget_tokens")))
}

// numberOf is a whole number above nothing; 0 if v is no such number.
func numberOf(v []byte) int {
	n, err := strconv.Atoi(string(v))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// Prompt returns a request with a system prompt and a user's message.
func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	b := span.AppendQuoted([]byte(`{"model":`), model)
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(f.MaxOutput), 10)
	b = span.AppendQuoted(append(b, `,"system":`...), system)
	b = append(append(append(b, `,"messages":[`...), d.Message(conversation.User, user)...), ']')
	if f.Stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
}

// mostOutput is how a cap on the output is refused that is too high.
var mostOutput = pattern.Of(`max_tokens: [0-9]+ > ([0-9]+)\b`)

// Adapt returns another form to ask in after a provider has refused f; ok is false if f is not what it complains of.
func (Dialect) Adapt(f prose.Form, refusal []byte) (other prose.Form, ok bool) {
	if lower, ok, named := reply.LowerCap(f, refusal, mostOutput); named {
		return lower, ok
	}
	if !reply.WantsStream(f, refusal) {
		return f, false
	}
	f.Stream = true
	return f, true
}

// CapOutput lowers the cap on the output that a request asks for to so many tokens, and with it what the model is
// given to think, where that no longer fits below: then as much is left for the answer as the client left, if it can
// be. ok is false for a request without a cap, with a lower one, or whose model could not think any more: it is as it
// was.
func (Wire) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := span.WholeObject(body)
	if err != nil {
		return body, false
	}
	c := continuation{body: body, settings: o}
	own, budget := numberOf(o.Value("max_tokens").Of(body)), c.budget()
	if own <= tokens || tokens <= 0 {
		return body, false
	}
	o.Set("max_tokens", strconv.Itoa(tokens))
	edits := o.Edits()
	if budget >= tokens && budget < own { // a higher one is legal where the model thinks between calls
		if tokens <= leastBudget {
			return body, false
		}
		thinking, err := span.ObjectAt(body, o.Value("thinking").Start)
		if err != nil {
			return body, false
		}
		thinking.Set("budget_tokens", strconv.Itoa(max(tokens-(own-budget), leastBudget)))
		edits = append(edits, thinking.Edits()...)
	}
	out, err := span.Splice(body, edits)
	if err != nil {
		return body, false
	}
	return out, true
}

// isOpen reports whether a message of the model calls anything that has no result in it.
func isOpen(blocks []block) bool {
	open := map[string]bool{}
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.kind == callBlock:
			return true
		case b.answers:
			delete(open, b.id)
		case b.kind == serverBlock && b.id != "":
			open[b.id] = true
		}
	}
	return len(open) > 0
}

// isText reports whether a value is a string that says something.
func isText(v []byte) bool { return bytes.HasPrefix(v, []byte(`"`)) && !isBlank(v) }
