package rewrite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// tongue is the dialect in which a talk is written.
type tongue interface {
	conversation.Dialect
	// request is the body that asks for the next answer.
	request(c *talk) string
	// lead is what stands before all messages: a system's text, as it was quoted.
	lead(c *talk, quoted string) string
	// say is a message with that text.
	say(c *talk, role, quoted string) string
	// group adds what the model says and calls, and the results.
	group(c *talk)
	// oddity adds a message as it should not be.
	oddity(c *talk)
}

// strictTongue is one that a strict server is at hand for.
type strictTongue interface {
	tongue
	// refusal is how it refuses a body, for what shows in that alone; nil if it takes it.
	refusal(body []byte) error
}

// chatTongue is Chat Completions.
type chatTongue struct{ chat.Dialect }

// talk is a conversation that grows as an agent's does, with all that agents get wrong. Its messages are as they stand
// in a body.
type talk struct {
	*rand.Rand
	tongue   tongue
	model    string
	head     []string
	items    []string
	reminder string // behind the items; it moves
	broken   bool   // it may break the rules of a conversation
	large    bool   // many results are long
	tools    bool   // they are declared
	held     string // what says that what was said before lies with the provider, as it stands in a body
	calls    int
	said     []string // texts of results
	seen     []string // names of artifacts that the agent has seen
	sent     []byte   // what was sent last
}

func newTalk(seed uint64, broken bool) *talk { return newTalkIn(chatTongue{}, seed, broken) }

func newTalkIn(in tongue, seed uint64, broken bool) *talk {
	c := &talk{Rand: rand.New(rand.NewPCG(seed, 1)), tongue: in, model: "gpt-5", broken: broken}
	if c.IntN(4) > 0 {
		c.head = []string{in.lead(c, c.string("You are an agent. "+c.words(20)))}
	}
	c.user()
	return c
}

// fork is the same conversation up to message n, from which on it goes its own way.
func (c *talk) fork(n int, seed uint64) *talk {
	f := *c
	f.Rand = rand.New(rand.NewPCG(seed, 2))
	f.items, f.said, f.seen, f.reminder = slices.Clone(c.items[:n]), slices.Clone(c.said), slices.Clone(c.seen), ""
	f.calls += 1000
	return &f
}

func (c *talk) messages() []string {
	list := slices.Concat(c.head, c.items)
	if c.reminder != "" {
		list = append(list, c.reminder)
	}
	return list
}

// body is the request that asks for the next answer.
func (c *talk) body() string { return c.tongue.request(c) }

func (chatTongue) lead(c *talk, quoted string) string { return c.message("system", quoted) }

func (chatTongue) say(c *talk, role, quoted string) string { return c.message(role, quoted) }

func (chatTongue) request(c *talk) string {
	return `{"model":"` + c.model + `", "messages" : [` + strings.Join(c.messages(), ",\n ") + "],\n\"temperature\":1e-1," + c.declared() + "}\n"
}

// grow adds a turn.
func (c *talk) grow() {
	c.reminder = ""
	for range 1 + c.IntN(3) {
		c.tongue.group(c)
	}
	switch c.IntN(6) {
	case 0:
		c.add("assistant", c.string(c.words(30)))
		c.user()
	case 1:
		c.reminder = c.tongue.say(c, "user", c.string("<system-reminder>"+c.words(5)+"</system-reminder>"))
	case 2:
		c.reminder = c.message("system", c.string("It is "+fmt.Sprint(c.IntN(1000))))
	}
	if c.broken && c.IntN(4) == 0 {
		c.tongue.oddity(c)
	}
}

func (c *talk) add(role, quoted string) { c.items = append(c.items, c.tongue.say(c, role, quoted)) }

func (c *talk) user() { c.add("user", c.string(c.words(1+c.IntN(60)))) }

func (chatTongue) oddity(c *talk) {
	long := c.string(c.text())
	c.items = append(c.items, []string{
		c.message("critic", long), c.message("system", c.string("mid-list "+c.words(3))), c.message("developer", long),
		c.message("assistant", "null"), c.message("assistant", `""`), c.message("user", "null"), `{"role":"user"}`, `{"role":"tool"}`,
		`{}`, c.message("tool", long), `{"role":"tool","tool_call_id":"none","content":` + long + `}`, c.message("user", "[]"),
		`{"role":"tool","tool_call_id":7,"content":` + long + `}`, c.message("tool", `{"a":`+long+`}`), c.message("tool", "12"),
		`{"role":"assistant","content":null,"tool_calls":[]}`, `{"role":"assistant","tool_calls":null,"function_call":null}`,
		`{"role":"assistant","content":null,"function_call":{"name":"bash","arguments":"{}"}}`,
		`{"role":"function","name":"bash","content":` + long + `}`, `{"role":"function","content":` + long + `}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{broken"}}]}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":{"an":"object"}}},{"id":"a"},{}]}`,
		`{"role":"critic","content":` + long + `,"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}}]}`,
	}[c.IntN(23)])
}

