package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"

	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "write the golden files")

// readAll reads a log under a name that says nothing.
func readAll(t *testing.T, log string) (all []Conversation, left string) {
	t.Helper()
	left, err := ReadFrom("log", strings.NewReader(log), func(c Conversation) error {
		all = append(all, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, left
}

// unsound says what is wrong with a conversation.
func unsound(c Conversation) error {
	q, err := chat.Dialect{}.Read(c.Body, nil)
	switch {
	case err != nil:
		return err
	case !json.Valid(c.Body):
		return errors.New("it is no JSON")
	case c.Times != nil && len(c.Times) != len(q.Items):
		return fmt.Errorf("%d times for %d messages", len(c.Times), len(q.Items))
	case c.Format == Requests: // as it came
		return nil
	}
	last := q.Items[len(q.Items)-1].Role
	answers := slices.ContainsFunc(q.Items,
		func(it conversation.Item) bool { return it.Role == conversation.Assistant })
	if flaws := q.Dialect.Flaws(q); len(flaws) > 0 || last == conversation.Assistant || !answers {
		return fmt.Errorf("flaws %v, the last is %v, answers: %v", flaws, last, answers)
	}
	return nil
}

// told returns a conversation as the golden files have it: a line for each message, behind its time.
func told(c Conversation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, model %s\n", c.Name, c.Format, gjson.GetBytes(c.Body, "model"))
	for i, m := range gjson.GetBytes(c.Body, "messages").Array() {
		if c.Times != nil {
			b.WriteString(c.Times[i].Format(time.TimeOnly) + " ")
		}
		b.WriteString(m.Raw + "\n")
	}
	return b.String()
}

func TestGoldenConversions(t *testing.T) {
	for name, want := range map[string]string{
		"claude": ClaudeCode, "codex": Codex, "opencode": OpenCode, "pi": Pi,
		"requests": Requests,
	} {
		log, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all, left := readAll(t, string(log))
		var b strings.Builder
		for _, c := range all {
			if err := unsound(c); err != nil || c.Format != want {
				t.Errorf("%s: %s is %s, %v", name, c.Name, c.Format, err)
			}
			b.WriteString(told(c) + "\n")
		}
		b.WriteString(left + "\n")
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if golden, err := os.ReadFile(path); err != nil || string(golden) != b.String() {
			t.Errorf("%s: %v, it is now\n%s", name, err, b.String())
		}
	}
}

func TestWhatCannotBeReadIsTold(t *testing.T) {
	f := func(log string, conversations int, want ...string) {
		t.Helper()
		all, left := readAll(t, log)
		if len(all) != conversations || (len(want) == 0) != (left == "") {
			t.Errorf("%.80q: %d conversations, left %q", log, len(all), left)
		}
		for _, w := range want {
			if !strings.Contains(left, w) {
				t.Errorf("%.80q: left %q, want %q", log, left, w)
			}
		}
	}
	const none = "cannot replay log: "
	good := `{"type":"user","message":{"content":"a"},"uuid":"1"}` + "\n" +
		`{"type":"assistant","message":{"content":"b"},"uuid":"2"}` + "\n" +
		`{"type":"user","message":{"content":"c"},"uuid":"3"}` + "\n"
	f(good, 1)
	f("\ufeff"+good, 1)
	f(strings.ReplaceAll(good, "\n", "\r\n\r\n"), 1)
	f("", 0, none+"it is empty")
	f(" \n\n", 0, none+"it is empty")
	f("x", 0, none+"it is no JSON")
	f("\x00\xff\xfe", 0, none+"it is no JSON")
	f("[1]", 0, none+"it is no JSON")
	f(`{"a":1}`, 0, none+"it holds no session of a format that is known")
	f(`{"messages":[]}`, 0, none+"it has no messages")
	f(`{"messages":[{"type":"user","content":"a"},{"type":"gemini","content":"b"}]}`,
		0, none+"it holds no session of a format that is known")
	f(`{"system":"s","messages":[{"role":"user","content":"a"}]}`,
		0, none+"it holds no session of a format that is known")
	f(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"y","input":{}}]}]}`, 0, none+"it holds no session of a format that is known")
	f(`{"messages":[{"role":"user","content":"a"}`, 0, none+"it is no JSON")
	f(`{"messages":[{"role":"user","content":"a"}]}`, 1)
	f(`{"messages":[1]}`, 0, none)
	f("{\n\"messages\": [\n{\"role\":\"user\",\"content\":\"a\"}\n]\n}\n", 1)
	f("{\n"+good+"x\n", 1, "left out of log: it is no JSON (2 times, first at line 1)")
	f(`{"type":"us`+"\n"+good+`{"type":"assistant","mess`, 1, "it is no JSON (2 times, first at line 1)")
	f(good[:strings.Index(good, "\n")], 0, none+"a session has fewer than two requests")
	f(strings.Join(strings.SplitAfter(good, "\n")[:2], ""), 0, none+"a session has fewer than two requests")
	f(`{"type":"session","id":"1","cwd":"/"}`, 0, none+"it holds no session")
	f(`{"history":[]}`, 0, none)
	f(`{"trajectory":[1,{"query":3},{}]}`, 0, none)
	f(`{"messages":[{"info":{},"parts":[]},7]}`, 0, none)
	f(`{"type":"session_meta","payload":{"base_instructions":{"text":7}}}`, 0, none)
	f(manyBad(20), 0, "and 12 times for other reasons")
	f(good+`{"type":"compacted","payload":{}}`+"\n"+`{"messages":[{"role":"user","content":"a"}]}`, 2)
}

// manyBad returns a log of requests each of which is broken at another place.
func manyBad(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"messages":[%s1]}`+"\n", strings.Repeat(`{"role":"user"},`, i))
	}
	return b.String()
}

