package span

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Promise 2: outside of the edits a spliced body is the original, to the byte.
func TestSpliceChangesOnlySpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(body)), 0, 12).Draw(t, "cuts")
		slices.Sort(cuts)
		var edits []Edit
		var want []byte
		at := 0
		for i := 0; i+1 < len(cuts); i += 2 {
			e := Edit{Span: Span{Start: cuts[i], End: cuts[i+1]}, With: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "with")}
			want = append(append(want, body[at:e.Start]...), e.With...)
			at = e.End
			edits = append(edits, e)
		}
		want = append(want, body[at:]...)
		places := make(map[Span]bool)
		for _, e := range edits {
			if places[e.Span] {
				t.Skip() // two insertions at one place have no order
			}
			places[e.Span] = true
		}
		slices.Reverse(edits)
		got, err := Splice(body, edits)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got %q (%v), want %q", got, err, want)
		}
		room := make([]byte, 0, len(want)+1)
		got, err = SpliceInto(func(n int) []byte { return room[:0:n] }, body, edits)
		if err != nil || string(got) != string(want) || len(want) > 0 && &got[0] != &room[:1][0] {
			t.Fatalf("in memory that is lent: got %q (%v), want %q", got, err, want)
		}
	})
	for _, edits := range [][]Edit{{{Span: Span{Start: 0, End: 2}, With: nil},
		{Span: Span{Start: 1, End: 3}, With: nil}}, {{Span: Span{Start: 2, End: 1}, With: nil}},
		{{Span: Span{Start: 0, End: 9}, With: nil}}, {{Span: Span{Start: -1, End: 1}, With: nil}}} {
		if _, err := Splice([]byte("abcd"), edits); err == nil {
			t.Errorf("edits %v were taken", edits)
		}
	}
}

func TestTextsAndElementsAreAddedAtTheEnd(t *testing.T) {
	f := func(body string, add func(v Span) Edit, want string) {
		t.Helper()
		out, err := Splice([]byte(body), []Edit{add(Span{End: len(body)})})
		if err != nil || string(out) != want {
			t.Errorf("%s: got %s (%v), want %s", body, out, err, want)
		}
	}
	text := func(v Span) Edit { return AddText(v, "b\n\"") }
	f(`"a"`, text, `"ab\n\""`)
	f(`""`, text, `"b\n\""`)
	element := func(body string) func(v Span) Edit {
		return func(v Span) Edit { return AddElement([]byte(body), v, []byte(`"b"`)) }
	}
	f(`["a"]`, element(`["a"]`), `["a","b"]`)
	f(`[ ]`, element(`[ ]`), `[ "b"]`)
}
