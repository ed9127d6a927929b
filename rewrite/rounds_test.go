package rewrite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/span"
)

// story is what messages say, as a transcript tells it, but for how calls ended.
func story(t testing.TB, items []string) (list []prose.Entry) {
	t.Helper()
	called := map[string]string{}
	for _, item := range items {
		var m struct {
			Role, Content string
			ID            string `json:"tool_call_id"`
			Calls         []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal([]byte(item), &m); err != nil {
			t.Fatal(err)
		}
		kind := prose.Kind(strings.Replace(m.Role, "tool", string(prose.Result), 1))
		if m.Content != "" || kind == prose.Result {
			list = append(list, prose.Entry{Kind: kind, Tool: called[m.ID], Text: m.Content})
		}
		for _, c := range m.Calls {
			called[c.ID] = c.Function.Name
			list = append(list, prose.Entry{Kind: prose.Call, Tool: c.Function.Name, Text: c.Function.Arguments})
		}
	}
	return list
}

// bare are entries as a story has them.
func bare(list []prose.Entry) (all []prose.Entry) {
	for _, e := range list {
		all = append(all, prose.Entry{Kind: e.Kind, Tool: e.Tool, Text: e.Text})
	}
	return all
}

// Each round updates the prose of the last one, and is told all that came since: no part of the conversation twice, and
// none not at all. What is kept of it stays, however many rounds there are.
func TestTwelveRoundsOfProseKeepTheTaskAndMissNothing(t *testing.T) {
	const pinned = `{"role":"system","content":"Never touch part_0."}`
	a, n := styled(16_000, prose.Style{Mode: prose.ModeHybrid})
	a.work(1, 300)
	a.items = append(a.items, pinned)
	at, earlier := 1, "" // of the story behind the task; the prose of the last round
	for round := range 12 {
		a.answers("Done so far.", fmt.Sprintf("Request number %d, please.", round))
		out, _ := a.grow(t, 300+round*30)
		if len(n.asked) != round+1 {
			t.Fatalf("round %d: %d questions", round, len(n.asked))
		}
		q := n.asked[round]
		whole := story(t, a.items[1:])
		told := bare(q.Transcript)
		if q.Earlier != earlier || told[0] != whole[0] || !slices.Equal(told[1:], whole[at:at+len(told)-1]) {
			t.Fatalf("round %d: %q is updated with %d entries, which do not begin where that ended", round, q.Earlier, len(told))
		}
		at, earlier = at+len(told)-1, n.made[q.Key].Text
		sent := sentItems(t, out)
		if !strings.Contains(sent[1], strings.TrimSuffix(string(span.AppendQuoted(nil, theTask)), `"`)) ||
			!slices.Contains(sent, pinned) {
			t.Fatalf("round %d: the task or what is pinned is lost: %.500s", round, sent)
		}
		tail := sent[2:]
		tail = tail[slices.Index(tail, pinned)+1:]
		if left := bare(story(t, tail)); len(left) < 2 || !slices.Equal(tail, a.items[len(a.items)-len(tail):]) ||
			at+len(left) != len(whole) {
			t.Fatalf("round %d: %d entries of %d are told, and %d are sent as they came", round, at, len(whole), len(left))
		}
		text, _ := summaryIn(t, out)
		for old := range round + 1 {
			if says := fmt.Sprintf("\nRequest number %d, please.\n", old); !strings.Contains(text, says) {
				t.Errorf("round %d: %q is lost", round, says)
			}
		}
		if partOf(text, "told")+"\n" != earlier || strings.Count(text, "Work number") != 1 {
			t.Fatalf("round %d: not the new prose alone: %s", round, text)
		}
		if round%3 == 1 {
			a.restart()
		}
		if again := a.ask(t); string(again.Body) != string(out.Body) || again.Report.Decided ||
			len(n.asked) != round+1 {
			t.Fatalf("round %d: asked again, another body is sent, or a model is asked", round)
		}
	}
}

// Prose that came too late for one compaction is what the next one updates.
func TestProseThatCameTooLateIsUpdatedByTheNextRound(t *testing.T) {
	for _, failing := range []bool{false, true} {
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		n.fail = errNarrator
		out, _ := a.grow(t, 300)
		if strings.Contains(string(out.Body), "told by a model") {
			t.Fatal("there is prose already")
		}
		first := n.asked[0]
		late := n.answer(first)
		if again := a.ask(t); string(again.Body) != string(out.Body) {
			t.Fatal("what was decided is sent otherwise once the prose is there")
		}
		a.restart()
		if !failing {
			n.fail = nil
		}
		out, _ = a.grow(t, 300)
		second := n.asked[1]
		told := len(first.Transcript)
		if whole := story(t, a.items[1:]); second.Earlier != late || second.Transcript[1].Text != whole[told].Text ||
			second.Key == first.Key {
			t.Errorf("%q is updated from %.80q on", second.Earlier, second.Transcript[1].Text)
		}
		text, _ := summaryIn(t, out)
		if says := partOf(text, "told") + "\n"; failing && says != late || !failing && says != n.made[second.Key].Text {
			t.Errorf("the summary says %q", says)
		}
		if knows := !strings.Contains(text, "it has not seen messages"); knows == failing {
			t.Errorf("it is not told how far the prose goes: %s", text)
		}
	}
}

// Two conversations with one first message, and one conversation in two scopes, ask and get each their own.
func TestSummariesAreNeverShared(t *testing.T) {
	a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	n.wait = nil
	keys := map[string]string{}
	n.observe = func(q prose.Question) {
		if was, ok := keys[q.Key]; ok {
			t.Errorf("the key of %.60q is that of %.60q", q.Transcript[1].Text, was)
		}
		keys[q.Key] = q.Transcript[1].Text
	}
	n.tells = func(q prose.Question) string { return "## Goal\nAs in " + q.Transcript[len(q.Transcript)-1].Text[:30] }
	for k, scope := range []string{"", "", "one", "two", ""} {
		b := &agent{bench: a.bench, items: slices.Clone(a.items)}
		if k < 2 || k == 4 {
			b.calls = k * 1_000
		}
		b.scope = scope
		for round := range 2 {
			out, _ := b.grow(t, 300)
			text, _ := summaryIn(t, out)
			asked := n.asked[len(n.asked)-1]
			if len(n.asked) != 2*k+round+1 || partOf(text, "told") != n.made[asked.Key].Text {
				t.Errorf("conversation %d has the prose of another: %s", k, text)
			}
			if last := asked.Transcript[len(asked.Transcript)-1].Text; !strings.Contains(b.body(), last[:30]) {
				t.Errorf("conversation %d asks about %q", k, last)
			}
		}
	}
	if len(keys) != 10 {
		t.Errorf("%d keys", len(keys))
	}
}

// A fork, a history that was edited, and an agent that compacts by itself go on from what still is as it was.
func TestHistoryThatChangedFallsBackToWhatStillMatches(t *testing.T) {
	f := func(name string, change func(items []string) []string, quoted bool) {
		t.Helper()
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		out, _ := a.grow(t, 300)
		first, asked := string(out.Body), n.asked[0]
		for range 3 {
			a.work(1, 300)
			a.ask(t)
		}
		b := &agent{bench: a.bench, items: change(slices.Clone(a.items)), calls: 7_000}
		b.work(1, 300)
		out = b.ask(t)
		if got := strings.Contains(string(out.Body), "Work number 1"); got != quoted {
			t.Errorf("%s: the prose of what it was is there: %v, at %d of %d tokens", name, got, out.Report.After.Total(), out.Report.Usable)
		}
		if quoted {
			upTo, _ := chat.Read([]byte(first))
			if end := upTo.Items[len(upTo.Items)-1].Start; string(out.Body[:end]) != first[:end] && name == "fork" {
				t.Errorf("%s: what was sent has changed: %s", name, firstDifference(first, string(out.Body)))
			}
		}
		if out, _ = b.grow(t, 300); len(n.asked) < 2 {
			t.Fatalf("%s: never compacted again", name)
		}
		q := n.asked[len(n.asked)-1]
		if q.Key == asked.Key || (q.Earlier == n.made[asked.Key].Text) != quoted {
			t.Errorf("%s: the next round updates %q", name, q.Earlier)
		}
		if whole := story(t, b.items[1:]); !strings.Contains(fmt.Sprint(whole), q.Transcript[1].Text) {
			t.Errorf("%s: the next round is told what was not said", name)
		}
		a.work(1, 300)
		if out = a.ask(t); !strings.Contains(string(out.Body), "Work number 1") {
			t.Errorf("%s: what it was goes on otherwise", name)
		}
	}
	f("fork", func(items []string) []string { return items[:len(items)-4] }, true)
	f("fork before", func(items []string) []string { return items[:6] }, false)
	f("edited", func(items []string) []string {
		items[3] = strings.Replace(items[3], "is well", "is not well", 1)
		return items
	}, false)
	f("edited tail", func(items []string) []string {
		items[len(items)-1] = strings.Replace(items[len(items)-1], "is well", "is not well", 1)
		return items
	}, true)
	f("own compaction", func(items []string) []string {
		return append(items[:2:2], slices.Concat([]string{userSays("So far: all is well.")}, items[len(items)-6:])...)
	}, false)
}
