package git

import "testing"

// Files that pass, outside of the folder in which git runs, are not its own.
func TestGitTakesBackOnlyWhatItMayHave(t *testing.T) {
	f := func(folder, file string, want bool) {
		t.Helper()
		g := commandOf([]string{"reset", "--hard"}, folder)
		g.Folder = folder
		if g.Reaches(file) != want {
			t.Errorf("in %q git takes %s back: %v", folder, file, !want)
		}
	}
	f("", "shop/init.py", true)
	f("/srv/shop", "/srv/shop/init.py", true)
	f("", "/tmp/probe.go", false)
	f("/srv/shop", "/var/tmp/probe.go", false)
	f("/tmp/shop", "/tmp/shop/init.py", true)
}
