package fakeapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// request is one that was read and broke no rule.
type request struct {
	body      gjson.Result
	header    http.Header
	scope     string // the credentials, which share a cache
	name      string // of the model
	model     Model
	stream    bool
	counting  bool
	maxOutput int
	thinks    bool // the model thinks before it answers
	prompt    []piece

	// Messages
	messages  []message
	manual    bool // thinking has a budget
	hidden    bool // the text of thinking is not shown
	dropsLost bool // thinking that is bound to something else is dropped, not refused
	bond      bond // what is thought next is bound to this

	// Responses
	items     []item // with what came before, where the provider has it
	stored    bool
	compacts  bool // the answer is to be a compaction
	compactAt int  // tokens of the input above which the answer begins with one; 0 for none
}

// piece is a part of the prompt that the cache ends at or not.
type piece struct {
	value  string // the same for equal values
	tokens int
	marked bool // it has cache_control
}

func (q *request) tokens() (sum int) {
	for _, p := range q.prompt {
		sum += p.tokens
	}
	return sum
}

const (
	lookback  = 20   // pieces before a marker among which Messages looks for a cached prefix, with its own
	leastAuto = 1024 // tokens of the shortest prefix that Responses caches
	cacheStep = 128  // tokens: Responses reads a multiple of it
)

// account returns what the cache has of a prompt, and adds it. Messages caches what ends at a marker, Responses all.
// What is not used for five minutes is dropped, or for an hour if a marker says so: then all markers of a request have
// to. GPT-5.6 bills what it takes up, and keeps it for half an hour, whatever the request says.
func (p *Provider) account(q *request) Usage {
	u, now, life := Usage{Input: q.tokens()}, time.Now(), 5*time.Minute
	if strings.Contains(q.body.Raw, `"ttl":"1h"`) {
		life = time.Hour
	}
	if q.body.Get("prompt_cache_retention").Str == "24h" {
		life = 24 * time.Hour
	}
	if q.name == "gpt-5.6" {
		life = 30 * time.Minute
	}
	names, sums := make([]string, len(q.prompt)), make([]int, len(q.prompt))
	name, sum := q.name+" "+q.scope+" "+q.body.Get("prompt_cache_key").Str, 0
	for i, piece := range q.prompt {
		name, sum = digest(name, piece.value), sum+piece.tokens
		names[i], sums[i] = name, sum
	}
	if q.messages == nil {
		for i, name := range names {
			if now.Before(p.cached[name]) && sums[i] >= leastAuto {
				u.Read = sums[i] / cacheStep * cacheStep
			}
			p.cached[name] = now.Add(life)
		}
		if q.name == "gpt-5.6" {
			u.Written = u.Input/cacheStep*cacheStep - u.Read
		}
		return u
	}
	for i, piece := range q.prompt {
		for k := i; piece.marked && k >= 0 && k > i-lookback; k-- {
			if now.Before(p.cached[names[k]]) {
				u.Read = max(u.Read, sums[k])
				p.cached[names[k]] = now.Add(life)
			}
		}
	}
	for i, piece := range q.prompt {
		if piece.marked && sums[i] >= q.model.Minimum {
			u.Written = max(u.Written, sums[i]-u.Read)
			p.cached[names[i]] = now.Add(life)
		}
	}
	if life == time.Hour {
		u.Hour = u.Written
	}
	return u
}

// digest names a text behind what came before it.
func digest(before, text string) string {
	sum := sha256.Sum256([]byte(before + "\n" + text))
	return hex.EncodeToString(sum[:12])
}

// normal writes a JSON value in one way: keys sorted, no spaces, without nulls, cache markers and the members named.
func normal(raw string, without ...string) string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return raw
	}
	return string(encode(bare(v, append(without, "cache_control"))))
}

func bare(v any, without []string) any {
	switch v := v.(type) {
	case object:
		for name, child := range v {
			if child == nil || slices.Contains(without, name) {
				delete(v, name)
			} else {
				v[name] = bare(child, without)
			}
		}
	case []any:
		for i := range v {
			v[i] = bare(v[i], without)
		}
	}
	return v
}

// checkNames compares the members of an object with a list of names, in which "!" marks the required ones and "*"
// allows all. It returns a required one that is missing, or one that is not allowed.
func checkNames(o gjson.Result, names string) (missing, extra string) {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		plain, required := strings.CutSuffix(name, "!")
		if allowed[plain] = true; required && missing == "" && !o.Get(plain).Exists() {
			missing = plain
		}
	}
	o.ForEach(func(name, _ gjson.Result) bool {
		if !allowed[name.Str] && !allowed["*"] {
			extra = name.Str
		}
		return extra == ""
	})
	return missing, extra
}

// isNull reports whether there is no value, or null.
func isNull(v gjson.Result) bool { return v.Type == gjson.Null }

