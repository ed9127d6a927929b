// Package chat is the dialect of Chat Completions.
//
// The names of its JSON and its paths stand here and nowhere else: how a request is read and edited, what its servers
// check, how a model is asked for a summary, and what answers say. No byte outside an edit changes.
package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/core/conversation"
	"epitome/core/jsonspan"
	"epitome/tokenize"
)

// Dialect implements the dialects of conversations, of the proxy and of summaries. It has no state.
type Dialect struct{}

func (Dialect) Name() string { return "chat" }

func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	r := &conversation.Request{Dialect: d, Body: body}
	messages := func(start int) (int, error) {
		if body[start] != '[' {
			return 0, errors.New("messages is not a list")
		}
		r.List = start + 1
		items, next := conversation.Reuse(known, body, r.List)
		r.Items = items
		return jsonspan.ElementsFrom(body, next, func(start int) (int, error) {
			it, err := readMessage(body, start)
			if err != nil {
				return 0, fmt.Errorf("cannot read message %d: %w", len(r.Items), err)
			}
			r.Items = append(r.Items, it)
			return it.End, nil
		})
	}
	setting := func(key []byte, v jsonspan.Span) error { return readSetting(r, string(key), v) }
	if err := conversation.ReadBody(r, "messages", messages, setting); err != nil {
		return nil, err
	}
	if conversation.AsksForSummary(r) {
		r.Upkeep = conversation.ClientSummarizes
	}
	isOther := func(p conversation.Part) bool { return p.Kind == conversation.OtherPart }
	r.Unpriced = r.Unpriced || slices.ContainsFunc(r.Items, func(it conversation.Item) bool {
		return slices.ContainsFunc(it.Parts, isOther)
	})
	return r, nil
}

func readSetting(r *conversation.Request, key string, v jsonspan.Span) (err error) {
	switch key {
	case "model":
		r.Model, err = jsonspan.ShortText(v.Of(r.Body))
	case "tools":
		r.Tools = jsonspan.UnlessNull(r.Body, v)
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "functions", "plugins", "web_search_options":
		r.Unpriced = r.Unpriced || !jsonspan.UnlessNull(r.Body, v).Empty()
	case "response_format":
		r.Unpriced = r.Unpriced || bytes.Contains(v.Of(r.Body), []byte(`"json_schema"`))
	case "tool_choice", "reasoning_effort":
		r.Settings = append(r.Settings, v)
	case usualCap, otherCap:
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = max(r.MaxOutput, n)
		}
	}
	return err
}

// readMessage reads the message that begins at start.
func readMessage(body []byte, start int) (it conversation.Item, err error) {
	if body[start] != '{' {
		return it, errors.New("it is not an object")
	}
	it.Start = start
	it.End, err = jsonspan.Members(body, start, func(key []byte, i int) (int, error) {
		end, err := jsonspan.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		return end, readField(body, &it, string(key), jsonspan.Span{Start: i, End: end})
	})
	if err != nil {
		return it, err
	}
	if it.Role == conversation.Tool && it.Answers == "" && it.Name != "" {
		it.Answers = functionID(it.Name)
	}
	it.StartsAnswer = it.Role == conversation.Assistant
	it.Locked = it.Role == conversation.Unknown
	it.Hash, err = hash(body, &it)
	return it, err
}

// functionID is the ID of a call of a function and of its result, as they were before there were tools: they have none
// of their own.
func functionID(name string) string { return "function " + name }

// roles are those of the API, with their quotes.
var roles = map[string]conversation.Role{
	`"system"`: conversation.System, `"developer"`: conversation.System, `"user"`: conversation.User,
	`"assistant"`: conversation.Assistant, `"tool"`: conversation.Tool, `"function"`: conversation.Tool,
}

// readField reads a value of a message.
func readField(body []byte, it *conversation.Item, key string, v jsonspan.Span) (err error) {
	switch key {
	case "role":
		it.Role = roles[string(v.Of(body))]
	case "name":
		it.Name, err = jsonspan.ShortText(v.Of(body))
	case "tool_call_id":
		it.Answers, err = jsonspan.ShortText(v.Of(body))
	case "content":
		readContent(body, it, jsonspan.UnlessNull(body, v))
	case "tool_calls":
		readCalls(body, it, v)
	case "function_call":
		if body[v.Start] == '{' {
			c := readFunction(jsonspan.Parse(body, v), "arguments")
			c.ID = functionID(c.Name)
			it.Calls = append(it.Calls, c)
		}
	case "reasoning", "reasoning_content", "reasoning_text", "thinking":
		if body[v.Start] == '"' && v.End-v.Start > it.Reasoning.End-it.Reasoning.Start {
			it.Reasoning = v
		}
	}
	return err
}

