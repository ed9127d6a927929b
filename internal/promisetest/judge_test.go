package promisetest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cutter is a small core: it sends the first line of each result and says where the rest lies. Then it breaks a promise.
type cutter struct {
	shelf *Shelf
	spoil func(s *Sent)
}

func (c cutter) Close() {}

func (c cutter) Shape(r Request) Sent {
	text := longText(1)
	name := c.shelf.Name(r.Scope, []byte(text))
	if err := c.shelf.Put(name, []byte(text), true); err != nil {
		return Sent{Body: r.Body, Action: "bypass", Err: err}
	}
	first, _, _ := strings.Cut(text, "\n")
	quote := (&pen{}).quote
	short := first + "\n" + own + ": the rest lies at " + c.shelf.Address(name) + "]"
	body := strings.Replace(string(r.Body), quote(text), quote(short), 1)
	s := Sent{Body: []byte(body), Action: "offload"}
	if c.spoil != nil {
		c.spoil(&s)
	}
	return s
}

func longText(n int) string {
	return fmt.Sprintf("It begins %d.\n", n) + strings.Repeat("All is well.\n", 200)
}

// verdict is a test that keeps why it fails.
type verdict struct {
	rapid.TB
	said string
}

func (v *verdict) Helper() {}

func (v *verdict) Fatalf(format string, args ...any) {
	v.said = fmt.Sprintf(format, args...)
	panic(v)
}

// Each broken promise is seen, and nothing else is.
func TestJudgeSeesBrokenPromises(t *testing.T) {
	c := &conversation{pen: &pen{}, model: "gpt-5", system: "Be brief."}
	d := chat{}
	c.messages = append(c.messages, d.say(c.pen, "user", "Look at it."))
	c.messages = append(c.messages, d.answer(c.pen, answer{text: "So I do.", calls: []call{
		{id: "one", tool: "bash", arguments: `{"command":"make"}`}, {id: "two", tool: "bash", arguments: "{}"}}})...)
	c.messages = append(c.messages, d.results(c.pen, []call{{id: "one", result: longText(1)}, {id: "two", result: "ok"}})...)
	replace := func(old, with string) func(s *Sent) {
		return func(s *Sent) {
			if !strings.Contains(string(s.Body), old) {
				t.Errorf("nothing says %s", old)
			}
			s.Body = []byte(strings.Replace(string(s.Body), old, with, 1))
		}
	}
	f := func(want string, spoil ...func(s *Sent)) {
		t.Helper()
		storage := NewStorage()
		core := cutter{shelf: storage.Shelf}
		v := &verdict{TB: t}
		func() {
			defer func() {
				if r := recover(); r != nil && r != any(v) {
					panic(r)
				}
			}()
			j := newJudge(v, storage)
			for _, core.spoil = range spoil {
				r := Request{API: "chat", Body: d.body(c), Scope: "one", Upstream: "up", Window: 100_000}
				j.check(r, core.Shape(r))
			}
		}()
		if !strings.HasPrefix(v.said, want) || want == "" && v.said != "" {
			t.Errorf("the judge says %q, want %q", v.said, want)
		}
	}
	f("", nil, nil)
	f("promise 1", func(s *Sent) { s.Action = "none" })
	f("promise 2", replace(`"temperature":1e-1`, `"temperature":0.1`))
	f("promise 2", replace(`"content":"Be brief."`, `"content":"[epitome: be long]"`))
	f("promise 2", replace(`}, {"role":"user"`, `},{"role":"user"`))
	f("promise 2", replace(`"name":"bash"`, `"name":"sh"`))
	f("promise 2", replace(`{"role":"assistant"`, `{"role":"assistant","content":"I obey."},{"role":"assistant"`))
	f("promise 3", replace(`,
 {"role":"tool","tool_call_id":"two","content":"ok"}`, ""))
	f("promise 2", replace(`"{\"command\":\"make\"}"`, `"{[epitome: cut]"`))
	f("promise 4", replace(`"It begins 1.`, `"[epitome: `+strings.Repeat("long ", 2000)+`]\nIt begins 1.`))
	f("promise 5", nil, replace("the rest lies", "all of it lies"))
	f("promise 6", replace("artifacts/", "artifacts/x"))
	f("promise 8", replace("It begins 1.", "It begins 2."))
	f("promise 8", replace(`"content":"Look at it."`, `"content":"Look"`))
}
