package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"epitome/bench/sessions"
)

// talk is a made-up conversation that brings about some forms. Its text comes of numbers alone.
type talk struct {
	name     string
	settings string            // name of the configuration it is played with
	header   map[string]string // what the client asks of epitome
	model    string
	dialect  *dialect
	messages []any
	calls    int
	last     bool // it has no further request
}

// dialect is how the requests of a talk are written.
type dialect struct {
	path   string
	header map[string]string
	write  func(chat sessions.Conversation) (sessions.Conversation, error)
}

// dialects are the three, by name. Before each answer in Messages the model has thought.
func dialects() (chat, messages, responses *dialect) {
	const thought = 40 // tokens
	as := func(c sessions.Conversation) (sessions.Conversation, error) { return c, nil }
	chat = &dialect{path: chatPath, write: as}
	messages = &dialect{path: "/v1/messages", header: map[string]string{"Anthropic-Version": "2023-06-01"},
		write: func(c sessions.Conversation) (sessions.Conversation, error) { return c.Thinking(thought).AsMessages() }}
	responses = &dialect{path: "/v1/responses", write: sessions.Conversation.AsResponses}
	return chat, messages, responses
}

type message map[string]any

// The configurations, by name: what stands in [rewrite].
const (
	usual    = "usual"
	textOnly = "text_only"
)

func newTalk(name string) *talk {
	chat, _, _ := dialects()
	t := &talk{name: name, settings: usual, model: "small", header: map[string]string{}, dialect: chat}
	const task = "You keep the mill's ledgers and mend its programs."
	t.messages = append(t.messages, message{"role": "system", "content": task})
	return t
}

func (t *talk) user(text string) {
	t.messages = append(t.messages, message{"role": "user", "content": text})
}

func (t *talk) says(text string) {
	t.messages = append(t.messages, message{"role": "assistant", "content": text})
}

// call is a call with its result.
func (t *talk) call(tool string, arguments map[string]any, result string) {
	t.calls++
	id := fmt.Sprintf("call_%s_%d", t.name, t.calls)
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic("BUG: arguments that are no JSON: " + err.Error())
	}
	t.messages = append(t.messages, message{"role": "assistant", "content": nil, "tool_calls": []any{message{
		"id": id, "type": "function", "function": message{"name": tool, "arguments": string(raw)},
	}}}, message{"role": "tool", "tool_call_id": id, "content": result})
}

func (t *talk) reads(path, content string) {
	t.call("read_file", map[string]any{"path": path}, content)
}

// body returns the request with the first n messages.
func (t *talk) body(n int) []byte {
	b, err := json.Marshal(map[string]any{"model": t.model, "messages": t.messages[:n]})
	if err != nil {
		panic("BUG: a conversation that is no JSON: " + err.Error())
	}
	c, err := t.dialect.write(sessions.Conversation{Name: t.name, Body: b})
	if err != nil {
		panic("BUG: a conversation that has no other dialect: " + err.Error())
	}
	return c.Body
}

// in returns the talk in another dialect.
func (t *talk) in(d *dialect) *talk {
	t.dialect = d
	maps.Copy(t.header, d.header)
	return t
}

// requestHeader returns the header of all its requests.
func (t *talk) requestHeader() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"differ"}}
	for name, value := range t.header {
		h.Set(name, value)
	}
	return h
}

// source returns a file of n functions, each other than that of another seed.
func source(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "// grind%d_%d turns stone %d by %d notches.\n", seed, i, i, (seed*31+i*17)%97)
		fmt.Fprintf(&b, "func grind%d_%d(sack int) int {\n\treturn sack*%d + %d\n}\n\n", seed, i, seed+i, (i*i+seed)%89)
	}
	return b.String()
}

// journalOf returns a log of n lines.
func journalOf(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%02d:%02d miller=%d sacks=%d flour_%d.bin weighed %d grams\n",
			i/60%24, i%60, seed, i*seed%13, i*7+seed, i*i%991)
	}
	return b.String()
}

// terminalOutput returns what a build prints: a bar that is drawn again and again, and colours.
func terminalOutput(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\rgrinding [%s%s] %d/%d", strings.Repeat("#", i*20/n), strings.Repeat(".", 20-i*20/n), i, n)
		if i%20 == 19 {
			fmt.Fprintf(&b, "\r\x1b[K\x1b[32mok\x1b[0m sieve %d in %d ms\n", i/20, i*3)
		}
	}
	return b.String() + "\nall stones turn\n"
}

// table returns a JSON value of n rows.
func table(n int) string {
	rows := make([]any, n)
	for i := range rows {
		rows[i] = map[string]any{"sack": i, "weight": i*i%500 + 20,
			"mill": fmt.Sprintf("mill-%d", i%5), "dry": i%3 == 0}
	}
	raw, _ := json.Marshal(map[string]any{"rows": rows, "total": n}) // numbers and names always can be
	return string(raw)
}

