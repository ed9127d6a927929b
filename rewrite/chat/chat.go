// Package chat is the dialect of Chat Completions.
//
// The names of its JSON stand here and nowhere else: how a request is read and edited, what a server checks, how a
// model is asked for a text, and what its answers say. It promises that no byte outside an edit changes.
package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/reply"
	"epitome/rewrite/span"
	"epitome/sse"
)

// Dialect is the dialect of Chat Completions. Its JSON names stand in the files of this dialect alone.
type Dialect struct{}

// contentKey is where what an item says stands.
const contentKey = "content"

// Read reads a chat-completions request in one pass. An error says why the body is better left alone; it quotes
// nothing of it.
func Read(body []byte) (*conversation.Request, error) { return Dialect{}.Read(body, nil) }

// Key is empty: what was recorded before there were other dialects stays found.
func (Dialect) Key() string { return "" }

// Read reads a request in one pass. known may have seen the beginning behind its head; nil if nobody has.
func (d Dialect) Read(body []byte, known conversation.Recall) (*conversation.Request, error) {
	r := &conversation.Request{Body: body, Dialect: d}
	messages := func(i int) (int, error) {
		if err := span.Want(body, i, '[', errNoList); err != nil {
			return 0, err
		}
		return span.Elements(body, i, func(i int) (int, error) { return readOrRecall(r, i, known) })
	}
	if err := conversation.ReadBody(r, "messages", messages, readSetting); err != nil {
		return nil, err
	}
	conversation.MarkEnds(r)
	return r, nil
}

// Values that are JSON, and not what the API has in their place.
var (
	errNoList    = errors.New("messages is not a list")
	errNoMessage = errors.New("it is not an object")
)

// readSetting takes what stands beside the messages.
func readSetting(r *conversation.Request, key []byte, v span.Span) error {
	switch string(key) {
	case "model":
		return readText(r.Body, v, &r.Model)
	case "tools":
		r.Tools = span.UnlessNull(r.Body, v)
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "functions", "plugins", "web_search_options":
		r.Opaque = r.Opaque || !span.UnlessNull(r.Body, v).Empty()
	case "response_format":
		r.Opaque = r.Opaque || bytes.Contains(v.Of(r.Body), []byte(`"json_schema"`))
	case "tool_choice", "reasoning_effort":
		r.Settings = append(r.Settings, v)
	case "max_tokens", "max_completion_tokens":
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = max(r.MaxOutput, n)
		}
	}
	return nil
}

// readOrRecall reads an item; at the first one behind the head it takes all that is known from there on.
func readOrRecall(r *conversation.Request, i int, known conversation.Recall) (int, error) {
	if err := conversation.CheckRoom(r); err != nil {
		return 0, err
	}
	end, err := readItem(r, i)
	n := len(r.Items) - 1
	if err != nil || known == nil || r.Items[n].Role == conversation.System ||
		n > 0 && r.Items[n-1].Role != conversation.System {
		return end, err
	}
	if items, stop := known(r.Body, i, r.Items[:n:n]); len(items) > n {
		r.Items, end = items, stop
	}
	return end, nil
}

func readItem(r *conversation.Request, i int) (int, error) {
	if err := span.Want(r.Body, i, '{', errNoMessage); err != nil {
		return 0, fmt.Errorf("message %d: %w", len(r.Items), err)
	}
	it := conversation.Item{}
	end, err := span.Members(r.Body, i, func(key []byte, i int) (int, error) {
		if string(key) == "tool_calls" && r.Body[i] == '[' {
			return span.Elements(r.Body, i, func(i int) (int, error) { return readCall(r.Body, &it, i) })
		}
		end, err := span.EndOfValue(r.Body, i)
		if err != nil {
			return 0, err
		}
		return end, readField(r.Body, &it, string(key), span.Span{Start: i, End: end})
	})
	if err != nil {
		return 0, fmt.Errorf("message %d: %w", len(r.Items), err)
	}
	it.Span = span.Span{Start: i, End: end}
	it.Begins = it.Role == conversation.Assistant
	nameLegacy(&it)
	r.Items = append(r.Items, it)
	return end, nil
}

