package responses

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/core/conversation"
	"epitome/core/jsonspan"
	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/reply"
	"epitome/sse"
)

// outputCap is the setting that bounds an answer.
const outputCap = "max_output_tokens"

// Path is where the API takes a conversation.
func (Dialect) Path() string { return "/v1" + pathEnd }

// Authorize returns the headers of a request that speaks for a key.
func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// dropped are settings that would keep the answer from being one plain text, or were made for another answer.
var dropped = [...]string{
	"stream", "stream_options", "background", "context_management", "truncation", "include", "max_tool_calls",
	"metadata", "top_logprobs", "tool_choice", "previous_response_id", "conversation", "prompt",
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "json_schema", "grammar",
}

// Continue puts an instruction behind the conversation in body, and asks for one plain text, of which the provider keeps
// nothing: tools stay, but none may be called.
func (Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	input := o.Value("input")
	switch {
	case !o.Find(body, "previous_response_id", "conversation", "prompt").Empty():
		return nil, errors.New("cannot continue a conversation that lies with the provider")
	case input.Empty() || body[input.Start] != '[':
		return nil, errors.New("cannot continue a conversation whose input is not a list")
	}
	end, err := readEnd(body, input)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	hasTools := end.declaresTools || jsonspan.HasElements(body, o.Value("tools"))
	o.TakeOut(dropped[:]...)
	if err := errors.Join(o.TakeOutIn(body, "text", "format"),
		o.TakeOutIn(body, "prompt_cache_options", "prewarm")); err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
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
	said := jsonspan.AddElement(body, input, appendMessage(nil, end.speaker, instruction))
	out, err := jsonspan.Splice(body, append(o.Edits(), said))
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	return out, nil
}

// end is how an input ends.
type end struct {
	speaker       string // role in which a message may follow
	declaresTools bool
}

// readEnd reads how an input ends; an error if no message may follow. The speaker is the user, unless there is encrypted
// reasoning since the user spoke: the provider would leave that out, and with it go all tokens that are cached behind.
func readEnd(body []byte, input jsonspan.Span) (end, error) {
	at := end{speaker: "user"}
	open := map[string]bool{}    // calls without an output
	calls := map[string]string{} // IDs of calls, by those of their entries
	last := unknownEntry
	_, err := jsonspan.Elements(body, input.Start, func(i int) (int, error) {
		if body[i] != '{' {
			return jsonspan.EndOfValue(body, i)
		}
		e, err := readEntry(body, i)
		switch last = e.kind; e.kind {
		case messageEntry:
			if e.role == conversation.User {
				at.speaker = "user"
			}
		case reasoningEntry:
			if e.sealed {
				at.speaker = "developer"
			}
		case toolsEntry:
			at.declaresTools = true
		case callEntry:
			open[e.callID], calls[e.id] = true, e.callID
		case outputEntry:
			delete(open, e.callID)
			if e.ownID {
				delete(open, calls[e.id])
			}
		}
		return e.End, err
	})
	switch {
	case err != nil:
		return at, err
	case len(open) > 0, last == reasoningEntry, last == triggerEntry:
		return at, errors.New("it waits for something else than a message")
	}
	return at, nil
}

// Prompt returns a request with a system prompt and a user's message. The provider keeps nothing of it.
func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	b := jsonspan.AppendQuoted([]byte(`{"model":`), model)
	b = jsonspan.AppendQuoted(append(b, `,"instructions":`...), system)
	b = append(append(append(b, `,"input":[`...), d.UserMessage(user)...), `],"store":false`...)
	if !f.OtherCap {
		b = fmt.Appendf(b, `,"%s":%d`, outputCap, f.MaxOutput)
	}
	if f.Stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
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
	if lower, ok, named := reply.LowerCap(f, refusal, highestCap); named && !f.OtherCap {
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

// CapOutput lowers the cap on the output that a request asks for to so many tokens; false for a request without a cap,
// or with a lower one.
func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return body, false
	}
	if n, err := strconv.Atoi(string(o.Value(outputCap).Of(body))); err != nil || n <= tokens || tokens <= 0 {
		return body, false
	}
	o.Set(outputCap, strconv.Itoa(tokens))
	capped, err = jsonspan.Splice(body, o.Edits())
	if err != nil {
		return body, false
	}
	return capped, true
}

