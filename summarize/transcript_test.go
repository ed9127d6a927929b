package summarize_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"epitome/summarize"
)

const source = "abcdefghijklmnopqrstuvwxyz"

func TestTranscriptShowsMessagesAsTheyWereSaid(t *testing.T) {
	f := func(want string, items ...string) {
		t.Helper()
		r, calls := read(t, items...)
		_, got, _ := strings.Cut(string(summarize.Transcript(r, calls, 1, len(r.Items), source)), source+
			".txt in the same folder]\n\n")
		got = strings.ReplaceAll(got, "["+fmt.Sprintf("%x", r.Chain()[len(r.Items)][:4])+": ", "[id: ")
		if got != want {
			t.Errorf("%q\nis shown as\n%s\nnot\n%s", items, got, want)
		}
	}
	f("[id: message 2: user]\nOne\n\tTwo é\n\n[id: message 3: assistant]\n\n[id: message 4: system]\nMind.\n\n",
		`{"role":"user","content":"One\n\tTwo \u00e9\n"}`, `{"role":"assistant","content":null}`,
		`{"role":"developer","content":"Mind."}`)
	f("[id: message 2: assistant]\nI see.\n\n"+
		"[id: call of bash]\nmake\necho $?\n5\n\n"+
		"[id: message 3: user]\nWait.\n\n"+
		"[id: message 4: result of bash `make ↵ echo $?`, failed, exit code 1]\nno rule\nExit code 1\n\n",
		`{"role":"assistant","content":"I see.","tool_calls":[{"id":"a","type":"function","function":{"name":"bash",`+
			`"arguments":"{\"command\":\"make\\necho $?\",\"timeout\":5}"}}]}`,
		`{"role":"user","content":"Wait."}`, `{"role":"tool","tool_call_id":"a","content":"no rule\nExit code 1"}`)
	f("[id: message 2: assistant]\n\n[id: call of exec, unclear]\na\nb\n\n"+
		"[id: call of odd, unclear]\n{\"a\"\n\n[id: message 3: tool]\nlate\n\n",
		`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"exec","input":"a\nb"}},`+
			`{"id":"b","function":{"name":"odd","arguments":"{\"a\""}}]}`,
		`{"role":"tool","tool_call_id":"none","content":"late"}`)
	f("[id: message 2: user]\na␀b\n\n", `{"role":"user","content":"a\u0000b"}`) // else grep shows no line of it
	f("[id: message 2: user]\nSee:\nThere.\n(with picture)\n\n",
		`{"role":"user","content":[{"type":"text","text":"See:"},{"type":"image_url",`+
			`"image_url":{"url":"https://a/b.png"}},`+
			`{"type":"text","text":"There."}]}`)
}

// A transcript that was lost can be made again when the conversation has gone on, even with a late result of a call in it.
func TestTranscriptStaysTheSame(t *testing.T) {
	made := call("bash", `{"command":"make"}`, "ok")
	made = []string{made[0], user("Wait."), made[1]}
	r, calls := read(t, made[:2]...)
	later, laterCalls := read(t, made...)
	before := summarize.Transcript(r, calls, 1, len(r.Items), source)
	if after := summarize.Transcript(later, laterCalls, 1, len(r.Items), source); string(after) != string(before) {
		t.Errorf("%s\nhas become\n%s", before, after)
	}
}

// A model is asked about results as they are, whatever they look like, and about messages without what clients put in.
func TestEntriesHaveResultsWhole(t *testing.T) {
	const file = "Base directory for this skill: /srv\n<skill>\n<name>sum</name>\n</skill>"
	r, calls := read(t, join(call("Read", `{"path":"/srv/SKILL.md"}`, file), user("<skill>\nsum\n</skill>"))...)
	list := summarize.Entries(r, calls, 1, len(r.Items))
	if last := list[len(list)-1]; last.Text != file || !strings.HasSuffix(last.Speaker, "result of Read `/srv/SKILL.md`, ok") {
		t.Errorf("the last of %d entries is %+v", len(list), last)
	}
}

// Promise 10: the memory, and so the time, for the quotes of a compaction grows with what is quoted alone.
func TestManyLinesAreQuotedInOnePass(t *testing.T) {
	memory := func(lines int) (took int) {
		log := strings.Repeat("12:00:01 INFO request 17 took 3 ms\n", lines)
		r, calls := read(t, user(log), user(log), assistant("I look."), user("Go on."))
		c := summarize.Carried{Client: r, Request: r, Calls: calls, First: 2, Room: 2_000, Count: count}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := c.Text()
		runtime.ReadMemStats(&after)
		if !strings.Contains(text, "> Go on.") {
			t.Errorf("of %d lines, the newest message is not quoted", lines)
		}
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	if few, many := memory(5_000), memory(20_000); many > 8*few {
		t.Errorf("5,000 lines take %d MB, 20,000 take %d", few>>20, many>>20)
	}
}