// nameLegacy gives the call and the result of a legacy function, which have no ids, one that is made of the function's
// name.
func nameLegacy(it *conversation.Item) {
	if !it.Legacy {
		return
	}
	const prefix = "function "
	for k := range it.Calls {
		if c := &it.Calls[k]; c.ID == "" {
			c.ID = prefix + c.Name
		}
	}
	if it.Role == conversation.Tool && it.Answers == "" {
		it.Answers = prefix + it.Name
	}
}

func readField(body []byte, it *conversation.Item, key string, v span.Span) error {
	switch key {
	case "role":
		it.Role, it.Legacy = roleOf(v.Of(body)), it.Legacy || string(v.Of(body)) == `"function"`
	case contentKey:
		it.Content = span.UnlessNull(body, v)
	case "reasoning_content", "reasoning", "reasoning_text", "thinking":
		if body[v.Start] == '"' && v.End-v.Start > it.Thoughts.End-it.Thoughts.Start {
			it.Thoughts = v
		}
	case "name":
		return readText(body, v, &it.Name)
	case "tool_call_id":
		return readText(body, v, &it.Answers)
	case "function_call":
		if span.UnlessNull(body, v).Empty() {
			return nil
		}
		it.Legacy = true
		c := conversation.Call{Span: v}
		_, err := readFunction(body, &c, v.Start, "arguments")
		it.Calls = append(it.Calls, c)
		return err
	}
	return nil
}

// roleOf reads a role with its quotes.
func roleOf(role []byte) conversation.Role {
	switch string(role) {
	case `"system"`, `"developer"`:
		return conversation.System
	case `"user"`:
		return conversation.User
	case `"assistant"`:
		return conversation.Assistant
	case `"tool"`, `"function"`:
		return conversation.Tool
	}
	return conversation.Unknown
}

func readCall(body []byte, it *conversation.Item, i int) (int, error) {
	c := conversation.Call{}
	end, err := span.Members(body, i, func(key []byte, i int) (int, error) {
		switch string(key) {
		case "function":
			return readFunction(body, &c, i, "arguments")
		case "custom": // a tool that takes free text
			c.FreeText = true
			return readFunction(body, &c, i, "input")
		}
		end, err := span.EndOfValue(body, i)
		if err == nil && string(key) == "id" {
			err = readText(body, span.Span{Start: i, End: end}, &c.ID)
		}
		return end, err
	})
	c.Span = span.Span{Start: i, End: end}
	it.Calls = append(it.Calls, c)
	return end, err
}

// readFunction reads what is called and with what, which stands under the key input.
func readFunction(body []byte, c *conversation.Call, i int, input string) (int, error) {
	return span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "name":
			err = readText(body, span.Span{Start: i, End: end}, &c.Name)
		case input:
			c.Arguments = span.Span{Start: i, End: end}
		}
		return end, err
	})
}

// Digest is a sum of an item's message, as Moves and SoleText say.
func (d Dialect) Digest(body []byte, it *conversation.Item) (span.Sum, error) {
	_, sum, err := span.Digest(body, it.Start, d)
	return sum, err
}

// Moves says which keys of an item, or of something so deep in it, change or go by themselves while the conversation
// stays the same, so that no link covers them: marks for a provider's cache, and reasoning, which clients send back or
// leave out as they like.
func (Dialect) Moves(key []byte, depth int) bool {
	const part = 2 // of a content, or a call
	switch string(key) {
	case "cache_control":
		return depth <= part
	case "reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking":
		return depth == 0
	}
	return false
}

// SoleText returns the text of an item's content that is a list of this text alone, and where the list ends. Some
// clients send the newest messages so, to mark them for the provider's cache, and older ones as plain texts.
func (Dialect) SoleText(body, key []byte, i int) (text span.Span, end int) {
	if string(key) != contentKey {
		return text, 0
	}
	return span.SoleText(body, i, plainText)
}

// plainText is the text of the part that begins at body[i], if it says no more than that; and where the part ends.
func plainText(body []byte, i int) (end int, text span.Span, err error) {
	if body[i] != '{' {
		end, err = span.EndOfValue(body, i)
		return end, text, err
	}
	plain := true
	end, err = span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		switch {
		case err != nil:
		case string(key) == "text" && body[i] == '"':
			text = span.Span{Start: i, End: end}
		case string(key) == "type":
			plain = plain && string(body[i:end]) == `"text"`
		default:
			plain = plain && string(key) == "cache_control"
		}
		return end, err
	})
	if !plain {
		text = span.Span{}
	}
	return end, text, err
}