func readContent(body []byte, it *conversation.Item, v jsonspan.Span) {
	it.Content = v
	switch {
	case v.Empty():
	case body[v.Start] == '"':
		it.Parts = []conversation.Part{{Span: v, Kind: conversation.TextPart, Value: v}}
	case body[v.Start] == '[':
		jsonspan.Parse(body, v).ForEach(func(_, part gjson.Result) bool {
			it.Parts = append(it.Parts, readPart(part))
			return true
		})
	default:
		it.Parts = []conversation.Part{{Span: v, Value: v}}
	}
}

func readPart(part gjson.Result) conversation.Part {
	p := conversation.Part{Span: jsonspan.SpanOf(part)}
	p.Value = p.Span
	if part.Type == gjson.String {
		p.Kind = conversation.TextPart
	}
	part.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "text", "refusal":
			if v.Type == gjson.String {
				p.Kind, p.Value = conversation.TextPart, jsonspan.SpanOf(v)
			}
		case "image_url":
			p.Kind = conversation.ImagePart
			p.Value, p.Detail = jsonspan.SpanOf(v.Get("url")), jsonspan.SpanOf(v.Get("detail"))
		case "input_audio":
			p.Kind = conversation.AudioPart
			p.Value, p.Detail = jsonspan.SpanOf(v.Get("data")), jsonspan.SpanOf(v.Get("format"))
		case "file":
			p.Kind, p.Value = conversation.FilePart, jsonspan.SpanOf(v.Get("file_data"))
		}
		return true
	})
	return p
}

func readCalls(body []byte, it *conversation.Item, v jsonspan.Span) {
	if body[v.Start] != '[' {
		return
	}
	jsonspan.Parse(body, v).ForEach(func(_, call gjson.Result) bool {
		c := readFunction(call.Get("function"), "arguments")
		if custom := call.Get("custom"); custom.Exists() {
			c = readFunction(custom, "input")
			c.FreeText = true
		}
		c.ID = strings.Clone(call.Get("id").Str)
		it.Calls = append(it.Calls, c)
		return true
	})
}

// readFunction reads what is called, and with what: that stands under the key input. Nothing of it keeps the body alive.
func readFunction(v gjson.Result, input string) conversation.Call {
	return conversation.Call{Name: strings.Clone(v.Get("name").Str), Arguments: jsonspan.SpanOf(v.Get(input))}
}

// hash returns a digest of what a message says. A text is the same as a list of that text: some clients send the newest
// messages as lists, to mark them for a cache, and older ones as texts.
func hash(body []byte, it *conversation.Item) (jsonspan.Sum, error) {
	_, rest, err := jsonspan.Digest(body, it.Start, loose{})
	if err != nil || it.Content.Empty() {
		return rest, err
	}
	var content jsonspan.Sum
	if body[it.Content.Start] == '"' {
		content = jsonspan.ListSum([]jsonspan.Sum{jsonspan.MemberSum([]jsonspan.Member{
			{Key: []byte("type"), Value: jsonspan.LeafSum('v', []byte(`"text"`))},
			{Key: []byte("text"), Value: jsonspan.LeafSum('v', it.Content.Of(body))},
		})})
	} else {
		_, content, err = jsonspan.Digest(body, it.Content.Start, loose{})
	}
	return jsonspan.ListSum([]jsonspan.Sum{rest, content}), err
}

// loose says what the digest of a message leaves out: marks for a cache, reasoning, which clients send back or leave
// out as they like, and the content, which has a digest of its own.
type loose struct{}

func (loose) Moves(key []byte, depth int) bool {
	switch string(key) {
	case "content", "reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking":
		return depth == 0
	}
	return string(key) == "cache_control"
}

func (loose) SoleText(_, _ []byte, _ int) (text jsonspan.Span, end int) { return text, 0 }

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
