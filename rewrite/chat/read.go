// Package chat is the dialect of Chat Completions. The API's paths and JSON names appear here and nowhere else.
// No byte outside an edit changes.
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

// Dialect implements conversation.Dialect, proxy.Dialect and summarize.Dialect. It has no state.
type Dialect struct{ answer.OpenAI }

func (Dialect) Name() string { return "chat" }

// Read parses body. To save time it copies items at the start of the list that known has too, byte for byte.
func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	r := &conversation.Request{Dialect: d, Body: body}
	addMessage := func(o *jsonspan.Object) error {
		it, err := readMessage(body, o)
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
func readMessage(body []byte, o *jsonspan.Object) (it conversation.Item, err error) {
	it.Span, it.Role, it.Name = o.Span, roles[o.Text("role")], o.Text("name")
	it.StartsAnswer = it.Role == conversation.Assistant // in this API each answer is one message
	it.Locked = it.Role == conversation.Unknown         // who speaks in it is not known, so it is never changed
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

// readParts reads the parts of a content: of a list its elements, of any other value one part.
func readParts(body []byte, content jsonspan.Span) (parts []conversation.Part, err error) {
	read := func(start int) (end int, err error) {
		p, err := readPart(body, start)
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

// readPart reads the part that begins at body[start]. A part of no known kind is counted as it is written.
func readPart(body []byte, start int) (p conversation.Part, err error) {
	if body[start] != '{' { // a string is a text, anything else of no known kind
		end, err := jsonspan.EndOfValue(body, start)
		p.Span = jsonspan.Span{Start: start, End: end}
		if p.Value = p.Span; body[start] == '"' {
			p.Kind = conversation.TextPart
		}
		return p, err
	}
	o, err := jsonspan.ObjectAt(body, start)
	if err != nil {
		return p, err
	}
	p.Span = o.Span
	switch text := o.Find("text", "refusal"); {
	case !text.Empty() && body[text.Start] == '"':
		p.Kind, p.Value = conversation.TextPart, text
	case !o.Find("image_url").Empty():
		image := o.In("image_url") // has no keys where the value is a string, which Mistral takes as the address
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

// Declared reads the declarations of tools. If they have another form it returns nil: they are counted as written.
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
