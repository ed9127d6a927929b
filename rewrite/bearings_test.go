package rewrite

import (
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/tokenize"
)

// What is held of a request is what the request before had, as it came and as it was sent, up to where the new decision
// changes it; counted here from the bodies themselves. What decisions take out adds up to what is not sent.
func TestWhatIsHeldIsWhatWasSentBefore(t *testing.T) {
	f := func(restarts bool) {
		t.Helper()
		s, b := newSession(400_000), newBench(60_000)
		var before Output
		taken, broken := 0, 0
		for n := 1; n <= len(s.items); n += 2 {
			if restarts {
				b.restart()
			}
			out := b.shape(s.body(n))
			r := out.Report
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if want := before.Report.Before.Total(); r.Bearings.HeldBefore != want {
				t.Fatalf("turn %d: %d tokens were held as it came, want %d", n, r.Bearings.HeldBefore, want)
			}
			if want := commonTokens(t, before.Body, out.Body); r.Bearings.HeldAfter != want {
				t.Fatalf("turn %d: %d tokens were held as it was sent, want %d", n, r.Bearings.HeldAfter, want)
			}
			if r.Broke {
				broken++
			}
			if taken += r.Bearings.TakenOut; taken != r.Before.Total()-r.After.Total() {
				t.Fatalf("turn %d: %d tokens were taken out, and %d are not sent", n, taken, r.Before.Total()-r.After.Total())
			}
			again := b.shape(s.body(n)).Report
			if at := again.Bearings; at.HeldBefore != again.Before.Total() || at.HeldAfter != again.After.Total() ||
				at.TakenOut != 0 || at.Decision == "" != (r.Bearings.Decision == "") {
				t.Fatalf("turn %d: the same request again stands at %+v, of %d and %d", n, at, again.Before.Total(),
					again.After.Total())
			}
			before = out
		}
		if broken < 3 || taken == 0 {
			t.Fatalf("%d decisions have changed what was sent, %d tokens were taken out", broken, taken)
		}
	}
	f(false)
	f(true)
}

