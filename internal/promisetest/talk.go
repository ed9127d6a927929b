package promisetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// talk is a random conversation that grows as an agent's does. A broken one has messages as they should not be.
type talk struct {
	conversation
	api    string
	scope  string
	broken bool
	ends   []int    // how many messages there were when it grew
	made   int      // calls
	said   []string // results
}

func newTalk(api string, seed uint64, broken bool) *talk {
	c := &talk{api: api, broken: broken}
	c.pen = &pen{rand.New(rand.NewPCG(seed, 1))}
	models := map[string][]string{"chat": {"gpt-5", "gpt-4o"}, "messages": {"claude-opus-5-5", "claude-opus-5-6", "claude-sonnet-4"},
		"responses": {"gpt-5", "gpt-5.6"}}[api]
	c.model = models[c.pen.IntN(len(models))]
	if !c.pen.in(4) {
		c.system = "It is 12 o'clock. You are an agent. " + c.words(20)
	}
	c.user()
	return c
}

// fork returns the same conversation up to where it was when it grew for the nth time. From there on the user wants
// something else.
func (c *talk) fork(n int, seed uint64) *talk {
	f := *c
	f.pen = &pen{rand.New(rand.NewPCG(seed, 2))}
	f.ends = slices.Clone(c.ends[:n+1])
	f.messages, f.said, f.reminder = slices.Clone(c.messages[:c.ends[n]]), slices.Clone(c.said), ""
	f.made += 1000
	f.user()
	return &f
}

func (c *talk) add(messages ...string) { c.messages = append(c.messages, messages...) }

func (c *talk) user() { c.add(dialects[c.api].say(c.pen, "user", c.words(1+c.pen.IntN(60)))) }

// grow adds an answer with the results of its calls, and now and then what the user says to it.
func (c *talk) grow() {
	c.ends = append(c.ends, len(c.messages))
	d := dialects[c.api]
	a := answer{}
	if c.pen.in(2) {
		c.made++
		a.thought = fmt.Sprintf("Thought %d. %s", c.made, c.words(c.pen.IntN(30)))
	}
	if c.pen.in(2) {
		a.text = "So: " + c.words(20)
	}
	for range 1 + max(0, c.pen.IntN(6)-3) {
		a.calls = append(a.calls, c.call())
	}
	c.add(d.answer(c.pen, a)...)
	if c.pen.in(4) {
		c.pen.Shuffle(len(a.calls), func(i, k int) { a.calls[i], a.calls[k] = a.calls[k], a.calls[i] })
	}
	if c.broken && c.pen.in(8) { // one result is missing, or all come twice
		a.calls = [][]call{a.calls[1:], append(a.calls, a.calls...)}[c.pen.IntN(2)]
	}
	if len(a.calls) > 0 {
		c.add(d.results(c.pen, a.calls)...)
	}
	c.reminder = ""
	switch c.pen.IntN(6) {
	case 0:
		c.add(d.answer(c.pen, answer{text: c.words(30)})...)
		c.user()
	case 1:
		c.reminder = d.say(c.pen, "user", "<system-reminder>"+c.words(5)+"</system-reminder>")
	}
	if c.broken && c.pen.in(3) {
		odd := d.oddities(c.pen, c.pen.quote(c.text()))
		c.add(odd[c.pen.IntN(len(odd))])
	}
}

// call returns a call of one of some tools, with what came of it.
func (c *talk) call() call {
	c.made++
	file := fmt.Sprintf("src/file%d.go", c.pen.IntN(4))
	made := call{id: fmt.Sprintf("call_%d", c.made), result: c.text()}
	arguments := map[string]any{}
	switch c.pen.IntN(7) {
	case 0, 1:
		made.tool, arguments["file_path"] = "Read", file
	case 2:
		made.tool, arguments["path"], arguments["content"] = "write_file", file, c.text()
		made.result = "ok"
	case 3:
		made.tool, arguments["pattern"] = "grep", c.words(1)
	case 4:
		made.tool, arguments["query"] = "mcp__odd", c.words(3)
		arguments["deep"] = []any{1, c.text(), map[string]any{"x": nil}}
	case 5:
		made.tool, arguments["input"] = []string{"apply_patch", "local_shell"}[c.pen.IntN(2)], "*** Update File: "+file
	default:
		made.tool, arguments["command"] = "bash", "make "+c.words(1)
	}
	raw, _ := json.Marshal(arguments) // of texts and numbers never fails
	made.arguments = string(raw)
	return made
}

func (c *talk) words(n int) string {
	list := []string{"the", "build", "store", "écrit", "数据", "user_id", "HTTPServer", "fails", "<ok>", "in", "42", "🙂",
		"of", "cache", "a/b.go"}
	words := make([]string, n)
	for i := range words {
		words[i] = list[c.pen.IntN(len(list))]
	}
	return strings.Join(words, " ")
}

// text is what a tool prints, or a part of what one has printed before.
func (c *talk) text() string {
	if len(c.said) > 0 && c.pen.in(4) {
		lines := strings.SplitAfter(c.said[c.pen.IntN(len(c.said))], "\n")
		return strings.Join(lines[c.pen.IntN(len(lines)):], "") + c.pen.one("again", "again\n", "\nonce more\n")
	}
	var b strings.Builder
	kind := c.pen.IntN(9)
	for i := range []int{1, 5, 20, 40, 120, 200}[c.pen.IntN(6)] {
		switch kind {
		case 0, 1:
			fmt.Fprintf(&b, "%6d\tfunc f%d(%s) error { return nil }\n", i+1, c.pen.IntN(1000), c.words(4))
		case 2: // a progress bar
			fmt.Fprintf(&b, "\r%3d%% [%s]\x1b[K", i, strings.Repeat("=", i%40))
		case 3:
			fmt.Fprintf(&b, "\x1b[3%dm%s\x1b[0m\x08\x08 done %d\r\n", i%8, c.words(6), i)
		case 4: // one line
			b.WriteString(strings.Repeat(c.words(3)+" ", 10))
		case 5:
			b.WriteString("QUJDREVGSElKS0xNTk9Q")
		case 6:
			fmt.Fprintf(&b, `{"id": %d, "name": %q, "tags": ["a", null, 1.5e3], "more": {"k": "%x"}},`+"\n", i,
				c.words(3), c.pen.Uint64())
		case 7:
			b.WriteString(own + ": not ours]\n" + c.words(5) + "\n\n")
		default:
			fmt.Fprintf(&b, "12:%02d:%02d INFO request %d %s\n", i/60, i%60, c.pen.IntN(10_000), c.words(5))
		}
	}
	text := b.String()
	if kind == 6 {
		text = "[" + strings.TrimSuffix(text, ",\n") + "]"
	}
	c.said = append(c.said, text)
	return text
}
