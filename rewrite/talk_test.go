package rewrite_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

type object = map[string]any

// pen writes JSON as clients do: they differ in white space, escapes and the order of keys.
type pen struct{ *rand.Rand }

func newPen(seed, stream uint64) pen { return pen{rand.New(rand.NewPCG(seed, stream))} }

// in reports true once in n times.
func (p pen) in(n int) bool { return p.IntN(n) == 0 }

func (p pen) space() string { return []string{"", "", "", " ", "\n\t"}[p.IntN(5)] }

func (p pen) json(value any) string {
	var list []string
	switch v := value.(type) {
	case string:
		return p.quote(v)
	case object:
		keys := slices.Sorted(maps.Keys(v))
		slices.Reverse(keys) // "type" and "role" first, as most clients have them
		if p.in(4) {
			p.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		}
		for _, key := range keys {
			list = append(list, `"`+key+`":`+p.space()+p.json(v[key]))
		}
		return "{" + strings.Join(list, ","+p.space()) + "}"
	case []any:
		for _, element := range v {
			list = append(list, p.json(element))
		}
		return "[" + strings.Join(list, p.space()+","+p.space()) + "]"
	}
	raw, _ := json.Marshal(value) // null, a number or JSON as it is
	return string(raw)
}

func (p pen) quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(p.in(3))
	_ = e.Encode(text) // a string never fails
	quoted := strings.TrimSuffix(b.String(), "\n")
	if p.in(4) {
		return strings.NewReplacer("/", `\/`, "é", `\u00E9`, "据", `\u636e`, "🙂", `\ud83d\ude42`).Replace(quoted)
	}
	return quoted
}

// quoted writes a string in the same way each time.
func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// content writes a text in one of the forms that an API has for it: a string, one part, two, or one behind a picture.
func (p pen) content(text string, part func(text string) object, picture object) any {
	half := len(text) / 2
	a, b := strings.ToValidUTF8(text[:half], ""), strings.ToValidUTF8(text[half:], "")
	isBlank := strings.TrimSpace(a) == "" || strings.TrimSpace(b) == ""
	switch n := p.IntN(8); {
	case n == 0 && !isBlank:
		return []any{part(text)}
	case n == 1 && !isBlank:
		return []any{part(a), part(b)}
	case n == 2 && !isBlank:
		return []any{picture, part(text)}
	}
	return text
}

type answer struct {
	thought, text string // "" for none
	calls         []call
}

type call struct {
	id, tool  string
	arguments string // JSON
	result    string
}

// talk is a conversation that grows by chance as an agent's does.
type talk struct {
	pen      // of the messages; what stands around them is always written the same way
	api      api
	model    string
	seed     uint64
	system   string
	other    string // the prompt of the agent's other mode
	tools    int    // that the client offers
	scope    string
	folder   string   // that the agent is told of; mostly none
	broken   bool     // some messages break the rules of the API
	messages []string // as they stand in each body
	reminder string   // one more message behind them, which the next request does not have
	ends     []int    // how many messages there were before each growth
	made     int      // calls and thoughts
	outputs  []string // of tools, up to now
}

func newTalk(name string, seed uint64, scope string, broken bool) *talk {
	c := &talk{pen: newPen(seed, 1), api: apis[name], seed: seed, scope: scope, broken: broken,
		other: "Plan. Change nothing."}
	models := c.api.models()
	c.model = models[c.IntN(len(models))]
	if !c.in(4) {
		c.system = "It is 12 o'clock. You are an agent. " + c.words(20)
	}
	c.user()
	return c
}

// fork returns the conversation as it was before it grew for the nth time. From there on the user wants something else.
func (c *talk) fork(n int, seed uint64) *talk {
	f := *c
	f.pen = newPen(seed, 2)
	f.ends = slices.Clone(c.ends[:n+1])
	f.messages, f.outputs, f.reminder = slices.Clone(c.messages[:c.ends[n]]), slices.Clone(c.outputs), ""
	f.made += 1000
	f.user()
	return &f
}

func (c *talk) body() []byte {
	list := strings.Join(c.messages, ",\n ")
	if c.reminder != "" {
		list += "," + c.reminder
	}
	return []byte(c.api.body(c, list))
}

// cached returns the member that asks OpenAI to keep its cache for a day; mostly nothing.
func (c *talk) cached() string {
	if c.seed%4 == 0 {
		return `, "prompt_cache_retention":"24h"`
	}
	return ""
}

// toolList returns the member with the tools, each in the format of the API.
func (c *talk) toolList(format string) string {
	list := make([]string, c.tools)
	for i := range list {
		list[i] = fmt.Sprintf(format, fmt.Sprint("tool_", i))
	}
	if c.tools == 0 {
		return ""
	}
	return `"tools":[` + strings.Join(list, ",") + "], "
}

func (c *talk) add(messages ...object) {
	for _, m := range messages {
		if c.broken && c.in(6) {
			c.spoil(m)
		}
		c.messages = append(c.messages, c.json(m))
	}
}

// spoil puts a value that the API does not expect into a message or a block of it, or takes one out.
func (c *talk) spoil(m object) {
	keys := slices.Sorted(maps.Keys(m))
	key := keys[c.IntN(len(keys))]
	if list, ok := m[key].([]any); ok && len(list) > 0 && c.in(2) {
		if block, ok := list[c.IntN(len(list))].(object); ok {
			c.spoil(block)
			return
		}
	}
	odd := []any{nil, 7, "", "hologram", []any{}, object{"a": c.output()}, c.output(), json.RawMessage("{}")}
	if m[key] = odd[c.IntN(len(odd))]; c.in(4) {
		delete(m, key)
	}
}

