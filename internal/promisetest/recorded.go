package promisetest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"epitome/internal/needtest"
)

// Files returns recorded conversations, each a request of Chat Completions: those in the folder that EPITOME_CORPUS
// names, or else one in so many of those that lie beside the checkout. Without any the test is skipped.
func Files(t testing.TB, one int) (files []string) {
	t.Helper()
	folder := os.Getenv("EPITOME_CORPUS")
	if folder != "" {
		one = 1
	} else {
		for folder = "."; !exists(filepath.Join(folder, "go.mod")); folder = filepath.Join("..", folder) {
			if len(folder) > 100 {
				t.Fatal("cannot find the module's folder")
			}
		}
		folder = filepath.Join(folder, "../shared/corpus")
	}
	all, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	for i := 0; i < len(all); i += one {
		files = append(files, all[i])
	}
	if len(files) == 0 {
		needtest.Skip(t, "no recorded conversations: set EPITOME_CORPUS to a folder of chat-completions requests")
	}
	return files
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// PlayFile plays a recorded conversation turn by turn, as a client of the API has it, at a window of so many tokens.
// In the middle and at the end the process is replaced by another one over the same storage.
func PlayFile(t testing.TB, start Start, api, path string, window int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	turns := record(api, gjson.ParseBytes(raw))
	if len(turns) == 0 {
		t.Fatalf("%s has no turn", path)
	}
	storage := NewStorage()
	j := newJudge(t, storage)
	j.sparse = 16 // servers are slow
	p := player{TB: t, judge: j, core: start(t, storage), start: start}
	var asked []Request
	for i, body := range turns {
		storage.now = storage.now.Add(20 * time.Second)
		r := Request{API: api, Body: body, Scope: "one", Upstream: "up", Window: window, Now: storage.now}
		if i == len(turns)/2 {
			p.restart()
		}
		p.ask(r)
		asked = append(asked, r)
	}
	last, _ := parse(dialects[api], turns[len(turns)-1])
	if most := 2 + len(turns)/10 + j.sizeOf(last)/window; p.broke > most { // each window that fills is compacted
		t.Errorf("promise 5: in %d turns what was sent before has changed %d times", len(turns), p.broke)
	}
	p.restart()
	for i := 1; i <= 3; i++ {
		p.ask(asked[(len(asked)-1)*i/3]) // the judge knows what was sent then
	}
	p.core.Close()
}

// player asks a core and has a judge look at the answers.
type player struct {
	rapid.TB
	judge   *judge
	core    Core
	start   Start
	broke   int
	learned bool // the provider has refused thinking
}

func (p *player) restart() {
	p.core.Close()
	p.core = p.start(p.TB, p.judge.storage)
}

func (p *player) ask(r Request) Sent {
	p.Helper()
	return p.taken(r, p.core.Shape(r))
}

// taken returns what the provider takes in the end of a request, and has the judge look at it. Thinking that is bound
// may be refused once.
func (p *player) taken(r Request, s Sent) Sent {
	p.Helper()
	if p.judge.refuses(r, s) {
		if p.learned {
			p.Fatalf("promise 3: the provider refuses thinking although it has done so before")
		}
		p.learned, r.NoThinking = true, true
		s = p.core.Shape(r)
		if p.judge.refuses(r, s) {
			p.Fatalf("promise 3: the provider refuses thinking twice")
		}
	}
	p.judge.check(r, s)
	if s.Breaks {
		p.broke++
	}
	return s
}

// record returns the requests of a recorded conversation, as a client of the API sent them: each up to an answer.
func record(api string, recorded gjson.Result) (turns [][]byte) {
	d := dialects[api]
	c := &conversation{pen: &pen{}, model: recorded.Get("model").Str}
	if api == "chat" {
		c.tools = recorded.Get("tools").Raw
	} else if c.model = "gpt-5"; api == "messages" {
		c.model = "claude-opus-5-5"
	}
	called := map[string]call{}
	var results []call
	hear := func() {
		if results != nil {
			c.messages = append(c.messages, d.results(c.pen, results)...)
		}
		results = nil
	}
	for i, m := range recorded.Get("messages").Array() {
		role, text := m.Get("role").Str, textOf(m.Get("content"))
		if role != "tool" {
			hear()
		}
		switch {
		case role == "tool":
			result := called[m.Get("tool_call_id").Str]
			result.result = text
			results = append(results, result)
		case role == "assistant":
			if last := len(c.messages) - 1; last >= 0 && gjson.Get(c.messages[last], "role").Str != "assistant" {
				turns = append(turns, d.body(c))
			}
			a := answer{thought: "Thought " + strconv.Itoa(i), text: text}
			for k, made := range m.Get("tool_calls").Array() {
				one := call{id: "call_" + strconv.Itoa(i) + "_" + strconv.Itoa(k), tool: made.Get("function.name").Str,
					arguments: made.Get("function.arguments").Str}
				if !gjson.Valid(one.arguments) {
					one.arguments = "{}"
				}
				called[made.Get("id").Str] = one
				a.calls = append(a.calls, one)
			}
			if len(c.messages) == 0 {
				c.messages = append(c.messages, d.say(c.pen, "user", "Begin."))
			}
			c.messages = append(c.messages, d.answer(c.pen, a)...)
		case role != "user" && len(c.messages) == 0:
			c.system += text
		case text != "":
			c.messages = append(c.messages, d.say(c.pen, "user", text))
		}
	}
	if hear(); len(c.messages) > 0 {
		turns = append(turns, d.body(c))
	}
	return turns
}

// textOf returns the text of a content.
func textOf(content gjson.Result) (text string) {
	texts("content", content, func(part string) { text += part })
	return text
}
