package messages

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// replaced is the conversation with another text in the place of a value, and the value that stood there.
func replaced(tb testing.TB, r *conversation.Request, v span.Span, at conversation.Place, text string) string {
	tb.Helper()
	out, err := span.Splice(r.Body, []span.Edit{{Span: v, With: Dialect{}.Value(nil, v.Of(r.Body), at, text)}})
	if err != nil || !span.Valid(out) {
		tb.Fatalf("%v: %s", err, out)
	}
	if back, err := (Dialect{}).Read(out, nil); err != nil || conversation.Worse(r, back) != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestResultsGiveWayToATextAndKeepAllElse(t *testing.T) {
	f := func(result, want string) {
		t.Helper()
		const call = `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]}`
		user := func(block string) string {
			return `{"role":"user","content":[` + block + `,{"type":"text","text":"go on"}]}`
		}
		r := mustRead(t, task, call, user(result))
		it := &r.Items[2]
		got := replaced(t, r, r.WholeContent(it), conversation.WholeContent, "stub")
		if want = bodyOf(task, call, user(want)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		// and back again, to the byte
		sent, _ := read(got)
		whole := span.Edit{Span: sent.WholeContent(&sent.Items[2]), With: r.WholeContent(it).Of(r.Body)}
		back, err := span.Splice(sent.Body, []span.Edit{whole})
		if err != nil || string(back) != string(r.Body) {
			t.Errorf("the original cannot be made again: %v\n%s", err, back)
		}
	}
	f(`{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"long","toolset_name":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`,
		`{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"stub","toolset_name":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`)
	f(`{"content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"long"}],"tool_use_id":"1","type":"tool_result"}`,
		`{"content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"stub"}],"tool_use_id":"1","type":"tool_result"}`)
	f(`{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"a"}, {"type":"image","source":{"type":"url","url":"u"}}]}`,
		`{"type":"tool_result","tool_use_id":"1","content":"stub"}`)
}

func TestInputStaysAnObject(t *testing.T) {
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{"text":"long"},"caller":{}}]}`
	r := mustRead(t, task, call, one)
	got := replaced(t, r, r.Items[1].Calls[0].Arguments, conversation.CallInput, `{"text":"short"}`)
	if want := bodyOf(task, strings.Replace(call, "long", "short", 1), one); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextsComeBehindWhatTheUserSays(t *testing.T) {
	f := func(item int, want string, messages ...string) {
		t.Helper()
		r := mustRead(t, messages...)
		e, ok := Dialect{}.Append(r, &r.Items[item], "\n\nmore")
		if !ok {
			if want != "" {
				t.Errorf("nothing can stand behind %s", messages)
			}
			return
		}
		out, err := span.Splice(r.Body, []span.Edit{e})
		if err != nil || string(out) != bodyOf(strings.Split(want, "|")...) {
			t.Errorf("%v: got\n%s\nwant\n%s", err, out, want)
		}
		sent, err := Dialect{}.Read(out, nil)
		if err != nil || len(sent.Items) != len(r.Items) {
			t.Fatalf("%v: %d items have become %d", err, len(r.Items), len(sent.Items))
		}
	}
	f(0, `{"role":"user","content":"do\n\nmore"}`, task)
	f(0, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"\n\nmore"} ]}`, `{"role":"user","content":[{"type":"text","text":"a"} ]}`)
	f(0, `{"role":"user","content":[{"type":"image"},{"type":"text","text":"\n\nmore"}]}`, `{"role":"user","content":[{"type":"image"}]}`)
	f(4, task+`|`+two+`|`+strings.TrimSuffix(both, "]}")+`,{"type":"text","text":"a"},{"type":"text","text":"\n\nmore"}]}`,
		task, two, strings.TrimSuffix(both, "]}")+`,{"type":"text","text":"a"}]}`)
	f(0, "", `{"role":"user","content":[]}`)
	f(0, "", `{"role":"user","content":[{"type":"hologram"}]}`)
	f(1, "", task, done)
	f(1, "", task, aside)
}

