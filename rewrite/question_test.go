package rewrite

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
	"epitome/tokenize"
)

// continues holds what is continued: it begins as what was sent before, to the byte, it ends at a cut, and it is sound.
func continues(t *testing.T, q prose.Question, before string) {
	t.Helper()
	r, err := chat.Read(q.Continue)
	if err != nil || !json.Valid(q.Continue) || len(r.Flaws()) > 0 {
		t.Fatalf("%v, %v: %.300s", err, r.Flaws(), q.Continue)
	}
	end := r.Items[len(r.Items)-1].End
	if !strings.HasPrefix(before, string(q.Continue[:end])) {
		t.Errorf("what is continued is not what was sent before: %s", firstDifference(before, string(q.Continue)))
	}
	if rest := string(q.Continue[end:]); rest != `],"stream":true}` {
		t.Errorf("behind the messages stands %q", rest)
	}
	was, _ := chat.Read([]byte(before))
	if n := len(r.Items); n < len(was.Items) && was.Items[n].Role != conversation.Assistant {
		t.Errorf("the cut falls before a message of the %s", was.Items[n].Role)
	}
}

// The provider has in its cache what was sent before; that is continued, in the forms in which it was sent then, even
// where the request in hand changes them.
func TestContinuedRequestIsWhatTheProviderHasInItsCache(t *testing.T) {
	a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	before := ""
	send := func() {
		t.Helper()
		if out := a.send(t); !compacts(out) {
			before = string(out.Body)
		}
	}
	for len(n.asked) == 0 { // offloaded results are among it
		a.work(1, 300)
		send()
		a.work(1, 3_000)
		send()
	}
	if !strings.Contains(string(n.asked[0].Continue), " omitted, of ") {
		t.Error("no shortened result is continued")
	}
	continues(t, n.asked[0], before)
	for len(n.asked) == 1 { // and a summary
		before = string(a.send(t).Body)
		a.work(1, 300)
		a.send(t)
	}
	if !strings.Contains(string(n.asked[1].Continue), "Work number 1") {
		t.Error("no summary is continued")
	}
	continues(t, n.asked[1], before)

	for range 14 {
		a.work(1, 300)
		before = string(a.send(t).Body)
	}
	a.limits.ClearAt, a.limits.ClearAtLeast = .01, 100
	a.limits.Protect, a.limits.Groups, a.limits.KeepTail = 3_000, 1, 500
	a.work(1, 300)
	a.now = true
	out := a.send(t)
	if !compacts(out) || len(n.asked) != 3 {
		t.Fatalf("not compacted: %+v", out.Report)
	}
	continues(t, n.asked[2], before)
	if strings.Contains(string(n.asked[2].Continue), "cleared") {
		t.Error("what is cleared now is continued so")
	}
}

// A model is asked by transcript where its window has no room for the conversation with what is asked behind it.
func TestRequestThatDoesNotFitIsToldByTranscript(t *testing.T) {
	f := func(needs int, continued bool) {
		t.Helper()
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		n.needs = needs
		out, before := a.grow(t, 300)
		q := n.asked[0]
		if (q.Continue != nil) != continued || len(q.Transcript) < 20 || q.Usable != out.Report.Usable {
			t.Errorf("needs %d: %d bytes are continued, %d entries are told", needs, len(q.Continue), len(q.Transcript))
		}
		if continued {
			continues(t, q, string(before.Body))
			r, _ := chat.Read(q.Continue)
			counter, _ := vocabularies.For(tokenize.O200k)
			scale := conversation.Scale{Model: a.deps.Models.Of(r.Model), Counter: counter, Memo: a.memo}
			if tokens := rewritetest.Count(r, scale).Total(); tokens+needs > out.Report.Usable {
				t.Errorf("%d tokens are continued, of %d usable, and %d are needed", tokens, out.Report.Usable, needs)
			}
		}
	}
	f(0, true)
	f(2_000, true)
	f(4_000, true)
	f(6_000, false)
	f(1<<40, false)
}

