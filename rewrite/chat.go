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

// Chat is the dialect of Chat Completions. Its JSON names stand in the files of this dialect alone.
type Chat struct{}

// contentKey is where what an item says stands.
const contentKey = "content"

// ReadChat reads a chat-completions request in one pass. An error says why the body is better left alone; it quotes
// nothing of it.
func ReadChat(body []byte) (*Request, error) { return Chat{}.Read(body, nil) }

// Key is empty: what was recorded before there were other dialects stays found.
func (Chat) Key() string { return "" }

// Read reads a request in one pass. known may have seen the beginning behind its head; nil if nobody has.
func (d Chat) Read(body []byte, known Recall) (*Request, error) {
	start := space(body, 0)
	if start >= len(body) {
		return nil, errNoJSON
	}
	r := &Request{Body: body, Dialect: d}
	found := false
	end, err := members(body, start, func(key []byte, i int) (int, error) {
		if string(key) == "messages" {
			found = true
			return elements(body, i, func(i int) (int, error) { return readOrRecall(r, i, known) })
		}
		end, err := value(body, i)
		if err != nil {
			return 0, err
		}
		return end, readSetting(r, string(key), Span{i, end})
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
func readSetting(r *Request, key string, v Span) error {
	switch key {
	case "model":
		return readText(r.Body, v, &r.Model)
	case "tools":
		r.Tools = unlessNull(r.Body, v)
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "functions", "plugins", "web_search_options":
		r.Opaque = r.Opaque || !unlessNull(r.Body, v).Empty()
	case "response_format":
		r.Opaque = r.Opaque || bytes.Contains(v.Of(r.Body), []byte(`"json_schema"`))
	case "max_tokens", "max_completion_tokens":
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = max(r.MaxOutput, n)
		}
	}
	return nil
}

// readOrRecall reads an item; at the first one behind the head it takes all that is known from there on.
func readOrRecall(r *Request, i int, known Recall) (int, error) {
	end, err := readItem(r, i)
	n := len(r.Items) - 1
	if err != nil || known == nil || r.Items[n].Role == System || n > 0 && r.Items[n-1].Role != System {
		return end, err
	}
	if items, stop := known(r.Body, i, r.Items[:n:n]); len(items) > n {
		r.Items, end = items, stop
	}
	return end, nil
}

func readItem(r *Request, i int) (int, error) {
	it := Item{}
	end, err := members(r.Body, i, func(key []byte, i int) (int, error) {
		if string(key) == "tool_calls" && r.Body[i] == '[' {
			return elements(r.Body, i, func(i int) (int, error) { return readCall(r.Body, &it, i) })
		}
		end, err := value(r.Body, i)
		if err != nil {
			return 0, err
		}
		return end, readField(r.Body, &it, string(key), Span{i, end})
	})
	if err != nil {
		return 0, fmt.Errorf("message %d: %w", len(r.Items), err)
	}
	it.Span = Span{i, end}
	it.Begins = it.Role == Assistant
	nameLegacy(&it)
	r.Items = append(r.Items, it)
	return end, nil
}

// nameLegacy gives the call and the result of a legacy function, which have no ids, one that is made of the function's name.
func nameLegacy(it *Item) {
	if !it.Legacy {
		return
	}
	const prefix = "function "
	for k := range it.Calls {
		if c := &it.Calls[k]; c.ID == "" {
			c.ID = prefix + c.Name
		}
	}
	if it.Role == Tool && it.Answers == "" {
		it.Answers = prefix + it.Name
	}
}

func readField(body []byte, it *Item, key string, v Span) error {
	switch key {
	case "role":
		it.Role, it.Legacy = chatRole(v.Of(body)), it.Legacy || string(v.Of(body)) == `"function"`
	case contentKey:
		it.Content = unlessNull(body, v)
	case "name":
		return readText(body, v, &it.Name)
	case "tool_call_id":
		return readText(body, v, &it.Answers)
	case "function_call":
		if unlessNull(body, v).Empty() {
			return nil
		}
		it.Legacy = true
		c := Call{Span: v}
		_, err := readFunction(body, &c, v.Start, "arguments")
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

func readCall(body []byte, it *Item, i int) (int, error) {
	c := Call{}
	end, err := members(body, i, func(key []byte, i int) (int, error) {
		switch string(key) {
		case "function":
			return readFunction(body, &c, i, "arguments")
		case "custom": // a tool that takes free text
			c.FreeText = true
			return readFunction(body, &c, i, "input")
		}
		end, err := value(body, i)
		if err == nil && string(key) == "id" {
			err = readText(body, Span{i, end}, &c.ID)
		}
		return end, err
	})
	c.Span = Span{i, end}
	it.Calls = append(it.Calls, c)
	return end, err
}

// readFunction reads what is called and with what, which stands under the key input.
func readFunction(body []byte, c *Call, i int, input string) (int, error) {
	return members(body, i, func(key []byte, i int) (int, error) {
		end, err := value(body, i)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "name":
			err = readText(body, Span{i, end}, &c.Name)
		case input:
			c.Arguments = Span{i, end}
		}
		return end, err
	})
}

// Moves says which keys of an item, or of something so deep in it, change or go by themselves while the conversation stays
// the same, so that no link covers them: marks for a provider's cache, and reasoning, which clients send back or leave
// out as they like.
func (Chat) Moves(key string, depth int) bool {
	const part = 2 // of a content, or a call
	switch key {
	case "cache_control":
		return depth <= part
	case "reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking":
		return depth == 0
	}
	return false
}

// SoleText is the text of an item's content that is a list of this text alone, and where the list ends. Some clients
// send the newest messages so, to mark them for the provider's cache, and older ones as plain texts.
func (Chat) SoleText(body []byte, key string, i int) (text Span, end int) {
	if key != contentKey || body[i] != '[' {
		return text, 0
	}
	n, plain := 0, true
	end, err := elements(body, i, func(i int) (int, error) {
		if n++; n > 1 || body[i] != '{' {
			plain = false
			return value(body, i)
		}
		return members(body, i, func(key []byte, i int) (int, error) {
			end, err := value(body, i)
			switch string(key) {
			case "text":
				text = Span{i, end}
			case "type":
				plain = plain && string(body[i:end]) == `"text"`
			case "cache_control":
			default:
				plain = false
			}
			return end, err
		})
	})
	if err != nil || !plain || text.Empty() || body[text.Start] != '"' {
		return Span{}, 0
	}
	return text, end
}

// WholeText is the one text that is all of a content; ok is false if there is more in it.
func (d Chat) WholeText(body []byte, content Span) (text Span, ok bool) {
	text, _ = d.SoleText(body, contentKey, content.Start)
	return text, !text.Empty()
}

// chatMessage is a message with a text, as JSON.
func chatMessage(role Role, text string) string { return string(Chat{}.Message(role, text)) }

// Message is a message with a text, as JSON.
func (Chat) Message(role Role, text string) []byte {
	b := append([]byte(`{"role":"`), role.String()...)
	return append(appendQuoted(append(b, `","content":`...), text), '}')
}

// ReadMessage reads what Message wrote.
func (d Chat) ReadMessage(message []byte) (*Request, error) {
	r := &Request{Body: message, Dialect: d}
	_, err := readItem(r, 0)
	return r, err
}

// Value writes text as a value at a place: everywhere a JSON string.
func (Chat) Value(dst []byte, _ place, text string) []byte { return appendQuoted(dst, text) }

// Append is what puts a text behind all that the item says: at the end of its string, or as one more part. ok is false for
// an item that says nothing.
func (Chat) Append(r *Request, it *Item, text string) (e Edit, ok bool) {
	if it.Content.Empty() {
		return e, false
	}
	quoted := appendQuoted(nil, text)
	at := Span{it.Content.End - 1, it.Content.End - 1}
	switch content := it.Content.Of(r.Body); {
	case content[0] == '"':
		return Edit{at, quoted[1 : len(quoted)-1]}, true
	case content[0] == '[' && content[space(content, 1)] != ']':
		return Edit{at, append(append([]byte(`,{"type":"text","text":`), quoted...), '}')}, true
	}
	return e, false
}

// Run is the place of n items, from item i of all on.
func (Chat) Run(r *Request, i, n int) Span { return Span{r.Items[i].Start, r.Items[i+n-1].End} }

// Remove puts the message with in the place of n items, from item i of all on. Without a message it takes them out, with
// what parts them from the next item.
func (d Chat) Remove(r *Request, i, n int, with []byte) []Edit {
	place := d.Run(r, i, n)
	if next := i + n; len(with) == 0 && next < len(r.Items) {
		place.End = r.Items[next].Start
	}
	return []Edit{{place, with}}
}

// Truncate takes out all items from item i of all on, which is not the first.
func (Chat) Truncate(r *Request, i int) []Edit {
	return []Edit{{Span{r.Items[i-1].End, r.Items[len(r.Items)-1].End}, nil}}
}

// AppendParts appends the parts of an item's content: a string is one part of text. What is none of the known kinds is
// one too, as it stands.
func (Chat) AppendParts(dst []Part, body []byte, content Span) ([]Part, error) {
	if content.Empty() {
		return dst, nil
	}
	if body[content.Start] != '[' {
		return append(dst, Part{Kind: TextPart, Value: content}), nil
	}
	_, err := elements(body, content.Start, func(i int) (int, error) {
		end, err := value(body, i)
		if err != nil {
			return 0, err
		}
		p := Part{Kind: OtherPart, Value: Span{i, end}}
		if body[i] == '{' {
			err = readPart(body, &p, i)
		}
		dst = append(dst, p)
		return end, err
	})
	return dst, err
}

func readPart(body []byte, p *Part, i int) error {
	_, err := members(body, i, func(key []byte, i int) (int, error) {
		end, err := value(body, i)
		v := Span{i, end}
		switch string(key) {
		case "text", "refusal":
			p.Kind, p.Value = TextPart, v
		case "image_url":
			p.Kind = ImagePart
			return end, errors.Join(err, fields(body, v, map[string]*Span{"url": &p.Value, "detail": &p.Detail}))
		case "input_audio":
			p.Kind = AudioPart
			return end, errors.Join(err, fields(body, v, map[string]*Span{"data": &p.Value, "format": &p.Detail}))
		case "file":
			p.Kind = FilePart
			return end, errors.Join(err, fields(body, v, map[string]*Span{"file_data": &p.Value}))
		}
		return end, err
	})
	return err
}

// fields finds the values of some keys of an object; anything else than an object has none.
func fields(body []byte, at Span, to map[string]*Span) error {
	if at.Empty() || body[at.Start] != '{' {
		return nil
	}
	_, err := members(body, at.Start, func(key []byte, i int) (int, error) {
		end, err := value(body, i)
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

// Tools reads the declarations of tools; nil if they are not as expected.
func (Chat) Tools(declared []byte) []tokenize.Tool {
	var all []chatTool
	if json.Unmarshal(declared, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
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

// readText reads a short string. One that is null or of another kind is no string: it is left empty.
func readText(body []byte, v Span, to *string) error {
	b := v.Of(body)
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