// message writes a message, its keys in any order and with any white space.
func (c *talk) message(role, content string) string {
	r, s := `"role":`+c.space()+`"`+role+`"`, `"content":`+c.space()+content
	if c.IntN(3) == 0 {
		r, s = s, r
	}
	more := ""
	if c.IntN(8) == 0 {
		more = `,"x_unknown":[1.50e3, {"b":"ü\u00fc"}]`
	}
	return "{" + r + "," + c.space() + s + more + "}"
}

func (c *talk) space() string { return []string{"", "", " ", "\n\t"}[c.IntN(4)] }

func (chatTongue) group(c *talk) {
	n := 1 + max(0, c.IntN(6)-3)
	var calls, results []string
	for range n {
		c.calls++
		id := fmt.Sprintf("call_%d", c.calls)
		name, arguments, result := c.call()
		call := `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + c.string(arguments) + `}}`
		if c.IntN(12) == 0 { // free text
			file := fmt.Sprintf("src/file%d.go", c.IntN(4))
			call = `{"id":"` + id + `","type":"custom","custom":{"name":"apply_patch","input":` +
				c.string("*** Update File: "+file+"\n"+c.text()) + `}}`
			result = "Done"
		}
		calls, results = append(calls, call), append(results, `{"role":"tool","tool_call_id":"`+id+`","content":`+c.content(result)+`}`)
	}
	content := []string{"null", `""`, c.string(c.words(20)), `[{"type":"text","text":"ok"}]`, c.string(c.text())}[min(c.IntN(20), 4)]
	if c.IntN(4) == 0 {
		content += `,"reasoning_content":` + c.string(c.words(c.IntN(40)))
	}
	c.items = append(c.items, `{"role":"assistant","content":`+content+`,"tool_calls":[`+strings.Join(calls, ", ")+`]}`)
	if c.broken && c.IntN(8) == 0 {
		k := c.IntN(n)
		results = [][]string{nil, slices.Concat(results[:k], results[k+1:]), append(slices.Clone(results), results[k]),
			{results[k], c.message("user", `"stop"`)}}[c.IntN(4)]
	}
	c.reorder(results)
	c.items = append(c.items, results...)
}

// reorder has some results come in another order than their calls.
func (c *talk) reorder(results []string) {
	if c.IntN(4) == 0 {
		c.Shuffle(len(results), func(i, k int) { results[i], results[k] = results[k], results[i] })
	}
}

// declared are the tools, as they stand in a body.
func (c *talk) declared() string {
	if !c.tools {
		return `"tools":[]`
	}
	about := `"description":"It runs a command.",`
	switch c.tongue.Key() {
	case "":
		return `"tools":[{"type":"function","function":{` + about + `"name":"bash","parameters":{"type":"object"}}}]`
	case "messages":
		return `"tools":[{` + about + `"name":"bash","input_schema":{"type":"object"}}]`
	}
	return `"tools":[{"type":"function",` + about + `"name":"bash","parameters":{"type":"object"}}]`
}

// call is what is called with which arguments, as JSON, and what it results in.
func (c *talk) call() (name, with, result string) {
	file := fmt.Sprintf("src/file%d.go", c.IntN(4))
	arguments := map[string]any{}
	result = c.text()
	switch c.IntN(9) {
	case 0, 1:
		name, arguments["file_path"] = "Read", file
	case 2:
		name, arguments["path"], arguments["content"] = "write_file", file, c.text()
		result = "ok"
	case 3:
		name, arguments["command"] = "bash", "cat "+file
	case 4:
		name, arguments["pattern"] = "grep", c.words(1)
	case 5:
		name, arguments["query"], arguments["deep"] = "mcp__odd", c.words(3), []any{1, c.text(), map[string]any{"x": nil}}
	case 6:
		if len(c.seen) > 0 {
			name, arguments["command"] = "bash", "cat /data/artifacts/"+c.seen[c.IntN(len(c.seen))]+".txt"
			break
		}
		fallthrough
	default:
		name, arguments["command"] = "bash", "make "+c.words(1)
	}
	b, _ := json.Marshal(arguments)
	return name, string(b), result
}

// content is a result's content that holds the text.
func (c *talk) content(text string) string {
	switch c.IntN(12) {
	case 0:
		return `[{"type":"text","text":` + c.string(text) + `}]`
	case 1:
		half := len(text) / 2
		return `[{"text":` + c.string(strings.ToValidUTF8(text[:half], "")) + `,"type":"text"}, {"type":"text", "cache_control":{"type":"ephemeral"},"text":` +
			c.string(strings.ToValidUTF8(text[half:], "")) + `},"stray"]`
	case 2:
		return `[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"text","text":` + c.string(text) + `}]`
	}
	if c.broken && c.IntN(10) == 0 {
		return []string{"null", `""`, "[]", `{"text":` + c.string(text) + `}`,
			`"lone \ud800 ` + strings.Repeat(`line \udc00\n`, 200) + `"`}[c.IntN(5)]
	}
	return c.string(text)
}

// string writes a JSON string as one of the writers that are in use does.
func (c *talk) string(text string) string {
	switch c.IntN(8) {
	case 0:
		return string(ascii(text))
	case 1, 2:
		b, _ := json.Marshal(text)
		return string(b)
	case 3: // nobody's rule
		return strings.NewReplacer("/", `\/`, "e", `\u0065`, "é", `\u00E9`).Replace(string(span.AppendQuoted(nil, text)))
	}
	return string(span.AppendQuoted(nil, text))
}

// ascii writes a JSON string as Python does: with escapes for all that is not ASCII.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range string(span.AppendQuoted(nil, text)) {
		if r < 0x7f {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func (c *talk) words(n int) string {
	list := []string{"the", "build", "store", "écrit", "数据", "user_id", "HTTPServer", "fails", "<ok>", "in", "42", "🙂",
		"of", "cache", "a/b.go"}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(list[c.IntN(len(list))])
	}
	return b.String()
}

// text is what a tool prints.
func (c *talk) text() string {
	if len(c.said) > 0 && c.IntN(4) == 0 { // again, or a piece of it
		old := c.said[c.IntN(len(c.said))]
		lines := strings.SplitAfter(old, "\n")
		return strings.Join(lines[c.IntN(len(lines)):], "") + []string{"", "\n", "once more\n"}[c.IntN(3)]
	}
	var b strings.Builder
	n := []int{0, 1, 5, 20, 40, 120}[c.IntN(6)]
	if c.large && c.IntN(2) == 0 {
		n *= 6
	}
	kind := c.IntN(10)
	for i := range n {
		c.line(&b, kind, i)
	}
	s := b.String()
	if kind == 7 {
		s = "[" + strings.TrimSuffix(s, ",\n") + "]"
	}
	if c.IntN(4) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	c.said = append(c.said, s)
	return s
}

func (c *talk) line(b *strings.Builder, kind, i int) {
	switch kind {
	case 0, 1:
		fmt.Fprintf(b, "%6d\tfunc f%d(%s) error { return nil }\n", i+1, c.IntN(1000), c.words(4))
	case 2:
		fmt.Fprintf(b, "\r%3d%% [%s]\x1b[K", i, strings.Repeat("=", i%40))
		if i%10 == 9 {
			b.WriteString("\n")
		}
	case 3:
		fmt.Fprintf(b, "\x1b[3%dm%s\x1b[0m\x08\x08 done %d\r\n", i%8, c.words(6), i)
	case 4:
		fmt.Fprintf(b, "%s\r\n", c.words(8))
	case 5:
		b.WriteString(strings.Repeat(c.words(3)+" ", 10))
	case 6:
		b.WriteString("QUJDREVGSElKS0xNTk9Q")
	case 7:
		fmt.Fprintf(b, `{"id": %d, "name": %s, "tags": ["a", null, 1.5e3], "more": {"k": "%x"}},`+"\n", i, span.AppendQuoted(nil, c.words(3)), c.Uint64())
	case 8:
		if i == 3 {
			b.WriteString(plan.Mark + "not ours]\n")
		}
		fmt.Fprintf(b, "%s\n\n", c.words(5))
	default:
		fmt.Fprintf(b, "12:%02d:%02d INFO request %d %s\n", i/60, i%60, c.IntN(10_000), c.words(5))
	}
}