// What is told of the conversation: who said what, how calls ended, and which belong together.
func TestTranscriptTellsWhoSaidWhatAndHowCallsEnded(t *testing.T) {
	const picture = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`
	a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	a.items[1] = `{"role":"user","content":[` + picture + `,{"type":"text","text":"The task."},{"type":"text","text":"With care."}]}`
	a.does("bash", `{"command":"make"}`, "no rule\nexit code: 2")
	a.does("bash", `{"command":"make all"}`, "well\nexit code: 0")
	a.does("bash", `{"command":"cat x"}`, "Error: no x")
	a.does("Read", `{"file_path":"x.go"}`, "package x")
	a.items = append(a.items,
		`{"role":"system","content":"Mind the gap."}`,
		`{"role":"assistant","content":"Both at once.","tool_calls":[{"id":"a","type":"function","function":{"name":"one","arguments":"{\"n\": 1}"}},{"id":"b","type":"custom","custom":{"name":"two","input":"free text"}}]}`,
		`{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"second"},`+picture+`]}`,
		`{"role":"tool","tool_call_id":"a","content":""}`,
		`{"role":"user","content":[`+picture+`]}`,
		`{"role":"critic","content":"Hm."}`, `{"role":"user","content":"Go on."}`)
	a.grow(t, 300)
	f := func(group int, kind prose.Kind, tool, state, text string) prose.Entry {
		return prose.Entry{Group: group, Kind: kind, Tool: tool, State: state, Text: text}
	}
	want := []prose.Entry{
		f(0, prose.User, "", "", "The task.\nWith care."),
		f(1, prose.Call, "bash", "", `{"command":"make"}`),
		f(1, prose.Result, "bash", "failed, exit code 2", "no rule\nexit code: 2"),
		f(2, prose.Call, "bash", "", `{"command":"make all"}`),
		f(2, prose.Result, "bash", "exit code 0", "well\nexit code: 0"),
		f(3, prose.Call, "bash", "", `{"command":"cat x"}`),
		f(3, prose.Result, "bash", "", "Error: no x"),
		f(4, prose.Call, "Read", "", `{"file_path":"x.go"}`),
		f(4, prose.Result, "Read", "", "package x"),
		f(4, prose.System, "", "", "Mind the gap."),
		f(5, prose.Assistant, "", "", "Both at once."),
		f(5, prose.Call, "one", "", `{"n": 1}`),
		f(5, prose.Call, "two", "", "free text"),
		f(5, prose.Result, "two", "", "second"),
		f(5, prose.Result, "one", "", ""),
		f(5, prose.System, "", "", "Hm."),
		f(5, prose.User, "", "", "Go on."),
		f(6, prose.Call, "bash", "", `{"command":"make part_5"}`),
	}
	got := n.asked[0].Transcript
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("entry %d is %+v, not %+v", i, got[i], want[i])
		}
	}
	if !slices.IsSortedFunc(got, func(a, b prose.Entry) int { return a.Group - b.Group }) ||
		got[len(got)-1].Group < 20 {
		t.Error("groups do not rise")
	}
	if last := got[len(got)-1]; last.Kind != prose.Result {
		t.Errorf("the span ends with %+v", last)
	}
}

// With no user's message that opens the conversation, the span begins with its first message, and the summary is one of
// its own.
func TestTranscriptOfAConversationWithoutATask(t *testing.T) {
	a := newAgent(16_000)
	n := a.listen()
	a.style.Mode = prose.ModeLLM
	told := 0
	for round := range 3 {
		a.grow(t, 300)
		q := n.asked[round]
		if whole := story(t, a.items); !slices.Equal(bare(q.Transcript), whole[told:told+len(q.Transcript)]) {
			t.Errorf("round %d: not the span is told", round)
		}
		told += len(q.Transcript)
		a.restart()
	}
}

// What was added to a conversation stands in what is continued too: else the provider would have none of it in its
// cache, and thinking that it bound to that would be refused.
func TestContinuedRequestHasWhatWasAdded(t *testing.T) {
	a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	a.asks = []string{"docs"}
	a.stack(docs())
	before := ""
	for len(n.asked) == 0 {
		if out := a.send(t); !compacts(out) {
			before = string(out.Body)
		}
		a.work(1, 300)
	}
	if !strings.Contains(before, "api.md") {
		t.Fatalf("nothing was added: %.300s", before)
	}
	continues(t, n.asked[0], before)
}
