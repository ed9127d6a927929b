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

// firstName is the fixture of a build whose texts had other words.
const firstName = "first.tar.gz"

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
	eachReplayed(t, firstName, func(was, is recorded) {
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
	if len(want) != len(talks()) || len(got) != len(want) {
		t.Fatalf("got %d talks; the fixture has %d, and made up are %d", len(got), len(want), len(talks()))
	}
	for i, w := range want {
		if got[i].Name != w.Name || len(got[i].sent) != len(w.requests) || len(w.requests) == 0 {
			t.Errorf("got %d requests of %s; want %d of %s", len(got[i].sent), got[i].Name, len(w.requests), w.Name)
			continue
		}
		f(w, got[i])
	}
}

func TestTheFixtureHasEveryForm(t *testing.T) {
	all, err := fixture(t, firstName).recordings()
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
	f("arrived", `lines \d+-\d+ of \d+ left out`)
	f("arrived", `preview of a JSON value of `)
	f("arrived", `above is the final screen of terminal output of `)
	f("arrived", `they are lines \d+-\d+ of the earlier result of `)
	f("spent", `cleared: old\.`)
	f("spent", `cleared: what it shows was written later\.`)
	f("spent", `cleared: the same was read again later\.`)
	f("spent", `bytes of an argument left out`)
	f("cleared", `epitome: summary `)
	f("compacted", `epitome: summary .*cleared: old`)
	f("told", `epitome: summary .*point 1 of part 1`)
	f("refused", `epitome: summary .*lines \d+-\d+ of \d+ left out`)
	f("oldest_results", `cleared: older than the results that are to be sent`)
	f("oldest_turns", `earlier messages left out`)
	f("oldest_messages", `earlier messages left out`)
	f("long_answers", `of an earlier answer`)
	f("only_text", `calls with their results left out`)
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
