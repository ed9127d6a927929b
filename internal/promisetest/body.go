package promisetest

import (
	"crypto/sha256"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

type hash [sha256.Size]byte

func hashOf(parts ...string) hash { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }

// body is a request as the judge reads it.
type body struct {
	model, system string // the system prompt as it stands there
	start, end    string // what stands before and behind the messages
	messages      []message
}

// message is one of the conversation: in Responses, an entry of input.
type message struct {
	gjson.Result
	before string // white space and a comma
	plain  string // without marks for the cache
	marks  int
	sum    hash // of plain; of a system message before all others, of its text whatever the numbers in it are
}

// parse reads a request; ok is false if it is none with a conversation.
func parse(d dialect, raw []byte) (b *body, ok bool) {
	if !gjson.ValidBytes(raw) {
		return nil, false
	}
	text := string(raw)
	top := gjson.Parse(text)
	list := top.Get(d.list())
	if !list.IsArray() || list.Index == 0 {
		return nil, false
	}
	b = &body{model: top.Get("model").String(), start: text[:list.Index], end: text[list.Index+len(list.Raw):]}
	if d.system() != "" {
		b.system = unmark(top.Get(d.system()).Raw)
	}
	leads := true
	at := 1
	list.ForEach(func(_, value gjson.Result) bool {
		m := message{Result: value, plain: unmark(value.Raw)}
		if m.plain != value.Raw {
			m.marks = len(markers.FindAllString(value.Raw, -1))
		}
		start := at + strings.Index(list.Raw[at:], value.Raw) // only white space and a comma stand before it
		m.before, at = list.Raw[at:start], start+len(value.Raw)
		role := value.Get("role").Str
		leads = leads && (role == "system" || role == "developer")
		if leads {
			m.sum = hashOf(maskNumbers(m.plain))
		} else {
			m.sum = hashOf(m.plain)
		}
		b.messages = append(b.messages, m)
		return true
	})
	b.end = list.Raw[at:] + b.end
	return b, true
}

var (
	markers = regexp.MustCompile(`,?\s*"(?:cache_control|prompt_cache_breakpoint)"\s*:\s*\{[^{}]*\}`)
	number  = regexp.MustCompile(`[0-9]+`)

	jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// unmark takes the marks for the provider's cache out; clients move them from turn to turn.
func unmark(raw string) string {
	if !strings.Contains(raw, `"cache_control"`) && !strings.Contains(raw, `"prompt_cache_breakpoint"`) {
		return raw
	}
	return markers.ReplaceAllLiteralString(raw, "")
}

// maskNumbers makes texts equal that differ in their numbers alone, as those with a clock do.
func maskNumbers(text string) string { return number.ReplaceAllLiteralString(text, "0") }

// chain returns a hash for each prefix of the conversation.
func (b *body) chain(lane ...string) []hash {
	last := hashOf(append(lane, maskNumbers(b.system))...)
	all := []hash{last}
	for i := range b.messages {
		last = sha256.Sum256(append(last[:], b.messages[i].sum[:]...))
		all = append(all, last)
	}
	return all
}

// sums returns what the messages are.
func (b *body) sums() []hash {
	all := make([]hash, len(b.messages))
	for i := range b.messages {
		all[i] = b.messages[i].sum
	}
	return all
}

// names are keys whose values name something, and never change.
var names = map[string]bool{"type": true, "role": true, "id": true, "call_id": true, "tool_call_id": true,
	"tool_use_id": true, "name": true, "status": true, "signature": true, "thinking": true, "encrypted_content": true}

// hidden are keys whose values no model reads as text.
var hidden = map[string]bool{"reasoning_content": true, "cache_control": true, "data": true, "url": true,
	"image_url": true}

// texts calls visit with each text in a value that stands under key.
func texts(key string, value gjson.Result, visit func(text string)) {
	switch {
	case names[key] || hidden[key]:
	case value.IsObject():
		value.ForEach(func(key, value gjson.Result) bool {
			texts(key.Str, value, visit)
			return true
		})
	case value.IsArray():
		value.ForEach(func(_, value gjson.Result) bool {
			texts(key, value, visit)
			return true
		})
	case value.Type == gjson.String && key == "arguments" && gjson.Valid(value.Str) && gjson.Parse(value.Str).IsObject():
		texts("", gjson.Parse(value.Str), visit)
	case value.Type == gjson.String && value.Str != "":
		visit(value.Str)
	}
}
