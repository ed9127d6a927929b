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

	"epitome/core/conversation"
	"epitome/core/jsonspan"
	"epitome/tokenize"
)

// Dialect implements the dialects of conversations, of the proxy and of summaries. It has no state.
type Dialect struct{}

// Name is "chat".
func (Dialect) Name() string { return "chat" }

var (
	errNoList   = errors.New("messages is not a list")
	errNoObject = errors.New("it is not an object")
)

// Read parses a request in one pass; known is an earlier request of the same conversation, or nil.
func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	r := &conversation.Request{Dialect: d, Body: body}
	messages := func(start int) (int, error) {
		if err := jsonspan.Want(body, start, '[', errNoList); err != nil {
			return 0, err
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
	if err := jsonspan.Want(body, start, '{', errNoObject); err != nil {
		return it, err
	}
	it.Start = start
	members := make([]jsonspan.Member, 0, 8)
	it.End, err = jsonspan.Members(body, start, func(key []byte, i int) (end int, err error) {
		var sum jsonspan.Sum
		switch string(key) {
		case "content":
			end, sum, err = readContent(body, &it, i)
		case "tool_calls":
			end, sum, err = readCalls(body, &it, i)
		case "cache_control", "reasoning_details":
			return jsonspan.EndOfValue(body, i)
		case "reasoning", "reasoning_content", "reasoning_text", "thinking":
			end, err = jsonspan.EndOfValue(body, i)
			if err == nil && body[i] == '"' && end-i > it.Reasoning.End-it.Reasoning.Start {
				it.Reasoning = jsonspan.Span{Start: i, End: end}
			}
			return end, err
		default:
			end, sum, err = jsonspan.Digest(body, i, nil)
			if err == nil {
				err = readField(body, &it, string(key), jsonspan.Span{Start: i, End: end})
			}
		}
		members = append(members, jsonspan.Member{Key: key, Value: sum})
		return end, err
	})
	if it.Role == conversation.Tool && it.Answers == "" && it.Name != "" {
		it.Answers = functionID(it.Name)
	}
	it.StartsAnswer = it.Role == conversation.Assistant
	it.Locked = it.Role == conversation.Unknown
	it.Hash = jsonspan.MemberSum(members)
	return it, err
}

// functionID is the ID of a call of a function and of its result, as they were before there were tools: they have none
// of their own.
func functionID(name string) string { return "function " + name }

func readField(body []byte, it *conversation.Item, key string, v jsonspan.Span) (err error) {
	switch key {
	case "role":
		it.Role = roleOf(v.Of(body))
	case "name":
		it.Name, err = jsonspan.ShortText(v.Of(body))
	case "tool_call_id":
		it.Answers, err = jsonspan.ShortText(v.Of(body))
	case "function_call":
		if body[v.Start] == '{' {
			c := conversation.Call{}
			err = readFunction(body, &c, v.Start, "arguments")
			c.ID = functionID(c.Name)
			it.Calls = append(it.Calls, c)
		}
	}
	return err
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

// readContent reads what a message says. A list of one part has the sum of that part: some clients send the newest
// messages so, to mark them for the provider's cache, and older ones as plain texts.
func readContent(body []byte, it *conversation.Item, i int) (end int, sum jsonspan.Sum, err error) {
	if body[i] != '[' {
		p, sum, err := readPart(body, i)
		if it.Content = jsonspan.UnlessNull(body, p.Span); !it.Content.Empty() {
			it.Parts = []conversation.Part{p}
		}
		return p.End, sum, err
	}
	sums := make([]jsonspan.Sum, 0, 4)
	end, err = jsonspan.Elements(body, i, func(i int) (int, error) {
		p, sum, err := readPart(body, i)
		it.Parts = append(it.Parts, p)
		sums = append(sums, sum)
		return p.End, err
	})
	it.Content = jsonspan.Span{Start: i, End: end}
	if len(sums) == 1 {
		return end, sums[0], err
	}
	return end, jsonspan.ListSum(sums), err
}

// readPart reads a part of a content. One that is a text and no more has the sum of that text.
func readPart(body []byte, i int) (p conversation.Part, sum jsonspan.Sum, err error) {
	p.Start = i
	if body[i] != '{' {
		p.End, sum, err = jsonspan.Digest(body, i, nil)
		p.Value = p.Span
		if body[i] == '"' {
			p.Kind = conversation.TextPart
		}
		return p, sum, err
	}
	members := make([]jsonspan.Member, 0, 4)
	isPlain := true
	p.End, err = jsonspan.Members(body, i, func(key []byte, i int) (int, error) {
		end, value, err := jsonspan.Digest(body, i, nil)
		if err != nil || string(key) == "cache_control" {
			return end, err
		}
		v := jsonspan.Span{Start: i, End: end}
		switch string(key) {
		case "type":
			isPlain = isPlain && string(v.Of(body)) == `"text"`
		case "text":
			sum = value
		default:
			isPlain = false
		}
		members = append(members, jsonspan.Member{Key: key, Value: value})
		return end, readPartField(body, &p, string(key), v)
	})
	switch {
	case p.Kind == conversation.OtherPart:
		p.Value = p.Span
		sum = jsonspan.MemberSum(members)
	case !isPlain:
		sum = jsonspan.MemberSum(members)
	}
	return p, sum, err
}

func readPartField(body []byte, p *conversation.Part, key string, v jsonspan.Span) error {
	var value, detail string // names of what counts in an object
	switch key {
	case "text", "refusal":
		if body[v.Start] == '"' {
			p.Kind, p.Value = conversation.TextPart, v
		}
		return nil
	case "image_url":
		p.Kind, value, detail = conversation.ImagePart, "url", "detail"
	case "input_audio":
		p.Kind, value, detail = conversation.AudioPart, "data", "format"
	case "file":
		p.Kind, value = conversation.FilePart, "file_data"
	}
	if value == "" || body[v.Start] != '{' {
		return nil
	}
	_, err := jsonspan.Members(body, v.Start, func(key []byte, i int) (int, error) {
		end, err := jsonspan.EndOfValue(body, i)
		switch string(key) {
		case value:
			p.Value = jsonspan.Span{Start: i, End: end}
		case detail:
			p.Detail = jsonspan.Span{Start: i, End: end}
		}
		return end, err
	})
	return err
}

func readCalls(body []byte, it *conversation.Item, i int) (end int, sum jsonspan.Sum, err error) {
	if body[i] != '[' {
		return jsonspan.Digest(body, i, nil)
	}
	var sums []jsonspan.Sum
	end, err = jsonspan.Elements(body, i, func(i int) (int, error) {
		call := conversation.Call{}
		members := make([]jsonspan.Member, 0, 4)
		end, err := jsonspan.Members(body, i, func(key []byte, i int) (int, error) {
			end, value, err := jsonspan.Digest(body, i, nil)
			if err != nil || string(key) == "cache_control" {
				return end, err
			}
			members = append(members, jsonspan.Member{Key: key, Value: value})
			switch string(key) {
			case "id":
				call.ID, err = jsonspan.ShortText(body[i:end])
			case "function":
				err = readFunction(body, &call, i, "arguments")
			case "custom": // a tool that takes free text
				call.FreeText = true
				err = readFunction(body, &call, i, "input")
			}
			return end, err
		})
		it.Calls = append(it.Calls, call)
		sums = append(sums, jsonspan.MemberSum(members))
		return end, err
	})
	return end, jsonspan.ListSum(sums), err
}

// readFunction reads what is called and with what, which stands under the key input.
func readFunction(body []byte, c *conversation.Call, i int, input string) error {
	_, err := jsonspan.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := jsonspan.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "name":
			c.Name, err = jsonspan.ShortText(body[i:end])
		case input:
			c.Arguments = jsonspan.Span{Start: i, End: end}
		}
		return end, err
	})
	return err
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
