package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"epitome/bench/sessions"
)

func TestBodiesComeBackFromDeltas(t *testing.T) {
	f := func(bodies ...string) {
		t.Helper()
		var x track
		for i, body := range bodies {
			x.add(note{kind: sent, turn: i}, []byte(body))
		}
		r := x.read()
		for i, want := range bodies {
			if n, got := r.next(); string(got) != want || n.turn != i {
				t.Errorf("got body %d %q of turn %d; want %q", i, got, n.turn, want)
			}
		}
		if n, _ := r.next(); n != nil {
			t.Errorf("got a note behind the last one: %v", n)
		}
	}
	long := strings.Repeat("0123456789", 1000)
	f("")
	f("", "a", "", "b")
	f("aa", "aaa", "aa", "a", "aaaa")
	f(`{"m":["a"]}`, `{"m":["a","b"]}`, `{"m":["c","b"]}`, `{"m":["c","b"]}`)
	f(long, long+"x", "x"+long, long[:5000]+"y"+long[5000:], long)
}

func TestEveryDifferenceOfTracksIsTold(t *testing.T) {
	type entry struct {
		kind string
		turn int
		head string
		body string
	}
	trackOf := func(entries []entry) *track {
		x := &track{}
		for _, e := range entries {
			x.add(note{kind: e.kind, turn: e.turn, head: e.head}, []byte(e.body))
		}
		return x
	}
	old := []entry{
		{sent, 0, "h", "one"}, {answered, 0, "ok", "a"},
		{asked, 1, "h", "why"}, {sent, 1, "h", "one two"}, {answered, 1, "ok", "a"},
	}
	f := func(edit func(e []entry) []entry, want ...string) {
		t.Helper()
		var got []string
		edited := edit(append([]entry(nil), old...))
		differTracks("p", trackOf(old), trackOf(edited), func(d difference) { got = append(got, d.String()) })
		if len(got) != len(want) {
			t.Fatalf("got %d differences %q; want %d", len(got), got, len(want))
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("got %q; want one with %q", got[i], want[i])
			}
		}
	}
	f(func(e []entry) []entry { return e })
	f(func(e []entry) []entry { e[3].body = "one twO"; return e },
		"p, request 2, sent upstream: differs from byte 6 on (7 and 7 bytes)\n  old \"one two\"\n  new \"one twO\"")
	f(func(e []entry) []entry { e[0].body, e[3].body = "on", "on two"; return e }, "request 1, sent", "request 2, sent")
	f(func(e []entry) []entry { e[1].head = "no"; return e }, "request 1, answered, head: differs from byte 0 on")
	f(func(e []entry) []entry { return append(e[:2], e[3:]...) },
		"request 2, asked upstream: only with the old build")
	f(func(e []entry) []entry { return e[:3] },
		"request 2, sent upstream: only with the old", "request 2, answered: only with the old")
	f(func(e []entry) []entry { return append(e, entry{asked, 2, "", ""}) },
		"request 3, asked upstream: only with the new build")
}

func TestEveryDifferenceOfFoldersIsTold(t *testing.T) {
	folder := func(files ...string) string {
		dir := t.TempDir()
		for _, name := range files {
			name, text, _ := strings.Cut(name, "=")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	f := func(old, new string, want string) {
		t.Helper()
		var got []string
		if err := differFolders(old, new, func(d difference) { got = append(got, d.String()) }); err != nil {
			t.Fatal(err)
		}
		if (len(got) > 0) != (want != "") || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], want) {
			t.Errorf("got %q; want %q", got, want)
		}
	}
	f(folder("a=1", "b=2"), folder("a=1", "b=2"), "")
	f(folder("a=1", "b=2"), folder("a=1", "b=3"), "artifact b: differs from byte 0 on")
	f(folder("a=1", "b=2"), folder("a=1"), `artifact b: only with the old build: "2"`)
	f(folder("a=1"), folder("a=1", "c=9"), `artifact c: only with the new build: "9"`)
	f(filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "none"), "")
}

