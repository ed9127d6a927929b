package rewrite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"epitome/tokenize"
)

// The names of the chat-completions dialect stand in this file alone.

// ReadChat reads a chat-completions request in one pass. An error says why the body is better left alone; it quotes
// nothing of it.
func ReadChat(body []byte) (*Request, error) { return readChat(body, nil) }

// recaller gives the items that begin at body[i], with their place in this body, behind those of the head, and where the last one
// ends; none if they are not known from an earlier request.
type recaller func(body []byte, i int, head []Item) (items []Item, end int)

// readChat is ReadChat for a request of which known may have seen the beginning behind the head.
func readChat(body []byte, known recaller) (*Request, error) {
	start := space(body, 0)
	if start >= len(body) {
		return nil, errNoJSON
	}
	r := &Request{Body: body}
	found := false
	end, err := members(body, start, func(key []byte, i int) (int, error) {
		if string(key) == "messages" {
			found = true
			return elements(body, i, func(i int) (int, error) { return r.readOrRecall(i, known) })
		}
		end, err := value(body, i)
		if err != nil {
			return 0, err
		}
		return end, r.readSetting(string(key), Span{i, end})
	})
	switch {
	case err != nil:
		return nil, err
	case space(body, end) != len(body):
		return nil, errNoJSON
	case !found:
		return nil, errors.New("the body has no messages")
	}
	for r.Head < len(r.Items) && r.Items[r.Head].Role == System {
		r.Head++
	}
	return r, nil
}

// readSetting takes what stands beside the messages.
func (r *Request) readSetting(key string, v Span) error {
	switch key {
	case "model":
		return r.text(v, &r.Model)
	case "tools":
		r.Tools = unlessNull(r.Body, v)
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "max_tokens", "max_completion_tokens":
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = max(r.MaxOutput, n)
		}
	}
	return nil
}

// readOrRecall reads an item; at the first one behind the head it takes all that is known from there on.
func (r *Request) readOrRecall(i int, known recaller) (int, error) {
	end, err := r.readItem(i)
	n := len(r.Items) - 1
	if err != nil || known == nil || r.Items[n].Role == System || n > 0 && r.Items[n-1].Role != System {
		return end, err
	}
	if items, stop := known(r.Body, i, r.Items[:n:n]); len(items) > n {
		r.Items, end = items, stop
	}
	return end, nil
}

func (r *Request) readItem(i int) (int, error) {
	it := Item{}
	end, err := members(r.Body, i, func(key []byte, i int) (int, error) {
		if string(key) == "tool_calls" && r.Body[i] == '[' {
			return elements(r.Body, i, func(i int) (int, error) { return r.readCall(&it, i) })
		}
		end, err := value(r.Body, i)
		if err != nil {
			return 0, err
		}
		return end, r.readField(&it, string(key), Span{i, end})
	})
	if err != nil {
		return 0, fmt.Errorf("message %d: %w", len(r.Items), err)
	}
	it.Span = Span{i, end}
	r.Items = append(r.Items, it)
	return end, nil
}

func (r *Request) readField(it *Item, key string, v Span) error {
	switch key {
	case "role":
		it.Role, it.Legacy = chatRole(v.Of(r.Body)), it.Legacy || string(v.Of(r.Body)) == `"function"`
	case "content":
		it.Content = unlessNull(r.Body, v)
	case "name":
		return r.text(v, &it.Name)
	case "tool_call_id":
		return r.text(v, &it.Answers)
	case "function_call":
		if unlessNull(r.Body, v).Empty() {
			return nil
		}
		it.Legacy = true
		c := Call{Span: v}
		_, err := r.readFunction(&c, v.Start, "arguments")
		it.Calls = append(it.Calls, c)
		return err
	}
	return nil
}

// chatRole reads a role with its quotes.
func chatRole(role []byte) Role {
	switch string(role) {
	case `"system"`, `"developer"`:
		return System
	case `"user"`:
		return User
	case `"assistant"`:
		return Assistant
	case `"tool"`, `"function"`:
		return Tool
	}
	return Unknown
}

func (r *Request) readCall(it *Item, i int) (int, error) {
	c := Call{}
	end, err := members(r.Body, i, func(key []byte, i int) (int, error) {
		switch string(key) {
		case "function":
			return r.readFunction(&c, i, "arguments")
		case "custom": // a tool that takes free text
			c.FreeText = true
			return r.readFunction(&c, i, "input")
		}
		end, err := value(r.Body, i)
		if err == nil && string(key) == "id" {
			err = r.text(Span{i, end}, &c.ID)
		}
		return end, err
	})
	c.Span = Span{i, end}
	it.Calls = append(it.Calls, c)
	return end, err
}

// readFunction reads what is called and with what, which stands under the key input.
func (r *Request) readFunction(c *Call, i int, input string) (int, error) {
	return members(r.Body, i, func(key []byte, i int) (int, error) {
		end, err := value(r.Body, i)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "name":
			err = r.text(Span{i, end}, &c.Name)
		case input:
			c.Arguments = Span{i, end}
		}
		return end, err
	})
}

