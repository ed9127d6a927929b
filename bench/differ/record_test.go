package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// The fixtures of builds whose texts may have had other words, and how many talks each has.
const (
	firstName  = "first.tar.gz"
	secondName = "second.tar.gz" // in all dialects
)

var sizes = map[string]int{firstName: 11, secondName: 17}

// fixture returns an archive of recorded forms.
func fixture(t *testing.T, name string) archive {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	a, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The current program sends what an earlier build has recorded as that build did. What it decides for a further request
// may have other words, but it leaves as much of what was sent before as it was.
func TestRecordedFormsAreSentToTheByte(t *testing.T) {
	for name := range sizes {
		t.Run(name, func(t *testing.T) { sendsToTheByte(t, name) })
	}
}

func sendsToTheByte(t *testing.T, name string) {
	eachReplayed(t, name, func(was, is recorded) {
		if d := differ(was.Name+", the last request", was.sent[0], is.sent[0]); d != nil {
			t.Error(d)
		}
		if len(was.sent) < 2 {
			return
		}
		if old, now := common(was.sent[0], was.sent[1]), common(is.sent[0], is.sent[1]); now < old {
			t.Errorf("%s: a further request begins with %d bytes of the last one, with %d in the build that recorded it",
				was.Name, now, old)
		}
	})
}

// common returns how many bytes two bodies begin with alike.
func common(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// eachReplayed gives f each talk of a fixture, as it was sent and as the current program sends it.
func eachReplayed(t *testing.T, name string, f func(was, is recorded)) {
	t.Helper()
	a, s := fixture(t, name), stage{root: t.TempDir(), binary: build(t)}
	var err error
	if s.upstream, err = startProvider(); err != nil {
		t.Fatal(err)
	}
	defer s.upstream.close()
	want, err := a.recordings()
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.replay(t.Context(), a, filepath.Join(s.root, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != sizes[name] || len(got) != len(want) {
		t.Fatalf("got %d talks of the %d of %s; it should have %d", len(got), len(want), name, sizes[name])
	}
	for i, w := range want {
		if got[i].Name != w.Name || len(got[i].sent) != len(w.requests) || len(w.requests) == 0 {
			t.Errorf("got %d requests of %s; want %d of %s", len(got[i].sent), got[i].Name, len(w.requests), w.Name)
			continue
		}
		f(w, got[i])
	}
}

func TestTheFixturesHaveEveryForm(t *testing.T) {
	for name := range sizes {
		t.Run(name, func(t *testing.T) { hasEveryForm(t, name) })
	}
}

func hasEveryForm(t *testing.T, fixtureName string) {
	all, err := fixture(t, fixtureName).recordings()
	if err != nil {
		t.Fatal(err)
	}
	f := func(name, pattern string) {
		t.Helper()
		i := slices.IndexFunc(all, func(r recorded) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("there is no talk %s", name)
		}
		if !regexp.MustCompile(pattern).Match(all[i].sent[0]) {
			t.Errorf("nothing that was sent of %s matches %q", name, pattern)
		}
		if bytes.Equal(all[i].sent[0], all[i].requests[0]) {
			t.Errorf("%s was sent as it came", name)
		}
	}
	for talk, patterns := range forms(fixtureName) {
		for _, pattern := range patterns {
			f(talk, pattern)
		}
	}
	if fixtureName == firstName {
		return
	}
	count := func(name, what string) int {
		i := slices.IndexFunc(all, func(r recorded) bool { return r.Name == name })
		return bytes.Count(all[i].sent[0], []byte(what))
	}
	const answer, thought = `"role":"assistant"`, `{"type":"thinking"`
	if answers, thoughts := count("messages_compacted", answer), count("messages_compacted", thought); thoughts < answers {
		t.Errorf("%d answers are sent with %d thoughts, though the model does not bind them", answers, thoughts)
	}
	if answers, thoughts := count("messages_thought", answer), count("messages_thought", thought); thoughts == 0 || thoughts >= answers {
		t.Errorf("%d answers are sent with %d thoughts, want some before them taken out", answers, thoughts)
	}
}

// forms are patterns of what stands in what was sent, by talk.
func forms(fixtureName string) map[string][]string {
	all := map[string][]string{
		"arrived": {`lines \d+-\d+ of \d+ left out`, `preview of a JSON value of `,
			`above is the final screen of terminal output of `, `they are lines \d+-\d+ of the earlier result of `},
		"spent":           {`cleared: what it shows was written later\.`, `cleared: the same was read again later\.`},
		"cleared":         {`epitome: summary `},
		"told":            {`epitome: summary .*point 1 of part 1`},
		"refused":         {`epitome: summary .*lines \d+-\d+ of \d+ left out`},
		"oldest_results":  {`cleared: older than the results that are to be sent`},
		"oldest_turns":    {`earlier messages left out`},
		"oldest_messages": {`earlier messages left out`},
		"only_text":       {`calls with their results left out`},
	}
	if fixtureName == firstName {
		all["compacted"] = []string{`epitome: summary .*cleared: old`}
		all["long_answers"] = []string{`of an earlier answer`}
		all["spent"] = append(all["spent"], `cleared: old\.`, `bytes of an argument left out`)
		return all
	}
	all["spent"] = append(all["spent"], `a part of this argument is left out here`)
	all["compacted"] = []string{`epitome: summary `}
	all["long_answers"] = []string{`an earlier answer has \d+ tokens`}
	for _, dialect := range []string{"messages", "responses"} {
		all[dialect+"_compacted"] = []string{`epitome: summary `}
		all[dialect+"_cleared"] = []string{`cleared: old`}
	}
	all["old"], all["messages_thought"] = []string{`cleared: old`}, []string{`epitome: summary `}
	return all
}

func TestArchivesKeepContentsAndTimes(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	far := time.Date(2080, 1, 2, 3, 4, 5, 678, time.UTC)
	for _, name := range []string{"b", filepath.Join("in", "a")} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, far, far); err != nil {
			t.Fatal(err)
		}
	}
	var a archive
	if err := a.addFolder("x/", from); err != nil {
		t.Fatal(err)
	}
	packed, err := append(a, archived{"y", []byte("aside"), far}).pack()
	if err != nil {
		t.Fatal(err)
	}
	b, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.extract("x/", to); err != nil {
		t.Fatal(err)
	}
	f := func(name string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || string(text) != "text of "+name {
			t.Errorf("got %q, %v", text, err)
		}
		was, err := os.Stat(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if is, err := os.Stat(filepath.Join(to, name)); err != nil || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("got another time: %v, %v; want %v", is, err, was.ModTime())
		}
	}
	f("b")
	f(filepath.Join("in", "a"))
	if _, err := os.Stat(filepath.Join(to, "y")); err == nil {
		t.Error("a file of another prefix was written")
	}
}