// promptOfResponses fills the prompt: tools, instructions, items. Reasoning of earlier turns is no part of it.
func (p *Provider) promptOfResponses(q *request) {
	add := func(value string, tokens int) { q.prompt = append(q.prompt, piece{value: value, tokens: tokens}) }
	for _, tool := range q.body.Get("tools").Array() {
		text := tool.Get("name").Str + tool.Get("description").Str + tool.Get("parameters").Raw + tool.Get("tools").Raw
		add(normal(tool.Raw), p.options.Count(text))
	}
	if text := q.body.Get("instructions").Str; text != "" {
		add(text, p.options.Count(text))
	}
	begun := 0 // the item that began the newest turn
	for n, i := range q.items {
		if i.role == "user" {
			begun = n
		}
	}
	for n, i := range q.items {
		if i.kind != "reasoning" || n > begun {
			value, tokens := p.promptItem(i)
			add(value, tokens)
		}
	}
}

// promptItem returns the value of an item, the same for equal ones, and its tokens.
func (p *Provider) promptItem(i item) (value string, tokens int) {
	const itemTokens, imageTokens = 4, 1100
	count := p.options.Count
	value = normal(i.Raw, "id", "status", "prompt_cache_breakpoint", "annotations", "logprobs")
	switch i.kind {
	case "message", "function_call_output", "custom_tool_call_output":
		content := i.Get("content")
		if i.kind != "message" {
			content = i.Get("output")
		}
		if content.Type == gjson.String {
			return i.kind + i.role + i.text("call_id") + content.Str, itemTokens + count(content.Str)
		}
		texts := ""
		for _, part := range content.Array() {
			texts += part.Get("text").Str
			if part.Get("type").Str == "input_image" {
				tokens += imageTokens
			}
		}
		if tokens == 0 && len(content.Array()) == 1 { // the same as a string
			value = i.kind + i.role + i.text("call_id") + texts
		}
		return value, itemTokens + tokens + count(texts)
	case "function_call", "custom_tool_call":
		return value, itemTokens + count(i.text("name")+i.text("arguments")+i.text("input"))
	case "reasoning", "compaction":
		return value, p.book.opaque[i.text("encrypted_content")].tokens
	case "compaction_trigger":
		return value, 0
	}
	return value, itemTokens + count(value)
}

// Tokens that belong to no text.
const (
	messageTokens = 4
	toolsTokens   = 346 // of the prompt that tools bring along
	imageTokens   = 1600
)

// promptOfMessages fills the prompt: tools, system, messages. What settings a part depends on stands before it.
func (p *Provider) promptOfMessages(q *request) {
	add := func(value string, tokens int, marked bool) { q.prompt = append(q.prompt, piece{value, tokens, marked}) }
	extra := toolsTokens
	for _, tool := range q.body.Get("tools").Array() {
		if !tool.Get("defer_loading").Bool() {
			text := tool.Get("name").Str + tool.Get("description").Str + tool.Get("input_schema").Raw
			add(normal(tool.Raw), p.options.Count(text)+extra, tool.Get("cache_control").Exists())
			extra = 0
		}
	}
	blocks, _ := readBlocks(q.body.Get("system"), "system", "system")
	for _, b := range blocks {
		add(normal(b.Raw), p.tokensOf(b), b.Get("cache_control").Exists())
	}
	settings := q.body.Get("tool_choice").Raw + q.body.Get("thinking").Raw + q.body.Get("output_config.effort").Raw
	for _, m := range q.messages {
		for i, b := range m.blocks {
			if b.dropped {
				continue
			}
			tokens := p.tokensOf(b)
			if i == 0 {
				tokens += messageTokens
			}
			marked := strings.Contains(b.Raw, `"cache_control"`)
			add(settings+m.role+normal(b.Raw), tokens, marked)
		}
	}
	if last := len(q.prompt) - 1; q.body.Get("cache_control").Exists() {
		q.prompt[last].marked = true
	}
}

// tokensOf counts the tokens of a block.
func (p *Provider) tokensOf(b block) (tokens int) {
	switch b.kind {
	case "text":
		return p.options.Count(b.text("text"))
	case "thinking":
		return p.thoughts[b.text("signature")].tokens
	case "redacted_thinking":
		return p.thoughts[b.text("data")].tokens
	case "tool_use":
		return p.options.Count(b.text("name") + b.Get("input").Raw)
	case "image":
		return imageTokens
	case "tool_result":
		content := b.Get("content")
		if content.Type == gjson.String {
			return p.options.Count(content.Str)
		}
		for _, in := range content.Array() {
			tokens += p.tokensOf(block{Result: in, kind: in.Get("type").Str})
		}
		return tokens
	}
	return p.options.Count(b.Raw)
}
