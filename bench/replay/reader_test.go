package replay

import (
	"testing"

	"epitome/bench/policy"
)

// What was read back need not be read again, until what was sent changes.
func TestWhatWasReadBackStandsUntilAChange(t *testing.T) {
	r := newReader(func(string) ([]byte, bool) { return []byte("src/old\n"), true }, policy.Meter{})
	f := func(changes bool, calls int, standing float64) {
		t.Helper()
		r.begin(changes)
		if !r.holds("src/old", []string{"a"}) || r.holds("src/new", []string{"a"}) {
			t.Fatal("what an artifact holds is not known")
		}
		r.want("src/old")
		if b := r.read(100); b.Calls != calls || calls == 0 && b.Cost != standing {
			t.Errorf("changes: %t: %+v, want %d calls", changes, b, calls)
		}
	}
	f(false, 1, 0)
	f(false, 0, float64(r.tokens)/10)
	f(true, 1, 0)
	f(false, 0, float64(r.tokens)/10)
}

func TestWordsThatMayNameArtifacts(t *testing.T) {
	f := func(text string, want int) {
		t.Helper()
		if got := artifactsIn(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
	const name = "aaaabbbbccccddddeeeeffff22"
	f("see /x/"+name+".txt, "+name, 1)
	f(name+"2 A"+name[1:], 0)
	f(name[:25]+"1", 0)
}
