package replay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"epitome/bench/baselines"
	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/bench/sessions"
)

// playedOf returns the files of a folder that are played, and how many conversations were left out.
func playedOf(t *testing.T, folder string) (files []string, copies int) {
	t.Helper()
	report, text := replayed(t, Options{Paths: []string{folder}, Windows: []int{1000},
		baselines: baselines.All(policy.Unit{})[:1]})
	for _, c := range report.Courses {
		files = append(files, filepath.Base(c.Conversation))
	}
	if told := strings.Contains(text,
		"conversations were left out: they are the beginning of another one"); told != (report.Copies > 0) {
		t.Errorf("%d copies: %s", report.Copies, text)
	}
	if report.Conversations != len(files) {
		t.Errorf("%d conversations are counted, %d played", report.Conversations, len(files))
	}
	return files, report.Copies
}

func TestConversationThatBeginsAnotherOneCountsOnce(t *testing.T) {
	all := []string{benchtest.Says("user", "a"), benchtest.Says("assistant", "b"), benchtest.Says("user", "c"),
		benchtest.Says("assistant", "d"), benchtest.Says("user", "e"), benchtest.Says("user", "f")}
	f := func(conversations map[string]string, want ...string) {
		t.Helper()
		got, copies := playedOf(t, folderOf(t, conversations))
		if !slices.Equal(got, want) || copies != len(conversations)-len(want) {
			t.Errorf("%q are played, want %q; %d copies", got, want, copies)
		}
	}
	whole, early := benchtest.Chat(all...), benchtest.Chat(all[:3]...)
	f(map[string]string{"1.json": early, "2.json": whole, "3.json": benchtest.Chat(all[0])}, "2.json")
	f(map[string]string{"1.json": whole, "2.json": whole, "3.json": early, "4.json": early},
		"1.json") // of equal ones the first
	fork := benchtest.Chat(append(slices.Clone(all[:3]), benchtest.Says("assistant", "other"),
		benchtest.Says("user", "e"))...)
	f(map[string]string{"1.json": whole, "2.json": fork, "3.json": early}, "1.json", "2.json")
	f(map[string]string{"1.json": whole, "2.json": benchtest.Chat(all[2:]...)}, "1.json", "2.json")
	f(map[string]string{"1.json": whole, "2.json": benchtest.Chat(all[:5]...)},
		"1.json") // before an answer came the user said more
	// How a content is written makes no difference, nor what stands beside the messages.
	parts := strings.Replace(early, `"content":"a"`, `"content":[{"type":"text","text":"a","cache_control":{}}]`, 1)
	f(map[string]string{"1.json": strings.Replace(parts, `"seed"`, `"tools":[{}],"seed"`, 1), "2.json": whole},
		"2.json")
	got, copies := playedOf(t, folderOf(t, map[string]string{"1.json": "{", "2.json": `{"messages":[]}`,
		"3.json": `{"messages":[]}`, "4.json": whole}))
	if !slices.Equal(got, []string{"4.json"}) || copies != 0 {
		t.Errorf("beside what cannot be read %q are played; %d copies", got, copies)
	}
}

func TestCopiesWithinOneLogAndAcrossLogs(t *testing.T) {
	line := func(messages ...string) string {
		var b strings.Builder
		if err := json.NewEncoder(&b).Encode(json.RawMessage(benchtest.Chat(messages...))); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	a, b, c := benchtest.Says("user", "a"), benchtest.Says("assistant", "b"), benchtest.Says("user", "c")
	folder := folderOf(t, map[string]string{
		"1.jsonl": line(a, b, c) + line(c, b, a), "2.jsonl": line(a, b, c, b, c) + line(c, b, a),
		"3.jsonl": line(b, c, b, a),
	})
	report, _ := replayed(t, Options{Paths: []string{folder}, Windows: []int{1000},
		baselines: baselines.All(policy.Unit{})[:1]})
	var names []string
	for _, x := range report.Courses {
		names = append(names, filepath.Base(x.Conversation))
	}
	if want := []string{"1.jsonl, 2", "2.jsonl", "3.jsonl"}; !slices.Equal(names, want) || report.Copies != 2 ||
		report.Origins[0].Conversations != 3 {
		t.Errorf("%q are played, %d copies, %+v", names, report.Copies, report.Origins)
	}
}

func TestSourceThatCanBeReadOnceIsNotCompared(t *testing.T) {
	var opened atomic.Int32
	once := source{name: "pipe", read: func(yield func(sessions.Conversation) error) (string, error) {
		opened.Add(1)
		return "", yield(sessions.Conversation{Body: []byte(benchtest.Smalltalk())})
	}}
	twice := once
	twice.twice = true
	copies, err := findCopies(t.Context(), []source{once, twice, twice})
	if err != nil || opened.Load() != 2 || copies[0] != nil || !slices.Equal(copies[1], []bool{false}) ||
		!slices.Equal(copies[2], []bool{true}) {
		t.Errorf("%v, %v, read %d times", copies, err, opened.Load())
	}
	broken := source{twice: true, read: func(func(sessions.Conversation) error) (string, error) {
		return "",
			errors.New("no luck")
	}}
	if _, err = findCopies(t.Context(), []source{broken}); err == nil {
		t.Error("an error was lost")
	}
	r := &replayRun{Options: Options{Paths: []string{os.DevNull}}}
	if sources, _ := r.sources(); len(sources) != 1 || sources[0].twice {
		t.Errorf("%+v", sources)
	}
}