// drawConversation is a sound conversation whose blocks have numbers by which they are told apart.
func drawConversation(t *rapid.T) (messages []string) {
	n := 0
	block := func(s string) string {
		n++
		return strings.ReplaceAll(s, "#", strings.Repeat("i", n))
	}
	gap := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n  "}).Draw(t, "gap") }
	user := func(blocks []string) string {
		if rapid.Bool().Draw(t, "order") {
			return `{"content":[` + strings.Join(blocks, ","+gap()) + `],` + gap() + `"role":"user"}`
		}
		return `{"role":"user",` + gap() + `"content":` + gap() + `[` + strings.Join(blocks, gap()+",") + gap() + `]}`
	}
	messages = []string{user([]string{block(`{"type":"text","text":"#"}`)})}
	for range rapid.IntRange(1, 5).Draw(t, "rounds") {
		var said, results []string
		if rapid.Bool().Draw(t, "thinks") {
			said = append(said, block(`{"type":"thinking","thinking":"#","signature":"s"}`))
		}
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			said = append(said, block(`{"type":"tool_use","id":"#","name":"x","input":{"a":"#"}}`))
			results = append(results, strings.ReplaceAll(`{"type":"tool_result","tool_use_id":"#","content":"r#"}`, "#",
				strings.Repeat("i", n)))
		}
		messages = append(messages, `{"role":"assistant","content":[`+strings.Join(said, ", ")+`]}`)
		for range rapid.IntRange(0, 2).Draw(t, "texts") {
			results = append(results, block(`{"type":"text","text":"#"}`))
		}
		if k := rapid.IntRange(0, 1).Draw(t, "parts"); k < len(results) && k > 0 {
			messages, results = append(messages, user(results[:k])), results[k:]
		}
		messages = append(messages, user(results))
		if rapid.IntRange(0, 3).Draw(t, "aside") == 0 {
			messages = append(messages, aside)
		}
	}
	return messages
}

// Whatever runs of items are taken out: what stays is to the byte what it was, and JSON.
func TestTakingItemsOutLeavesTheOthersAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := read(bodyOf(drawConversation(t)...))
		if err != nil {
			t.Fatal(err)
		}
		if flaws := r.Flaws(); len(flaws) > 0 {
			t.Fatalf("%v in %s", flaws, r.Body)
		}
		var list []conversation.Removal
		var want []string
		for i := 0; i < len(r.Items); {
			n := 0
			if i > 0 {
				n = min(rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3, 5}).Draw(t, "n"), len(r.Items)-i)
			}
			if n == 0 {
				want = append(want, string(r.Items[i].Of(r.Body)))
				i++
				continue
			}
			list = append(list, conversation.Removal{First: i, N: n})
			i += n
		}
		edits, err := conversation.Remove(r, list)
		if err != nil {
			t.Fatal(err)
		}
		out, err := span.Splice(r.Body, edits)
		if err != nil || !span.Valid(out) {
			t.Fatalf("%v: without %v\n%s\nis\n%s", err, list, r.Body, out)
		}
		sent, err := Dialect{}.Read(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range sent.Items {
			got = append(got, string(sent.Items[i].Of(out)))
		}
		// runs of texts that stood apart may be one now
		if a, b := joined(got), joined(want); a != b {
			t.Fatalf("without %v\n%s\nis\n%s\nand has\n%s\nnot\n%s", list, r.Body, out, a, b)
		}
		for _, f := range sent.Flaws() {
			switch f.Rule { // the others are the fault of whoever takes out a call and not its result
			case conversation.RuleNothing, conversation.RuleBlank, conversation.RuleRole:
				t.Fatalf("%v in %s", f, out)
			}
		}
	})
}

// joined are the items without the white space and commas between them.
func joined(items []string) string {
	return strings.NewReplacer(" ", "", "\n", "", ",", "").Replace(strings.Join(items, ""))
}

// What is known of a conversation from an earlier request is what would be read again.
func TestKnownBeginningsAreReadAsTheyWouldBeAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawConversation(t)
		body := bodyOf(messages...)
		before, err := read(body)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, len(before.Items)).Draw(t, "known")
		if last := before.Items[n-1].Role; last != conversation.Tool && last != conversation.Assistant {
			return
		}
		grown := strings.Replace(body, `"max_tokens":9`, `"max_tokens":900`, 1)
		if end := conversation.Extent(before, n-1); rapid.Bool().Draw(t, "cut") && end == before.Items[n-1].Place().End {
			grown = grown[:end+2] + `,` + task + `]}` // another end
		}
		by := 2
		known := func(_ []byte, i int, _ []conversation.Item) ([]conversation.Item, int) {
			if i != before.Items[0].Place().Start+by {
				t.Fatalf("what is known is asked for at %d", i)
			}
			items := append([]conversation.Item(nil), before.Items[:n]...)
			for k := range items {
				items[k].Shift(by)
			}
			return items, conversation.Extent(before, n-1) + by
		}
		again, err := Dialect{}.Read([]byte(grown), known)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := read(grown)
		if err != nil {
			t.Fatal(err)
		}
		if told(again) != told(fresh) {
			t.Fatalf("with %d items known, %s is read as\n%s\nnot\n%s", n, grown, told(again), told(fresh))
		}
		for k := range fresh.Items {
			if again.Items[k].Span != fresh.Items[k].Span || again.Items[k].Outer != fresh.Items[k].Outer {
				t.Fatalf("item %d of %s is at %v in %v, not at %v in %v", k, grown, again.Items[k].Span, again.Items[k].Outer,
					fresh.Items[k].Span, fresh.Items[k].Outer)
			}
		}
	})
}