func (c *talk) user() { c.add(c.api.user(c.pen, c.words(1+c.IntN(60)))) }

// grow adds an answer with the results of its calls, and sometimes another message of the user.
func (c *talk) grow() {
	c.ends = append(c.ends, len(c.messages))
	a := answer{}
	if c.in(2) {
		c.made++
		a.thought = fmt.Sprintf("Thought %d. %s", c.made, c.words(c.IntN(30)))
	}
	if c.in(2) {
		a.text = "So: " + c.words(20)
	}
	calls := 1 + max(0, c.IntN(6)-3)
	if c.in(120) {
		calls = 20 + c.IntN(81)
	}
	c.answer(a, calls)
}

// answer adds an answer with calls and their results, and sometimes another message of the user.
func (c *talk) answer(a answer, calls int) {
	for range calls {
		a.calls = append(a.calls, c.call())
	}
	c.add(c.api.answer(a)...)
	if c.in(4) {
		c.Shuffle(len(a.calls), func(i, k int) { a.calls[i], a.calls[k] = a.calls[k], a.calls[i] })
	}
	if c.broken && c.in(8) { // one result is missing, or all come twice
		a.calls = [][]call{a.calls[1:], append(a.calls, a.calls...)}[c.IntN(2)]
	}
	if len(a.calls) > 0 {
		c.add(c.api.results(c.pen, a.calls)...)
	}
	c.reminder = ""
	switch c.IntN(6) {
	case 0:
		c.add(c.api.answer(answer{text: c.words(30)})...)
		c.user()
	case 1:
		c.reminder = c.json(c.api.user(c.pen, "<system-reminder>"+c.words(5)+"</system-reminder>"))
	}
}

func (c *talk) call() call {
	c.made++
	file := fmt.Sprintf("src/file%d.go", c.IntN(4))
	made := call{id: fmt.Sprintf("call_%d", c.made), result: c.output()}
	arguments := object{}
	switch c.IntN(7) {
	case 0, 1:
		made.tool, arguments["file_path"] = "Read", file
	case 2:
		made.tool, arguments["path"], arguments["content"] = "write_file", file, c.output()
		made.result = "ok"
	case 3:
		made.tool, arguments["pattern"] = "grep", c.words(1)
	case 4:
		made.tool, arguments["query"] = "mcp__odd", c.words(3)
		arguments["deep"] = []any{1, c.output(), object{"x": nil}}
	case 5:
		made.tool, arguments["input"] = []string{"apply_patch", "local_shell"}[c.IntN(2)], "*** Update File: "+file
	default:
		made.tool, arguments["command"] = "bash", "make "+c.words(1)
	}
	raw, _ := json.Marshal(arguments)
	made.arguments = string(raw)
	return made
}

func (c *talk) words(n int) string {
	list := []string{"the", "build", "store", "écrit", "数据", "user_id", "HTTPServer", "fails", "<ok>", "in", "42", "🙂",
		"of", "cache", "a/b.go"}
	words := make([]string, n)
	for i := range words {
		words[i] = list[c.IntN(len(list))]
	}
	return strings.Join(words, " ")
}

// output is a text that a tool prints, or a part of one that a tool has printed before.
func (c *talk) output() string {
	if len(c.outputs) > 0 && c.in(4) {
		lines := strings.SplitAfter(c.outputs[c.IntN(len(c.outputs))], "\n")
		return strings.Join(lines[c.IntN(len(lines)):], "") + []string{"again", "again\n", "\nonce more\n"}[c.IntN(3)]
	}
	var b strings.Builder
	kind := c.IntN(8)
	for i := range []int{1, 5, 20, 40, 120, 200}[c.IntN(6)] {
		switch kind {
		case 0: // source code
			fmt.Fprintf(&b, "%6d\tfunc f%d(%s) error { return nil }\n", i+1, c.IntN(1000), c.words(4))
		case 1: // a progress bar
			fmt.Fprintf(&b, "\r%3d%% [%s]\x1b[K", i, strings.Repeat("=", i%40))
		case 2: // colours
			fmt.Fprintf(&b, "\x1b[3%dm%s\x1b[0m\x08\x08 done %d\r\n", i%8, c.words(6), i)
		case 3: // one long line
			b.WriteString(strings.Repeat(c.words(3)+" ", 10))
		case 4: // Base64
			b.WriteString("QUJDREVGSElKS0xNTk9Q")
		case 5: // JSON
			fmt.Fprintf(&b, `{"id": %d, "name": %q, "tags": ["a", null, 1.5e3], "more": {"k": "%x"}},`+"\n", i,
				c.words(3), c.Uint64())
		case 6: // lines that pass for epitome's own
			b.WriteString(own + ": not ours]\n" + c.words(5) + "\n\n")
		default: // a log
			fmt.Fprintf(&b, "12:%02d:%02d INFO request %d %s\n", i/60, i%60, c.IntN(10_000), c.words(5))
		}
	}
	text := b.String()
	if kind == 5 {
		text = "[" + strings.TrimSuffix(text, ",\n") + "]"
	}
	c.outputs = append(c.outputs, text)
	return text
}