// AppendParts appends the parts of an item's content: a string is one part of text. What is none of the known kinds is
// one too, as it stands.
func (Dialect) AppendParts(dst []conversation.Part, body []byte, content span.Span) ([]conversation.Part, error) {
	if content.Empty() {
		return dst, nil
	}
	if body[content.Start] != '[' {
		return append(dst, conversation.Part{Kind: conversation.TextPart, Value: content}), nil
	}
	_, err := span.Elements(body, content.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		p := conversation.Part{Kind: conversation.OtherPart, Value: span.Span{Start: i, End: end}}
		if body[i] == '{' {
			err = readPart(body, &p, i)
		}
		dst = append(dst, p)
		return end, err
	})
	return dst, err
}

func readPart(body []byte, p *conversation.Part, i int) error {
	_, err := span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		v := span.Span{Start: i, End: end}
		switch string(key) {
		case "text", "refusal":
			p.Kind, p.Value = conversation.TextPart, v
		case "image_url":
			p.Kind = conversation.ImagePart
			return end, errors.Join(err, fields(body, v, map[string]*span.Span{"url": &p.Value, "detail": &p.Detail}))
		case "input_audio":
			p.Kind = conversation.AudioPart
			return end, errors.Join(err, fields(body, v, map[string]*span.Span{"data": &p.Value, "format": &p.Detail}))
		case "file":
			p.Kind = conversation.FilePart
			return end, errors.Join(err, fields(body, v, map[string]*span.Span{"file_data": &p.Value}))
		}
		return end, err
	})
	return err
}

// fields finds the values of some keys of an object; anything else than an object has none.
func fields(body []byte, at span.Span, to map[string]*span.Span) error {
	if at.Empty() || body[at.Start] != '{' {
		return nil
	}
	_, err := span.Members(body, at.Start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if v := to[string(key)]; v != nil {
			*v = span.Span{Start: i, End: end}
		}
		return end, err
	})
	return err
}

// readText reads a short string. One that is null or of another kind is no string: it is left empty.
func readText(body []byte, v span.Span, to *string) (err error) {
	*to, err = span.ShortText(v.Of(body))
	return err
}

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text: tools
// stay, but none may be called. Every other byte stays as it is.
func (Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := span.WholeObject(body)
	if err != nil {
		return nil, err
	}
	messages := o.Value("messages")
	if messages.Empty() || body[messages.Start] != '[' {
		return nil, errors.New("the body has no messages")
	}
	settle(o, body, f)
	said := span.AddElement(body, messages, Dialect{}.Message(conversation.User, instruction))
	out, err := span.Splice(body, append(o.Edits(), said))
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	return out, nil
}

// Prompt returns a request with a system prompt and a user's message.
func (Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	name := usualCap
	if f.OtherCap {
		name = otherCap
	}
	b := span.AppendQuoted([]byte(`{"model":`), model)
	b = append(b, `,"messages":[`+chatMessage(conversation.System, system)+`,`+chatMessage(conversation.User, user)+`],"`+name+`":`...)
	b = strconv.AppendInt(b, int64(f.MaxOutput), 10)
	if f.Stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
}

// Adapt returns another form to ask in after a provider has refused f; ok is false if f is not what it complains of.
func (Dialect) Adapt(f prose.Form, refusal []byte) (other prose.Form, ok bool) {
	switch {
	case !f.OtherCap && (bytes.Contains(refusal, []byte(usualCap)) || bytes.Contains(refusal, []byte(otherCap))):
		f.OtherCap = true
	case reply.WantsStream(f, refusal):
		f.Stream = true
	default:
		return f, false
	}
	return f, true
}

// ReadAnswer reads an answer, whole or as a stream, whatever its type says. One that breaks off is io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	var s speech
	most := sse.Most{Document: reply.MostDocument, Event: mostEvent}
	if err := sse.ReadEither(contentType, body, most, &s); err != nil {
		return prose.Answer{}, err
	}
	return s.answer(), nil
}

// Flaws returns all rules that the conversation breaks. Calls of the last message may be unanswered: the client may be
// about to ask for more than their results.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	var c checker
	for i := range r.Items {
		c.item(r, i)
	}
	c.close(false)
	return c.flaws
}
