package memory

import (
	"strings"
	"testing"
)

func TestWhatAModelSaysIsRead(t *testing.T) {
	f := func(said, add, drop string) {
		t.Helper()
		l := Parse(said)
		if got := told(Memory{l.Add}); got != add || strings.Join(l.Drop, " ") != drop {
			t.Errorf("%q is read as %q without %q, want %q without %q", said, got, l.Drop, add, drop)
		}
	}
	f("", "", "")
	f("none", "", "")
	f("- none", "", "")
	f("- fact: none.", "", "")
	f("- fact: use make", "fact: use make", "")
	f("* **Preference**: short answers\n2. pitfall: no cgo here\n", "preference: short answers|pitfall: no cgo here", "")
	f("decision: SQLite, as there is one writer", "decision: SQLite, as there is one writer", "")
	f("- Convention: tabs, not blanks", "fact: Convention: tabs, not blanks", "")
	f("- the build needs Go 1.26", "fact: the build needs Go 1.26", "")
	f("Here is what I have learned:\n- fact: use make\nAnything else?", "fact: use make", "")
	f("- drop: 0a1b2c3d", "", "0a1b2c3d")
	f("- Drop: `0A1B2C3D`, [deadbeef] and all others", "", "0a1b2c3d deadbeef")
	f("- drop: everything", "", "")
	f("- fact: token=abc123\n- fact: use make", "fact: use make", "")
	f("- fact: "+strings.Repeat("too long ", 60)+"\n- fact: use make", "fact: use make", "")
	f("- fact: line one\r\n- fact: line two\r\n", "fact: line one|fact: line two", "")
}

func FuzzAnyAnswerIsRead(f *testing.F) {
	f.Add("- fact: use make\n- drop: deadbeef\n- **pitfall:** none\n")
	f.Add("1) : :\n-\x00 fact : \xff\n- drop: drop: 00000000")
	f.Fuzz(func(t *testing.T, said string) {
		l := Parse(said)
		m := Memory{}.With(l, noon)
		if len(l.Add) > mostAdded || len(l.Drop) > mostDropped || length(m.Text()) > MostCharacters {
			t.Errorf("read as %+v", l)
		}
		if strings.Count(m.Text(), "\n") != len(m.Entries) || strings.Count(m.Inventory(), "\n") != len(m.Entries) {
			t.Errorf("shown as %q and %q", m.Text(), m.Inventory())
		}
	})
}