// soleText is the text of an item's content that is a list of this text alone, and where the list ends. Some clients send the
// newest messages so, to mark them for the provider's cache, and older ones as plain texts.
func (r *Request) soleText(key string, i int) (text Span, end int) {
	if key != "content" || r.Body[i] != '[' {
		return text, 0
	}
	n, plain := 0, true
	end, err := elements(r.Body, i, func(i int) (int, error) {
		if n++; n > 1 || r.Body[i] != '{' {
			plain = false
			return value(r.Body, i)
		}
		return members(r.Body, i, func(key []byte, i int) (int, error) {
			end, err := value(r.Body, i)
			switch string(key) {
			case "text":
				text = Span{i, end}
			case "type":
				plain = plain && string(r.Body[i:end]) == `"text"`
			case "cache_control":
			default:
				plain = false
			}
			return end, err
		})
	})
	if err != nil || !plain || text.Empty() || r.Body[text.Start] != '"' {
		return Span{}, 0
	}
	return text, end
}

// chatMessage is a message with a text, as JSON.
func chatMessage(role Role, text string) string {
	return `{"role":"` + role.String() + `","content":` + string(appendQuoted(nil, text)) + `}`
}

// addition is what puts a text behind all that the item says, and where in the body: at the end of its string, or as one
// more part. ok is false for an item that says nothing.
func (r *Request) addition(it *Item, text string) (at int, with []byte, ok bool) {
	if it.Content.Empty() {
		return 0, nil, false
	}
	quoted := appendQuoted(nil, text)
	switch content := it.Content.Of(r.Body); {
	case content[0] == '"':
		return it.Content.End - 1, quoted[1 : len(quoted)-1], true
	case content[0] == '[' && content[space(content, 1)] != ']':
		return it.Content.End - 1, append(append([]byte(`,{"type":"text","text":`), quoted...), '}'), true
	}
	return 0, nil, false
}

// parts gives f the content's parts: a string is one part of text. What is none of the known kinds is one too, as it stands.
func (r *Request) parts(content Span, f func(part)) error {
	if content.Empty() {
		return nil
	}
	if r.Body[content.Start] != '[' {
		f(part{kind: textPart, value: content})
		return nil
	}
	_, err := elements(r.Body, content.Start, func(i int) (int, error) {
		end, err := value(r.Body, i)
		if err != nil {
			return 0, err
		}
		p := part{kind: otherPart, value: Span{i, end}}
		if r.Body[i] == '{' {
			err = r.readPart(&p, i)
		}
		f(p)
		return end, err
	})
	return err
}

func (r *Request) readPart(p *part, i int) error {
	_, err := members(r.Body, i, func(key []byte, i int) (int, error) {
		end, err := value(r.Body, i)
		v := Span{i, end}
		switch string(key) {
		case "text", "refusal":
			p.kind, p.value = textPart, v
		case "image_url":
			p.kind = imagePart
			return end, errors.Join(err, r.fields(v, map[string]*Span{"url": &p.value, "detail": &p.detail}))
		case "input_audio":
			p.kind = audioPart
			return end, errors.Join(err, r.fields(v, map[string]*Span{"data": &p.value, "format": &p.detail}))
		case "file":
			p.kind = filePart
			return end, errors.Join(err, r.fields(v, map[string]*Span{"file_data": &p.value}))
		}
		return end, err
	})
	return err
}

// fields finds the values of some keys of an object; anything else than an object has none.
func (r *Request) fields(at Span, to map[string]*Span) error {
	if at.Empty() || r.Body[at.Start] != '{' {
		return nil
	}
	_, err := members(r.Body, at.Start, func(key []byte, i int) (int, error) {
		end, err := value(r.Body, i)
		if v := to[string(key)]; v != nil {
			*v = Span{i, end}
		}
		return end, err
	})
	return err
}

// chatTool and chatSchema are what of a tool's declaration is rendered for a model. They are for counting only.
type chatTool struct {
	Function struct {
		Name        string
		Description string
		Parameters  chatSchema
	}
}

type chatSchema struct {
	Type        any
	Description string
	Enum        []any
	Properties  map[string]chatSchema
	Items       *chatSchema
}

// tools reads the declarations; what is not as expected is left out.
func (r *Request) tools() []tokenize.Tool {
	var declared []chatTool
	if r.Tools.Empty() || json.Unmarshal(r.Tools.Of(r.Body), &declared) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(declared))
	for i, t := range declared {
		list[i] = tokenize.Tool{Name: t.Function.Name, Description: t.Function.Description, Properties: t.Function.Parameters.properties()}
	}
	return list
}

// properties are those of an object, or of an array's items.
func (s chatSchema) properties() []tokenize.Property {
	if s.Items != nil && len(s.Properties) == 0 {
		return s.Items.properties()
	}
	var list []tokenize.Property
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		list = append(list, tokenize.Property{Key: key, Type: fmt.Sprint(p.Type), Description: p.Description, Enum: texts(p.Enum), Properties: p.properties()})
	}
	return list
}

func texts(values []any) (list []string) {
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}

// text reads a short string. One that is null or of another kind is no string: it is left empty.
func (r *Request) text(v Span, to *string) error {
	b := v.Of(r.Body)
	if len(b) < 2 || b[0] != '"' {
		return nil
	}
	if bytes.IndexByte(b, '\\') < 0 {
		*to = string(b[1 : len(b)-1])
		return nil
	}
	s, err := unquote(b)
	*to = s
	return err
}

// unlessNull is v, or nothing if it is null.
func unlessNull(body []byte, v Span) Span {
	if string(v.Of(body)) == "null" {
		return Span{}
	}
	return v
}
