package rewrite

import (
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/sent"
	"epitome/rewrite/span"
)

// The edits that are read from the ledger are those of the request: what they put in a message's place is what is sent,
// what they name is what came, their tokens are those that are not sent, and new are those that the request before had
// not. The changes that explain tells come to the same tokens.
func TestEditsAreWhatWasDoneToTheRequest(t *testing.T) {
	for name, in := range map[string]tongue{
		"chat": chatTongue{}, "messages": messagesTongue{}, "responses": responsesTongue{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds := map[event.Code]int{}
			for seed := range uint64(12) {
				c, b := newTalkIn(in, seed, false), newBench(6_000)
				b.dialect = in
				b.limits.Floor, b.limits.ClearCalls = 0, true
				var before []sent.Edit
				for turn := range 14 {
					c.grow()
					out := b.shape(c.body())
					if turn == 13 {
						out = refusedOnce(t, b, c.body(), out)
					}
					list := editsRead(t, b, out)
					holdsEdits(t, b, c.body(), out, list)
					for _, e := range list {
						kinds[e.Code]++
						known := slices.ContainsFunc(before, func(o sent.Edit) bool {
							at := o.Item == e.Item
							return at && o.Text == e.Text && o.Artifact+o.Thinking == e.Artifact+e.Thinking
						})
						if e.New == known || e.New && !out.Report.Decided {
							t.Fatalf("seed %d, turn %d: new is %v, though it was known is %v: %+v", seed, turn, e.New, known, e)
						}
					}
					if before = list; seed%2 == 0 {
						b.restart()
					}
				}
			}
			if len(kinds) < 4 {
				t.Errorf("there are edits for these reasons only: %v", kinds)
			}
		})
	}
}

// refusedOnce is what is sent after the request was refused.
func refusedOnce(t *testing.T, b *bench, body string, first Output) Output {
	t.Helper()
	out := b.Shape(Input{Dialect: b.dialect, Body: []byte(body), Upstream: "up", Limits: &b.limits,
		Rescue: &plan.Rescue{Sent: first.Report.After.Total(), Most: first.Report.After.Total() / 2}})
	if out.Report.Stage == plan.StageNone {
		return first
	}
	out.Settle()
	out.Report.Bearings.Join(first.Report.Bearings, false)
	out.Report.Decided = out.Report.Decided || first.Report.Decided
	return out
}

func editsRead(t *testing.T, b *bench, out Output) []sent.Edit {
	t.Helper()
	key := out.Report.Bearings.Decision
	if key == "" {
		if out.Changed {
			t.Fatalf("the request was changed, and nothing says where to find how: %+v", out.Report)
		}
		return nil
	}
	list, found := sent.Edits(b.notes, key, func(key string) conversation.Dialect {
		if key != b.dialect.Key() {
			t.Fatalf("the dialect is %q, not %q", key, b.dialect.Key())
		}
		return b.dialect
	})
	if !found || out.Changed != (len(list) > 0) {
		t.Fatalf("%d edits were found: %v", len(list), found)
	}
	return list
}

