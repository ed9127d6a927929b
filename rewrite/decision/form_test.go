package decision

import "testing"

// A decision that names no transcript was made before there were any: its artifact is named on.
func TestDecisionsWithoutTranscriptsAreNamedOn(t *testing.T) {
	f := func(want string, of Form) {
		t.Helper()
		if got := of.Artifacts()[0]; got != want {
			t.Errorf("%+v names %s first, not %s", of, got, want)
		}
	}
	f("kept", Form{Kept: "kept"})
	f("told", Form{Kept: "kept", Told: "told"})
	f("text", Form{Kept: "kept", Told: "told", Text: "text"})
}

// A run that was left out by a summary may have taken in items that a rule had left out before: without the summary
// they stand nowhere, and come back.
func TestWithoutASummaryAllThatItLeftOutComesBack(t *testing.T) {
	cleared, compact := RungClear, RungCompact
	form := func(r Rung, fold int) *Form {
		return &Form{Rung: r, Fold: fold, Gone: fold == 0}
	}
	f := func(drop int, left string, forms ...*Form) {
		t.Helper()
		d := Decision{Forms: forms}
		d.DropForm(drop)
		got := ""
		for _, f := range d.Forms {
			got += map[bool]string{true: ".", false: "x"}[f == nil]
		}
		if got != left {
			t.Errorf("without the form of item %d %s is left, want %s", drop, got, left)
		}
	}
	f(0, "...x", form(compact, 3), form(cleared, 0), form(compact, 0), form(cleared, 1))
	f(0, ".....x", form(compact, 1), nil, form(compact, 3), form(cleared, 0), form(cleared, 0), form(cleared, 1))
	f(3, "xxx.", form(compact, 3), form(compact, 0), form(cleared, 0), form(cleared, 1))
	f(0, "..x", form(cleared, 2), form(cleared, 0), form(compact, 1))
}