// maxEvent is the most of an event, in bytes: some repeat the settings of the request, tools and all.
const maxEvent = 4 << 20

// ReadAnswer reads the text of an answer, whole or as a stream, whatever its type says. One that breaks off is
// io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	var a answer
	most := sse.Most{Document: reply.MostDocument, Event: maxEvent}
	if err := sse.ReadEither(contentType, body, most, &a); err != nil {
		return prose.Answer{}, err
	}
	a.Text = a.deltas.String()
	if a.items.Len() > 0 {
		a.Text = a.items.String()
	}
	return a.Answer, nil
}

// answer is what has been read of one. It implements sse.Hearer. Its text comes in deltas, again with each item, and
// again at the end; some servers leave out the deltas, and some the items at the end.
type answer struct {
	prose.Answer
	deltas, items strings.Builder
	isOver        bool
}

// Document reads an answer that is no stream.
func (a *answer) Document(doc []byte) error {
	v, err := reply.Parse(doc)
	if err != nil {
		return err
	}
	if !v.Get("output").IsArray() {
		a.Error = reply.Failure(doc)
		return nil
	}
	return a.finish(v, doc)
}

// Event reads one event of a stream, and reports whether it was the last one.
func (a *answer) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	step := reply.ReadStep([]byte(e.Type), data, stepOf)
	switch {
	case step == reply.ErrorStep:
		a.Error = reply.Failure(data)
		return true, nil
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return a.isOver, nil
	}
	v, err := reply.Parse(data)
	if err != nil {
		return false, err
	}
	if step == reply.EndStep {
		return true, a.finish(v.Get("response"), data)
	}
	name := v.Get("type").Str
	if name == "" {
		name = strings.TrimSpace(e.Type)
	}
	switch name {
	case textDelta:
		a.deltas.WriteString(v.Get("delta").Str)
	case refusalDelta:
		a.Refused = true
	case itemDone:
		err = a.readItem(v.Get("item"))
	}
	if a.deltas.Len() > reply.MostText {
		err = reply.ErrLongText
	}
	return false, err
}

// End is an error unless the stream said that the answer ended.
func (a *answer) End() error {
	if !a.isOver {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// finish reads an answer as it is in the end. doc is where it stands.
func (a *answer) finish(v gjson.Result, doc []byte) error {
	a.isOver = true
	used := readUsage(v.Get("usage"))
	a.Input, a.Output = max(used.Input, 0), max(used.Output, 0)
	a.Cached, a.Written = max(used.Read, 0), max(used.Write5m, 0)
	status := v.Get("status").Str
	if status == "failed" || status == "cancelled" {
		a.Error = reply.Failure(doc)
		return nil
	}
	reason := v.Get("incomplete_details.reason").Str
	a.Refused = a.Refused || reason == "content_filter"
	a.Cut = reason != "content_filter" && (reason != "" || status == "incomplete")
	items := v.Get("output").Array()
	if len(items) > 0 {
		a.items.Reset()
	}
	for _, item := range items {
		if err := a.readItem(item); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) readItem(item gjson.Result) error {
	typeName := item.Get("type").Str
	a.Called = a.Called || strings.HasSuffix(typeName, "_call")
	if typeName != "message" {
		return nil
	}
	for _, part := range item.Get("content").Array() {
		switch part.Get("type").Str {
		case "output_text":
			a.items.WriteString(part.Get("text").Str)
		case "refusal":
			a.Refused = true
		}
	}
	if a.items.Len() > reply.MostText {
		return reply.ErrLongText
	}
	return nil
}
