package replay

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/config"
	"epitome/offload"
	"epitome/summarize"
)

func says(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }

func calls(id, tool, arguments string) string {
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":`+
		`{"name":%q,"arguments":%q}}]}`, id, tool, arguments)
}

func returns(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

func requestOf(messages ...string) string {
	return `{"model":"gpt-5", "messages": [` + strings.Join(messages, ", ") + ` ], "seed":1.50}`
}

// talk has three requests.
var talk = []string{says("user", "Why is the sky blue?"), says("assistant", "It scatters."), says("user", "And red?"),
	says("assistant", "Also."), says("user", "Thanks.")}

// fake is a shaper for tests: edit returns what is sent in the place of a body.
type fake struct {
	edit      func(body string) (sent string, err error)
	artifacts map[string]string
}

func (f *fake) shape(original *request) (shaped, error) {
	sent, err := f.edit(string(original.Body))
	artifact := func(name string) ([]byte, error) { return []byte(f.artifacts[name]), nil }
	return shaped{body: []byte(sent), artifact: artifact}, err
}

// replacing returns a fake that replaces texts in every request that contains trigger.
func replacing(trigger string, pairs ...string) *fake {
	return &fake{edit: func(body string) (string, error) {
		if !strings.Contains(body, trigger) {
			return body, nil
		}
		return strings.NewReplacer(pairs...).Replace(body), nil
	}}
}

// run replays files with one session each through a policy, or, without one, as the command does.
func run(t *testing.T, window int, s *fake, bodies ...string) *Report {
	t.Helper()
	folder := t.TempDir()
	for i, body := range bodies {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", i)), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Paths: []string{folder}, Windows: []int{window}, Progress: io.Discard,
		Config: defaults(t)}
	if s != nil {
		open := func(*session, int) shaper { return s.shape }
		o.policies = []policy{{"epitome", open}}
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t *testing.T, body string) *session {
	t.Helper()
	s, err := newSession([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(t *testing.T, what string, got ratio, want float64) {
	t.Helper()
	if got.of == 0 || math.Abs(got.sum/got.of-want) > 1e-9 {
		t.Errorf("%s: %s, want %g", what, got.Text(9), want)
	}
}

func TestCommonPrefixCostsATenth(t *testing.T) {
	s := open(t, requestOf(talk...))
	var n []float64
	for _, m := range s.whole.messages {
		n = append(n, float64(m.tokens))
	}
	f := 3.0 // beside the messages
	first, second := f+n[0], n[1]+n[2]
	raw := first + (0.1*first + second) + (0.1*(first+second) + n[3] + n[4])

	r := run(t, 64_000, replacing("none"), requestOf(talk...))
	near(t, "cost of everything", r.Rows[0].Cost, 1)
	near(t, "breaks", r.Rows[0].BreaksPer100, 0)
	if r.Requests != 3 || len(r.Missed()) > 0 {
		t.Errorf("%+v, missed %q", r, r.Missed())
	}

	// The last request changes the third message, so all from there on is new.
	changed := replacing("Thanks", "And red?", "Or red?")
	r = run(t, 64_000, changed, requestOf(talk...))
	near(t, "cost with a change", r.Rows[0].Cost, (first+(0.1*first+second)+0.1*(first+n[1])+n[2]+n[3]+n[4])/raw)
	near(t, "breaks", r.Rows[0].BreaksPer100, 100.0/3)
	if len(r.Missed()) > 0 {
		t.Errorf("%+v, missed %q", r, r.Missed())
	}
}

// needy is a session whose last answer names a path of eight answers ago, one of the answer before, a name of both, one
// that nobody has said, and repeats a line.
func needy() string {
	const line = "a line of code that is repeated"
	messages := []string{says("user", "Mend src/new please."), calls("1", "run", `{}`),
		returns("1", "src/old other_name\n"+line+"\n")}
	for range 7 {
		messages = append(messages, says("assistant", "Well."), says("user", "Go on."))
	}
	return requestOf(append(messages, calls("2", "run", `{}`), returns("2", "src/new other_name"),
		calls("3", "edit", `{"path":"src/old","to":"src/new","text":"other_name never_said\n`+line+`\n"}`),
		returns("3", "ok"))...)
}

func TestNeedsAreMetByMessagesAndQuotedLines(t *testing.T) {
	const artifact = "aaaabbbbccccddddeeeeffff22"
	f := func(name, sent string, artifacts map[string]string, recall, older, lines, retrievable float64) {
		t.Helper()
		s := replacing(`"2"`, `src/old other_name\na line of code that is repeated\n`, sent)
		s.artifacts = artifacts
		r := run(t, 250, s, needy()).Rows[0]
		near(t, name+": recall", r.Recall, recall)
		near(t, name+": older", r.RecallOlder, older)
		near(t, name+": lines", r.RecallLines, lines)
		if retrievable >= 0 {
			near(t, name+": retrievable", r.Retrievable, retrievable)
		}
	}
	some := 200.0 / 3
	f("whole", `src/old other_name\na line of code that is repeated\n`, nil, 100, 100, 100, -1)
	f("gone", "gone", nil, some, 0, 0, 0)
	f("retrievable", "see "+artifact, map[string]string{artifact: "with src/old in it"}, some, 0, 0, 100)
	f("other artifact", "see "+artifact, map[string]string{artifact: "nothing"}, some, 0, 0, 0)
	f("bare name", "about src/old", nil, some, 0, 0, 0)
	f("quoted", `  1: src/old other_name\n`, nil, 100, 100, 0, -1)

	dead := run(t, 100, replacing("none"), needy())
	if near(t, "over the window", dead.Rows[0].Recall, 0); dead.Rows[0].Died != 1 || len(dead.Missed()) != 1 {
		t.Errorf("%+v", dead)
	}
}

func TestInvalidRequestsAreCounted(t *testing.T) {
	f := func(name string, s *fake) {
		t.Helper()
		r := run(t, 64_000, s, needy())
		if r.Rows[0].Invalid == 0 || len(r.Missed()) == 0 {
			t.Errorf("%s: %d invalid", name, r.Rows[0].Invalid)
		}
	}
	fails := func(string) (string, error) { return "", errors.New("no luck") }
	half := func(body string) (string, error) { return body[:50], nil }
	f("failed", &fake{edit: fails})
	f("half", &fake{edit: half})
	f("a result without a call", replacing(`"1"`, calls("1", "run", `{}`)+",", ""))
	f("a call without a result", replacing(`"ok"`, returns("2", "src/new other_name")+",", ""))
	f("cut arguments", replacing(`"ok"`, `"{\"path`, `"{path`))
	f("nothing said", replacing("Go on", `"Well."`, "null"))
	if r := run(t, 64_000, replacing("Go on", "Well.", "!"), needy()); r.Rows[0].Invalid > 0 {
		t.Error("a shorter request is invalid")
	}
}

func TestFailuresOfNewOutputs(t *testing.T) {
	output := strings.Repeat("ok pkg 0.1s\n", 5) + "--- FAIL: TestA (0.00s)\nok pkg 0.2s\npanic: no\nwith 0 errors\n"
	body := requestOf(says("user", "Test."), calls("1", "bash", `{"command":"make test"}`), returns("1", output),
		calls("2", "bash", `{"command":"cd a && cat b.log | head -9"}`), returns("2", "panic: an old one\n"),
		says("assistant", "Done."), says("user", "So?"))
	f := func(s *fake, seen, signal, first float64) {
		t.Helper()
		r := run(t, 64_000, s, body).Rows[0]
		near(t, "seen", r.Seen, seen)
		if signal < 0 {
			if r.Signal.of != 0 {
				t.Errorf("signal of an output that is sent whole: %s", r.Signal.Text(1))
			}
			return
		}
		near(t, "signal", r.Signal, signal)
		near(t, "first", r.SignalFirst, first)
	}
	f(replacing("none"), 100, -1, -1)
	f(replacing("make", `--- FAIL: TestA (0.00s)\n`, ""), 50, 50, 0)
	f(replacing("make", `\npanic: no`, ""), 50, 50, 100)
}

func TestFailuresAreRecognised(t *testing.T) {
	for _, line := range []string{"FAIL\tpkg [build failed]", "main.go:3:9: undefined: x", "E   assert 1 == 2",
		"Traceback (most recent call last):", "error[E0308]: mismatched types", "bash: x: command not found",
		"  ✗ adds", "2 tests failed", "thread 'main' panicked at src/a.rs:1", "Process exited with code 1"} {
		if !isFailure(line) {
			t.Errorf("%q is no failure", line)
		}
	}
	for _, line := range []string{"0 errors", "ok  pkg", "=== RUN TestError", "if err != nil {", "see error_page.go",
		"all good", "12\tpanic: quoted", "✓ fails well", strings.Repeat("error: x", 200)} {
		if isFailure(line) {
			t.Errorf("%q is a failure", line)
		}
	}
}

func TestTextThatACallOnlyShowsIsNoOutputUnlessTheCallFailed(t *testing.T) {
	const quote = "panic: an old one\nand more\n"
	f := func(want int, tool, arguments, result string) {
		t.Helper()
		s := open(t, requestOf(says("user", "Go."), calls("1", tool, arguments), returns("1", result),
			says("assistant", "Done."), says("user", "So?")))
		if got := len(s.turns[1].outputs); got != want {
			t.Errorf("%s %s: %d outputs, want %d", tool, arguments, got, want)
		}
	}
	f(0, "Read", `{"file_path":"b.log"}`, quote)
	f(0, "exec_command", `{"cmd":"cd a && git log -3"}`, quote)
	f(1, "Read", `{"file_path":"b.log"}`, "<tool_use_error>File does not exist.</tool_use_error>")
	f(1, "bash", `{"command":["bash","-lc","cat b.log"]}`, "cat: b.log: No such file or directory")
	f(1, "bash", `{"command":"go test ./... | tail"}`, quote)
	f(1, "look", `{}`, quote)
}

// long is a session of some 1000 tokens a round, all of them in what is said or, with tools, in results.
func long(rounds int, tools bool) string {
	messages := []string{says("system", "You help."), says("user", "Tell me a long story.")}
	for n := range rounds {
		text := strings.Repeat(fmt.Sprintf("part_%d of it, ", n), 200)
		if tools {
			id := fmt.Sprint(n)
			messages = append(messages, calls(id, "look", `{}`), returns(id, text))
			continue
		}
		messages = append(messages, says("assistant", text), says("user", fmt.Sprintf("More of number_%d.", n)))
	}
	return requestOf(messages...)
}

// playLong plays a session through a policy, and returns the last request that is sent and all that a model was asked.
func playLong(t *testing.T, p policy, body string, window int) (sent string, all []asked) {
	t.Helper()
	s := open(t, body)
	shape := p.open(s, window)
	for _, turn := range s.turns {
		original, err := s.read(s.bodyAt(turn.end), &request{}, s.known)
		if err != nil {
			t.Fatal(err)
		}
		now, err := shape(original)
		if err != nil || len(flawsOf(now.body)) > 0 {
			t.Fatal(err, flawsOf(now.body))
		}
		r, err := s.read(now.body, &request{}, map[string]*message{})
		if err != nil || p.name != "send everything" && r.tokens > window {
			t.Fatalf("%s: %d tokens, %v", p.name, r.tokens, err)
		}
		sent, all = string(now.body), append(all, now.asked...)
	}
	if !strings.Contains(sent, "long story") {
		t.Errorf("%s loses the task: %.1000s", p.name, sent)
	}
	return sent, all
}

func TestBaselinesKeepSessionsSmall(t *testing.T) {
	f := func(number int, body string, want, gone string) {
		t.Helper()
		sent, _ := playLong(t, baselines[number], body, 16_000)
		if !strings.Contains(sent, want) || gone != "" && strings.Contains(sent, gone) {
			t.Errorf("%s sends %.2000s", baselines[number].name, sent)
		}
	}
	f(0, long(40, true), "part_0 ", "")
	f(1, long(40, true), "part_39 ", "part_9 ")
	f(1, long(40, false), "part_39 ", "part_9 ")
	f(2, long(20, true), "part_17 ", "part_9 ")
}

// defaults are those of config.toml.
func defaults(t *testing.T) config.Config {
	t.Helper()
	text, err := os.ReadFile("../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	return config.Defaults(string(text))
}

func TestModelsAreAskedAsItIsConfigured(t *testing.T) {
	conf := defaults(t)
	f := func(mode summarize.Mode) []asked {
		t.Helper()
		conf.Summarize.Mode = mode
		sent, all := playLong(t, ownPolicy(conf, offload.Options{Address: "none"}), long(40, false), 32_000)
		if strings.Contains(sent, "And so on. And so on.") != (len(all) > 0) {
			t.Errorf("%s: %d answers of a model, %.3000s", mode, len(all), sent)
		}
		return all
	}
	if all := f(summarize.Intent); len(all) > 0 {
		t.Errorf("%d requests to a model", len(all))
	}
	all := f(summarize.Auto)
	if len(all) == 0 || all[0].output < 100 || !strings.Contains(string(all[0].body), "part_1 ") {
		t.Errorf("asked %.1000v", all)
	}
}