func TestCallsAreSoundWhateverTheLogSays(t *testing.T) {
	line := func(kind, blocks string) string {
		return fmt.Sprintf(`{"type":%q,"message":{"content":[%s]}}`, kind, blocks) + "\n"
	}
	use := func(id, input string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"x","input":%s}`, id, input)
	}
	answer := func(id string) string {
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"r"}`, id)
	}
	ask := `{"type":"user","message":{"content":"go"}}` + "\n"
	f := func(want string, lines ...string) {
		t.Helper()
		all, left := readAll(t, ask+strings.Join(lines, "")+ask)
		if len(all) != 1 || unsound(all[0]) != nil {
			t.Fatalf("%q: %d conversations, left %q", lines, len(all), left)
		}
		var roles []string
		for _, m := range gjson.GetBytes(all[0].Body, "messages").Array() {
			roles = append(roles, m.Get("role").Str+m.Get("tool_calls.#").Raw)
		}
		if got := strings.Join(roles[1:len(roles)-1], " "); got != want {
			t.Errorf("%q: %s, want %s", lines, got, want)
		}
	}
	call := line("assistant", use("1", `{}`))
	f("assistant1 tool", call, line("user", answer("1")))
	f("assistant1 tool", call, line("user", answer("1")), line("user", answer("1")+","+answer("2")))
	f("assistant2 tool tool", line("assistant", use("1", `{}`)+","+use("2", `7`)+","+use("1", `{}`)),
		line("user", answer("2")), line("user", answer("1")))
	f("assistant1 tool", line("assistant", use("1", `{}`)+","+use("2", `{}`)), line("user", answer("2")))
	f("assistant1 tool user", call, ask, line("user", answer("1")))
	f("assistant1 tool assistant1 tool", call, line("user", answer("1")), call, line("user", answer("1")))
	f("assistant2 tool tool", line("assistant", use("", `"text"`)+","+use("", `{}`)),
		line("user", answer("")+","+answer("")))
	f("assistant user", line("assistant", `{"type":"text","text":"a"},`+use("1", `{}`)), ask)
}

func TestLongLinesAreSkipped(t *testing.T) {
	good := `{"type":"user","message":{"content":"a"}}` + "\n" + `{"type":"assistant","message":{"content":"b"}}` + "\n"
	for _, log := range []string{
		strings.Repeat("x", 200_000) + "\n" + good + good,
		good + `{"type":"user","message":{"content":"` + strings.Repeat("y", 200_000) + `"}}` + "\n" + good,
	} {
		var all []Conversation
		left, err := readFrom("log", newLines(strings.NewReader(log), 100_000), func(c Conversation) error {
			all = append(all, c)
			return nil
		})
		if err != nil || len(all) != 1 || gjson.GetBytes(all[0].Body, "messages.#").Int() != 3 ||
			!strings.Contains(left, "a line is longer") {
			t.Errorf("%v, %d conversations, left %q", err, len(all), left)
		}
	}
}

func TestWhatIsKeptOfALogIsBounded(t *testing.T) {
	var all []Conversation
	in := &intake{name: "log", room: 40, readers: make(map[string]reader), yield: func(c Conversation) error {
		all = append(all, c)
		return nil
	}}
	line := func(role, text string) string {
		return fmt.Sprintf(`{"type":%q,"message":{"content":%q}}`, role, text) + "\n"
	}
	in.read(newLines(strings.NewReader(line("user", "a")+line("assistant", "b")+line("user", "c")+line("user",
		strings.Repeat("x", 50))+line("user", "d")), mostLine))
	if len(all) != 1 || gjson.GetBytes(all[0].Body, "messages.#").Int() != 4 ||
		!strings.Contains(in.leftOut(), "of text that are kept") {
		t.Errorf("%d conversations, left %q", len(all), in.leftOut())
	}
}

func TestAnErrorOfTheListenerEndsReading(t *testing.T) {
	log, err := os.ReadFile("testdata/requests")
	if err != nil {
		t.Fatal(err)
	}
	times, stop := 0, errors.New("enough")
	_, err = ReadFrom("log", bytes.NewReader(log), func(Conversation) error {
		times++
		return stop
	})
	if err != stop || times != 1 {
		t.Errorf("%v after %d", err, times)
	}
}

func TestFindLooksIntoFolders(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a/one.jsonl": "{}", "a/two.json": "x", "a/b/rollout.ndjson": "x",
		"a/notes.md": "# {}", "a/list": "{ x", "c.txt": "x"} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := func(left int, paths, want []string) {
		t.Helper()
		for i := range paths {
			paths[i] = filepath.Join(folder, paths[i])
		}
		files, why := Find(paths)
		var got []string
		for _, file := range files {
			name, err := filepath.Rel(folder, file)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(name))
		}
		if !slices.Equal(got, want) || len(why) != left {
			t.Errorf("%q, want %q; left %q", got, want, why)
		}
	}
	f(0, []string{""}, []string{"a/b/rollout.ndjson", "a/one.jsonl", "a/two.json"})
	f(0, []string{"c.txt", "a/notes.md", "a", "a/b"},
		[]string{"a/b/rollout.ndjson", "a/notes.md", "a/one.jsonl", "a/two.json", "c.txt"})
	f(2, []string{"empty", "missing"}, nil)
}

func FuzzRead(f *testing.F) {
	logs, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range logs {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		n := 0
		left, err := ReadFrom("log", bytes.NewReader(log), func(c Conversation) error {
			n++
			return unsound(c)
		})
		if err != nil {
			t.Error(err)
		}
		if n == 0 && left == "" {
			t.Error("nothing was read, and nothing is told")
		}
	})
}