func TestRequestsOfAConversationExtendOneAnother(t *testing.T) {
	body := `{"model":"m", "messages": [{"role":"user","content":"a"}, {"role":"assistant","content":"b"},` + "\n" +
		`{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"} ],"tools":[]}`
	f := func(most, left int, want ...string) {
		t.Helper()
		p, err := conversation(sessions.Conversation{Name: "x", Body: []byte(body)}, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.requests) != len(want) || p.left != left {
			t.Fatalf("got %d requests and %d left out; want %d and %d", len(p.requests), p.left, len(want), left)
		}
		for i, w := range want {
			cut, rest := strings.Index(body, w)+len(w), strings.Index(body, " ],")
			if got := string(p.requests[i].body()); got != body[:cut]+body[rest:] {
				t.Errorf("got request %d %s; want it to end with %s", i+1, got, w)
			}
		}
	}
	f(0, 0, `"a"}`, `"c"}`, `"e"}`)
	f(3, 0, `"a"}`, `"c"}`, `"e"}`)
	f(2, 1, `"a"}`, `"e"}`)
	f(1, 2, `"e"}`)
}

func TestClientsRequestsAreReadAsTheyAre(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a-headers.json": `{"path":"/v1/chat/completions","headers":{"host":"h","x-one":"1",` +
			`"authorization":"<redacted>","content-length":"9"}}`,
		"a-b-headers.json": `{"path":"/v1/messages","headers":{"x-two":"2"}}`,
		"a-mid.json":       " {\"a\" : 1}\n", "a-small.json": `{}`, "a-b-mid.json": `{"b":1}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := readClients(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		for _, q := range p.requests {
			got = append(got, fmt.Sprintf("%s %s %v %q", p.name, q.path, q.header, q.body()))
		}
	}
	one, two := http.Header{"X-One": {"1"}}, http.Header{"X-Two": {"2"}}
	want := []string{
		fmt.Sprintf("client a-b /v1/messages %v %q", two, `{"b":1}`),
		fmt.Sprintf("client a /v1/chat/completions %v %q", one, " {\"a\" : 1}\n"),
		fmt.Sprintf("client a /v1/chat/completions %v %q", one, `{}`),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// build builds epitome and returns the path of the binary.
func build(t *testing.T) string {
	t.Helper()
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("builds the program and stops it by signals; run without -short, and not on Windows")
	}
	watchSources(t)
	binary := filepath.Join(t.TempDir(), "epitome")
	command := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, ".")
	command.Dir = filepath.Join("..", "..")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("cannot build epitome: %v\n%s", err, out)
	}
	return binary
}

// watchSources reads the module's folders: go test's cache sees what a test opens but not what the go build it starts
// reads, and would keep a stale "ok".
func watchSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBuildsAreCompared(t *testing.T) {
	same := build(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("#!/bin/sh\nexec '"+same+"' \"$@\" --mode off\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := func(binary, mode, summaries string, differs bool) {
		t.Helper()
		var out bytes.Buffer
		n, err := execute(t.Context(), []string{
			"--old", same, "--new", binary, "--windows", "16k", "--modes", mode, "--summaries", summaries,
			"--sessions", "2", "--turns", "8",
		}, &out)
		if err != nil || n > 0 != differs {
			t.Errorf("got %d differences and %v:\n%s", n, err, out.String())
		}
		for _, word := range []string{"2 conversations and clients with 16 requests", "compact "} {
			if !strings.Contains(out.String(), word) {
				t.Errorf("got no %q in:\n%s", word, out.String())
			}
		}
		if got := strings.Contains(out.String(), asked); got != (summaries == "hybrid") {
			t.Errorf("a model was asked: %v, with summaries %s:\n%s", got, summaries, out.String())
		}
	}
	f(same, "on", "intent", false)
	f(same, "on", "hybrid", false)
	f(same, "observe", "intent", false)
	f(other, "on", "intent", true)
}
