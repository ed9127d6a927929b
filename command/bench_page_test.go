package command

import "testing"

func TestCommandLineCanBeWrittenAgain(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if got := commandLine(append([]string{"/usr/bin/epitome"}, args...)); got != want {
			t.Errorf("%q is written %s, want %s", args, got, want)
		}
	}
	f("epitome bench replay --html out.html", "bench", "replay", "--html", "out.html")
	f(`epitome bench replay 'my logs' '' 'it'\''s' '$HOME'`, "bench", "replay", "my logs", "", "it's", "$HOME")
}