func holdsEdits(t *testing.T, b *bench, body string, out Output, list []sent.Edit) {
	t.Helper()
	was, err := b.dialect.Read([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	now, err := b.dialect.Read(out.Body, nil)
	if err != nil {
		t.Fatal(err)
	}
	less, all := 0, strings.Join(partsSaid(now, 0, len(now.Items)), "\x00")
	for _, e := range list {
		less += e.Before - e.After
		if e.Code.Sentence() == "" || e.Code == event.CodeNotNoted {
			t.Fatalf("nothing says why: %+v", e)
		}
		if !strings.Contains(all, e.Text) {
			t.Fatalf("what the edit says is sent is not: %+v\n%s", e, out.Body)
		}
		for _, name := range []string{e.Artifact, e.Thinking} {
			if content, err := b.cupboard.Get(name); name != "" && (err != nil || !stoodIn(was, e, string(content))) {
				t.Fatalf("artifact %s is not what came: %+v: %v\n%s\nin %s", name, e, err, content, body)
			}
		}
	}
	if want := out.Report.Before.Total() - out.Report.After.Total(); less != want {
		t.Fatalf("the edits save %d tokens, the request has %d less", less, want)
	}
	told := 0
	for _, c := range out.StandingChanges(was) {
		told += c.Came - c.After
	}
	if told != less {
		t.Fatalf("the standing changes save %d tokens, the edits %d", told, less)
	}
}

// partsSaid are the texts of items, and the arguments of their calls.
func partsSaid(r *conversation.Request, from, to int) (list []string) {
	for i := from; i < to; i++ {
		it := &r.Items[i]
		parts, _ := r.Parts(it)
		for _, p := range parts {
			text := span.TextOf(p.Value.Of(r.Body))
			list = append(list, string(text))
			if len(text) > 1 && text[0] == '"' { // a text in a text
				list = append(list, string(span.TextOf(text)))
			}
		}
		for _, c := range it.Calls {
			list = append(list, string(c.ArgumentsIn(r.Body)))
		}
		list = append(list, string(it.Content.Of(r.Body)))
	}
	return list
}

// stoodIn reports whether the content is what the messages say that an edit is about, or a part of it.
func stoodIn(r *conversation.Request, e sent.Edit, content string) bool {
	first, last := -1, -1
	for i := range r.Items {
		if n := conversation.NumberOf(r, i); n >= e.Item && n <= e.Last {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return false
	}
	raw := string(r.Body[r.Items[first].Place().Start:r.Items[last].Place().End])
	has := func(s string) bool { return strings.Contains(s, content) }
	return has(raw) || slices.ContainsFunc(partsSaid(r, first, last+1), has)
}

// What is not kept any more is not found; it is no empty list.
func TestEditsThatAreNotKeptAreNotFound(t *testing.T) {
	s, b := newSession(200_000), newBench(40_000)
	out := b.shape(s.body(len(s.items)))
	key := out.Report.Bearings.Decision
	in := func(string) conversation.Dialect { return out.dialect }
	if list, found := sent.Edits(b.notes, key, in); !found || len(list) == 0 {
		t.Fatalf("%d edits are found", len(list))
	}
	for k := range b.notes.facts {
		if k[0] != 'f' {
			continue
		}
		kept := b.notes.facts[k]
		delete(b.notes.facts, k)
		if list, found := sent.Edits(b.notes, key, in); found {
			t.Fatalf("without one form %d edits are found", len(list))
		}
		b.notes.facts[k] = kept
		break
	}
	if _, found := sent.Edits(newNotes(), key, in); found {
		t.Error("edits are found in a ledger that has none")
	}
	if _, found := sent.Edits(b.notes, "no key", in); found {
		t.Error("edits are found by no key")
	}
}

// Records of an epitome that did not note reasons stay readable, and their edits say so.
func TestEditsOfOldRecordsSayThatNobodyNotedWhy(t *testing.T) {
	d := &decision.Decision{Forms: []*decision.Form{nil, nil, {Rung: decision.RungClear, Whole: 90, First: 90, Now: 9,
		Patches: []decision.Patch{{Text: "stub", Artifact: "a"}}}}}
	notes, route := newNotes(), decision.Route{Scope: "s"}
	if err := route.Write(notes, d, &decision.Decision{}); err != nil {
		t.Fatal(err)
	}
	key := route.KeyOf(d, decision.Key{Ratio: 1.5})
	list, found := sent.Edits(notes, key, func(string) conversation.Dialect { return chatTongue{} })
	want := sent.Edit{Item: 2, Last: 2, Rung: "clear", Code: event.CodeNotNoted, Before: 135, After: 13, Text: "stub",
		Artifact: "a"}
	if !found || len(list) != 1 || list[0] != want {
		t.Errorf("found %v: %+v, want %+v", found, list, want)
	}
}
