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
