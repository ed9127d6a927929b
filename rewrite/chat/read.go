// Package chat is the dialect of Chat Completions.
//
// The names of its JSON and its paths stand here and nowhere else: how a request is read and edited, what its servers
// check, how a model is asked for a summary, and what answers say. No byte outside an edit changes.
package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strconv"

	"epitome/rewrite/answer"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// Dialect implements the dialects of conversations, of the proxy and of summaries. It has no state.
type Dialect struct{ answer.OpenAI }

func (Dialect) Name() string { return "chat" }

func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	r := &conversation.Request{Dialect: d, Body: body}
	messages := func(start int) (int, error) {
		return r.ReadList(known, start, func(start int) (int, error) {
			it, err := readMessage(body, start)
			if err == nil {
				r.Items = append(r.Items, it)
			}
			return it.End, err
		})
	}
	setting := func(key []byte, v jsonspan.Span) error { return readSetting(r, string(key), v) }
	if err := conversation.ReadBody(r, "messages", messages, setting); err != nil {
		return nil, err
	}
	return r, nil
}

func readSetting(r *conversation.Request, key string, v jsonspan.Span) error {
	switch key {
	case "functions":
		return errors.New("the request has functions, which came before tools")
	case "plugins", "web_search_options":
		r.Unpriced = true
	case "response_format":
		r.Unpriced = r.Unpriced || bytes.Contains(v.Of(r.Body), []byte(`"json_schema"`))
	case "reasoning_effort":
		r.Settings = append(r.Settings, v)
	case usualCap, otherCap:
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = max(r.MaxOutput, n)
		}
	}
	return nil
}

// readMessage reads the message that begins at start.
func readMessage(body []byte, start int) (it conversation.Item, err error) {
	o, err := jsonspan.ObjectAt(body, start)
	if err != nil {
		return it, err
	}
	it.Span, it.Role, it.Name = o.Span, roles[o.Text("role")], o.Text("name")
	it.StartsAnswer = it.Role == conversation.Assistant
	it.Locked = it.Role == conversation.Unknown
	if it.Role == conversation.Tool {
		it.Answers = o.Text("tool_call_id")
	}
	if it.Content = o.Find("content"); !it.Content.Empty() {
		if it.Parts, err = readParts(body, it.Content); err != nil {
			return it, err
		}
	}
	it.Calls, err = readCalls(body, o)
	return it, err
}

var roles = map[string]conversation.Role{
	"system": conversation.System, "developer": conversation.System, "user": conversation.User,
	"assistant": conversation.Assistant, "tool": conversation.Tool,
}

// readParts reads the parts of a content. Anything but a list is one part.
func readParts(body []byte, content jsonspan.Span) (parts []conversation.Part, err error) {
	read := func(i int) (int, error) {
		p, err := readPart(body, i)
		parts = append(parts, p)
		return p.End, err
	}
	if body[content.Start] == '[' {
		_, err = jsonspan.Elements(body, content.Start, read)
	} else {
		_, err = read(content.Start)
	}
	return parts, err
}

func readPart(body []byte, i int) (p conversation.Part, err error) {
	if body[i] != '{' {
		end, err := jsonspan.EndOfValue(body, i)
		p.Span = jsonspan.Span{Start: i, End: end}
		if p.Value = p.Span; body[i] == '"' {
			p.Kind = conversation.TextPart
		}
		return p, err
	}
	o, err := jsonspan.ObjectAt(body, i)
	if err != nil {
		return p, err
	}
	p.Span = o.Span
	switch text := o.Find("text", "refusal"); {
	case !text.Empty() && body[text.Start] == '"':
		p.Kind, p.Value = conversation.TextPart, text
	case !o.Find("image_url").Empty():
		image := o.In("image_url") // Mistral also takes an address in its place
		p.Kind, p.Detail = conversation.ImagePart, image.Value("detail")
		p.Value = cmp.Or(image.Value("url"), o.Value("image_url"))
	case !o.Find("input_audio").Empty():
		audio := o.In("input_audio")
		p.Kind, p.Value, p.Detail = conversation.AudioPart, audio.Value("data"), audio.Value("format")
	case !o.Find("file").Empty():
		p.Kind, p.Value = conversation.FilePart, o.In("file").Value("file_data")
	default:
		p.Value = p.Span
	}
	return p, nil
}

// readCalls reads the calls of a message.
func readCalls(body []byte, message *jsonspan.Object) (calls []conversation.Call, err error) {
	list := message.Value("tool_calls")
	if !jsonspan.HasElements(body, list) {
		return calls, nil
	}
	_, err = jsonspan.Elements(body, list.Start, func(i int) (int, error) {
		call, err := jsonspan.ObjectAt(body, i)
		if err != nil {
			return 0, err
		}
		function := call.In("function")
		c := conversation.Call{ID: call.Text("id"), Name: function.Text("name"), Arguments: function.Value("arguments")}
		if custom := call.In("custom"); !custom.Empty() { // a tool that takes free text
			c.Name, c.Arguments, c.FreeText = custom.Text("name"), custom.Value("input"), true
		}
		calls = append(calls, c)
		return call.End, nil
	})
	return calls, err
}

// Declared reads the declarations of tools; nil if they are not as expected.
func (Dialect) Declared(tools []byte) []tokenize.Tool {
	var all []struct{ Function tokenize.Tool }
	if json.Unmarshal(tools, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		list[i] = t.Function
	}
	return list
}
