// Package chat is the dialect of Chat Completions. The API's paths and JSON names appear here and nowhere else.
// No byte outside an edit changes.
package chat

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

// Dialect implements conversation.Dialect. It has no state.
type Dialect struct{ answer.OpenAI }

func (Dialect) Name() string { return "chat" }

// Read parses body. To save time it copies items at the start of the list that known has too, byte for byte.
func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	r := &conversation.Request{Dialect: d, Body: body}
	addMessage := func(o *jsonspan.Object) error {
		it, err := readMessage(r, o)
		r.Items = append(r.Items, it)
		return err
	}
	readMessages := func(start int) (end int, err error) { return r.ReadList(known, start, addMessage) }
	setting := func(key []byte, v jsonspan.Span) error { return readSetting(r, string(key), v) }
	if err := conversation.ReadBody(r, "messages", readMessages, setting); err != nil {
		return nil, err
	}
	return r, nil
}

// readSetting reads a key of the body that other APIs do not have. After an error the request is sent unchanged.
func readSetting(r *conversation.Request, key string, v jsonspan.Span) error {
	switch key {
	case "functions":
		return errors.New("the request has functions, which came before tools")
	case "plugins", "web_search_options": // the provider adds tokens that cannot be counted here
		r.Unpriced = true
	case "response_format": // a JSON schema is such an addition
		r.Unpriced = r.Unpriced || bytes.Contains(v.Of(r.Body), []byte(`"json_schema"`))
	case "reasoning_effort": // the provider's cache depends on it
		r.Settings = append(r.Settings, v)
	case usualCap, otherCap:
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = max(r.MaxOutput, n)
		}
	}
	return nil
}

// readMessage reads a message as one item.
func readMessage(r *conversation.Request, o *jsonspan.Object) (it conversation.Item, err error) {
	it.Span, it.Role, it.Name = o.Span, roles[o.Text("role")], o.Text("name")
	it.StartsAnswer = it.Role == conversation.Assistant // in this API each answer is one message
	it.Locked = it.Role == conversation.Unknown         // who speaks in it is not known, so it is never changed
	switch it.Role {
	case conversation.Tool:
		it.Answers = o.Text("tool_call_id")
	case conversation.Assistant:
		it.Reasoning = readReasoning(r.Body, o)
	}
	addPart := func(it *conversation.Item, part *jsonspan.Object) {
		it.Parts = append(it.Parts, readPart(r.Body, part))
	}
	if err = r.ReadContent(&it, o.Find("content"), addPart); err == nil {
		it.Calls, err = readCalls(r.Body, o)
	}
	return it, err
}

var roles = map[string]conversation.Role{
	"system": conversation.System, "developer": conversation.System, "user": conversation.User,
	"assistant": conversation.Assistant, "tool": conversation.Tool,
}

// readPart reads an element of a content. One of no known kind is counted as it is written.
func readPart(body []byte, o *jsonspan.Object) conversation.Part {
	p := conversation.Part{Span: o.Span, Value: o.Span}
	switch text := o.Find("text", "refusal"); {
	case !text.Empty() && body[text.Start] == '"':
		p.Kind, p.Value = conversation.TextPart, text
	case !o.Find("image_url").Empty():
		image := o.In("image_url") // has no keys where the value is a string, which Mistral takes as the address
		p.Kind, p.Detail = conversation.ImagePart, image.Value("detail")
		p.Value = cmp.Or(image.Value("url"), o.Value("image_url"))
		p.IsAddress = !bytes.HasPrefix(p.Value.Of(body), []byte(`"data:`))
	case !o.Find("input_audio").Empty():
		audio := o.In("input_audio")
		p.Kind, p.Value, p.Detail = conversation.AudioPart, audio.Value("data"), audio.Value("format")
	case !o.Find("file").Empty():
		p.Kind, p.Value, p.Title = conversation.FilePart, o.In("file").Value("file_data"), o.In("file").Find("filename")
	}
	return p
}

// readReasoning reads the reasoning beside an answer. Servers name it differently, and some repeat it as blocks.
func readReasoning(body []byte, message *jsonspan.Object) (list []conversation.Thought) {
	blocks := message.Find("reasoning_details", "thinking_blocks")
	switch text := message.Find("reasoning_content", "reasoning"); {
	case jsonspan.HasElements(body, blocks): // the text is in them
	case text.Empty(): // as in most messages
		return nil
	default:
		return []conversation.Thought{{Text: text}}
	}
	_, err := jsonspan.Objects(body, blocks.Start+1, func(o *jsonspan.Object) error {
		text, sealed := o.Find("text", "summary", "thinking"), o.Find("data", "signature")
		list = append(list, conversation.Thought{Text: text, Sealed: sealed})
		return nil
	})
	if err != nil { // of no known form: counted as it is written
		return []conversation.Thought{{Text: blocks}}
	}
	return list
}

func readCalls(body []byte, message *jsonspan.Object) (calls []conversation.Call, err error) {
	list := message.Value("tool_calls")
	if !jsonspan.HasElements(body, list) {
		return calls, nil
	}
	_, err = jsonspan.Objects(body, list.Start+1, func(call *jsonspan.Object) error {
		function := call.In("function")
		c := conversation.Call{ID: call.Text("id"), Name: function.Text("name"), Arguments: function.Value("arguments")}
		if custom := call.In("custom"); !custom.Empty() { // a tool that takes free text
			c.Name, c.Arguments, c.FreeText = custom.Text("name"), custom.Value("input"), true
		}
		calls = append(calls, c)
		return nil
	})
	return calls, err
}