// talks returns all talks. Each ends with a user's message and what one further turn adds.
func talks() []*talk {
	told, excess := compacted("told", "hybrid"), refused()
	told.last = true   // a model might be asked again
	excess.last = true // what was learned of its window holds for a day only
	all := []*talk{arriving(), clearing("cleared", 3), compacted("compacted", "intent"), told, excess}
	spent := clearing("spent", 3)
	spent.model = wideModel
	spent.header["x-epitome-protect-groups"] = "40" // what is not spent is not old
	rules := clearing("oldest_results", 3)
	rules.header["x-epitome-newest-tool-results"] = "3"
	turns := chatting("oldest_turns")
	turns.header["x-epitome-newest-turns"] = "4"
	messages := chatting("oldest_messages")
	messages.header["x-epitome-newest-messages"] = "8"
	answers := chatting("long_answers")
	answers.header["x-epitome-assistant-tokens"] = "200"
	words := clearing("only_text", 1)
	words.settings = textOnly
	all = append(all, spent, rules, turns, messages, answers, words)
	return append(all, otherTalks()...)
}

// otherTalks are those in other dialects, and what their forms are held against.
func otherTalks() []*talk {
	_, messages, responses := dialects()
	bound := compacted("messages_thought", "intent").in(messages)
	bound.model = boundModel
	all := []*talk{bound, compacted("messages_compacted", "intent").in(messages),
		compacted("responses_compacted", "intent").in(responses)}
	for _, t := range []*talk{
		clearing("old", 3), clearing("messages_cleared", 3).in(messages), clearing("responses_cleared", 3).in(responses),
	} {
		t.model = wideModel
		all = append(all, t)
	}
	return all
}

// arriving has results that are shortened when they come, in every way.
func arriving() *talk {
	t := newTalk("arrived")
	t.user("Why does the mill stop at noon?")
	t.call("run_command", map[string]any{"command": "make mill"}, terminalOutput(300))
	t.reads("mill/stones.go", source(1, 90))
	t.call("query", map[string]any{"sql": "select * from sacks"}, table(150))
	t.reads("mill/wheel.go", source(2, 24))
	t.call("run_command", map[string]any{"command": "cat mill/wheel.go mill/dam.go"}, source(2, 24)+source(3, 5))
	t.says("The wheel is short of water.")
	t.user("Then mend the dam.")
	t.call("run_command", map[string]any{"command": "tail mill.log"}, journalOf(4, 120))
	t.says("Mended.")
	t.user("Thank you.")
	return t
}

// clearing reads, writes and reads again, so that results are old, outdated and repeated.
func clearing(name string, rounds int) *talk {
	t := newTalk(name)
	t.header["x-epitome-rent"] = "0.05"
	t.user("Bring the ledgers up to date.")
	for i := range rounds * 3 {
		path := fmt.Sprintf("ledger/year%d.go", i)
		t.reads(path, source(10+i, 12))
		t.call("write_file", map[string]any{"path": path, "content": source(40+i, 14)}, "written")
		t.reads(path, source(40+i, 14))
		t.reads("ledger/names.txt", journalOf(7+i, 24))
		t.call("run_command", map[string]any{"command": fmt.Sprintf("go test ./ledger/year%d", i)}, journalOf(60+i, 10))
		t.says(fmt.Sprintf("Year %d is done.", i))
		t.user(fmt.Sprintf("And year %d?", i+1))
	}
	return t
}

// compacted goes on until the window is full, several times.
func compacted(name, summaries string) *talk {
	t := newTalk(name)
	t.header["x-epitome-summarize-mode"] = summaries
	for i := range 14 {
		t.user(fmt.Sprintf("Task %d: grind the rye of field %d, but keep %d sacks of seed.", i, i*3+1, i+2))
		t.says("First I look at what lies in the barn. " + strings.Repeat(fmt.Sprintf("Sack %d is dry. ", i), 40))
		t.reads(fmt.Sprintf("barn/field%d.txt", i), journalOf(100+i, 40))
		t.call("run_command", map[string]any{"command": fmt.Sprintf("./grind --field %d", i)}, source(130+i, 6))
		t.says(fmt.Sprintf("Field %d is ground: %d sacks of flour.", i, 40+i*7%11))
	}
	t.user("What is left to grind?")
	return t
}

// refused returns a talk that the upstream refuses: it holds less than epitome believes.
func refused() *talk {
	t := newTalk("refused")
	t.model = narrowModel
	t.user("Read all deeds of the mill.")
	for i := range 12 {
		t.reads(fmt.Sprintf("deeds/%d.txt", i), journalOf(200+i, 45))
	}
	t.says("All are in order.")
	t.user("Then seal them.")
	return t
}

// chatting is of words alone, with long answers.
func chatting(name string) *talk {
	t := newTalk(name)
	for i := range 10 {
		t.user(fmt.Sprintf("What does stone %d weigh, and where does it lie?", i))
		stone := fmt.Sprintf("Stone %d weighs %d pounds. It lies %d ells from the wheel.\n", i, 90+i, i*4)
		t.says(strings.Repeat(stone, 18))
	}
	t.user("And the last one?")
	return t
}

// further is what one more turn adds to each talk: an answer and a result that is too long.
func (t *talk) further() {
	t.reads("mill/last.go", source(300, 60))
	t.says("That is all of it.")
	t.user("Good.")
}