// commonTokens are the tokens of the messages with which both bodies begin, with what stands beside them.
func commonTokens(t *testing.T, before, after []byte) int {
	t.Helper()
	if before == nil {
		return 0
	}
	old, err := chat.Read(before)
	if err != nil {
		t.Fatal(err)
	}
	is, err := chat.Read(after)
	if err != nil {
		t.Fatal(err)
	}
	model := tokenize.NewModels().Of(is.Model)
	counter, err := vocabularies.For(model.Vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	scale := conversation.Scale{Model: model, Counter: counter, Memo: tokenize.NewMemo(1 << 10), Ratio: 1}
	fixed, _ := is.CountFixed(scale)
	n := fixed.Total()
	for i := is.Head; i < len(old.Items) && string(old.Items[i].Of(before)) == string(is.Items[i].Of(after)); i++ {
		n += is.CountItem(scale, i)
	}
	return n
}

// The hash of what stands before the messages is that of system prompt, tools and settings that a cache depends on.
func TestOnlyWhatStandsBeforeTheMessagesChangesItsHash(t *testing.T) {
	const system, tool = `{"role":"system","content":"S"}`, `{"type":"function","function":{"name":"f"}}`
	of := func(system, settings string) string {
		return newBench(100_000).shape(`{"model":"gpt-5","messages":[` + system + `,{"role":"user","content":"U"}]` +
			settings + `}`).Report.Bearings.Leading
	}
	want := of(system, `,"tools":[`+tool+`],"tool_choice":"auto"`)
	if len(want) != 16 {
		t.Fatalf("the hash is %q", want)
	}
	f := func(same bool, system, settings string) {
		t.Helper()
		if got := of(system, settings); (got == want) != same {
			t.Errorf("with %s and %s the hash is %s, that before is %s", system, settings, got, want)
		}
	}
	f(true, system, `,"stream":true,"tools":[`+tool+`],"max_tokens":7,"tool_choice":"auto"`)
	f(true, system+`,{"role":"user","content":"T"}`, `,"tools":[`+tool+`],"tool_choice":"auto"`)
	f(false, strings.Replace(system, "S", "s", 1), `,"tools":[`+tool+`],"tool_choice":"auto"`)
	f(false, system, `,"tools":[`+tool+`,`+tool+`],"tool_choice":"auto"`)
	f(false, system, `,"tools":[`+tool+`],"tool_choice":"none"`)
	f(false, system, `,"tools":[`+tool+`]`)
	f(false, system, ``)
}

// Behind another system prompt nothing stands where it stood.
func TestNothingIsHeldBehindAnotherSystemPrompt(t *testing.T) {
	s, b := newSession(20_000), newBench(100_000)
	b.shape(s.body(5))
	if at := b.shape(s.body(7)).Report.Bearings; at.HeldBefore == 0 || at.HeldAfter != at.HeldBefore {
		t.Errorf("behind the same system prompt it stands at %+v", at)
	}
	s.head = []string{`{"role":"system","content":"You are another agent."}`}
	if at := b.shape(s.body(9)).Report.Bearings; at.HeldBefore != 0 || at.HeldAfter != 0 {
		t.Errorf("behind another system prompt it stands at %+v", at)
	}
}

// A conversation that leaves another one says so once, and where.
func TestAConversationSaysOnceWhichOneItHasLeft(t *testing.T) {
	s, b := newSession(20_000), newBench(100_000)
	first := b.shape(s.body(5)).Report
	b.shape(s.body(7))
	fork := *s
	fork.items = append(slices.Clone(s.items[:5]), `{"role":"user","content":"Stop. Do something else."}`,
		`{"role":"assistant","content":"Gladly."}`, `{"role":"user","content":"Go on."}`,
		`{"role":"assistant","content":"So I do."}`, `{"role":"user","content":"Well."}`)
	b.restart()
	left := b.shape(fork.body(8)).Report
	at := left.Bearings
	if left.Conversation == first.Conversation || at.Parent != first.Conversation || at.Diverged != 6 {
		t.Errorf("conversation %s is left by %s: %+v", first.Conversation, left.Conversation, at)
	}
	if at.HeldBefore != first.Before.Total() {
		t.Errorf("%d tokens are held of the %d of the conversation that was left", at.HeldBefore, first.Before.Total())
	}
	for n := 8; n <= 10; n++ {
		if on := b.shape(fork.body(n)).Report; on.Bearings.Parent != "" || on.Conversation != left.Conversation {
			t.Errorf("with %d items the conversation %s says again that it has left: %+v", n, on.Conversation, on.Bearings)
		}
	}
	if on := b.shape(s.body(9)).Report; on.Conversation != first.Conversation || on.Bearings.Parent != "" {
		t.Errorf("the conversation that was left is %s: %+v", on.Conversation, on.Bearings)
	}
}

// By the key alone the forms are found again in which a request was sent, also when others stand for it since.
func TestTheKeyOfADecisionFindsItsForms(t *testing.T) {
	s, b := newSession(400_000), newBench(60_000)
	for n := 1; n <= len(s.items); n += 2 {
		out := b.shape(s.body(n))
		key := out.Report.Bearings.Decision
		if out.forms == nil {
			if key != "" {
				t.Fatalf("turn %d: all is whole, and yet there is the key %s", n, key)
			}
			continue
		}
		b.now = true // another decision takes the place of that one
		b.shape(s.body(n))
		b.now = false
		k, _ := decision.ParseKey(key)
		d, found := k.Forms(b.notes)
		if !found {
			t.Fatalf("turn %d: nothing is found under %s", n, key)
		}
		got := slices.DeleteFunc(d, func(f *decision.Form) bool { return f == nil || f.Gone })
		want := slices.DeleteFunc(slices.Clone(out.forms), func(f *decision.Form) bool { return f == nil || f.Gone })
		if !slices.EqualFunc(got, want, func(a, b *decision.Form) bool { return a.Name == b.Name }) {
			t.Fatalf("turn %d: %d forms are found, %d were sent", n, len(got), len(want))
		}
	}
	for _, key := range []string{"", "x", "AAAA", strings.Repeat("A", 44), strings.Repeat("A", 400)} {
		if _, ok := decision.ParseKey(key); ok {
			t.Errorf("something is found under %q", key)
		}
	}
}

// What a rescue says of itself is behind the form that was refused; of the exchange it is behind the request before.
func TestARescueStandsBehindTheRequestBefore(t *testing.T) {
	first := Bearings{HeldBefore: 90, HeldAfter: 50, TakenOut: 7, Parent: "p", Diverged: 3, Decision: "first"}
	f := func(whole bool, held, want, taken int) {
		t.Helper()
		b := Bearings{HeldBefore: 100, HeldAfter: held, TakenOut: 20, Decision: "second"}
		b.Join(first, whole)
		if b != (Bearings{HeldBefore: 90, HeldAfter: want, TakenOut: taken, Parent: "p", Diverged: 3, Decision: "second"}) {
			t.Errorf("behind %d tokens the rescue stands at %+v", held, b)
		}
	}
	f(false, 30, 30, 27)
	f(false, 80, 50, 27)
	f(true, 30, 30, 20)
}
