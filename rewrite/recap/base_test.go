package recap

import "testing"

func TestPathsAreToldFromTheFolderMostLieIn(t *testing.T) {
	const home = "/home/somebody/work/shop"
	f := func(folder string, paths ...string) {
		t.Helper()
		if got := baseOf(paths).folder; got != folder {
			t.Errorf("%q: the base is %q, want %q", paths, got, folder)
		}
	}
	f(home, home+"/a.go", home+"/b/c.go", home+"/b/d.go", home+"/e/f.go")
	f(home+"/b", home+"/b/a.go", home+"/b/c.go", home+"/b/d.go", home+"/b/e.go", "/etc/hosts", "rel.go")
	f("", home+"/a.go", home+"/b.go", home+"/c.go")                                                       // too few
	f("", "/srv/a.go", "/srv/b.go", "/srv/c.go", "/srv/d.go")                                             // too short
	f("", home+"/a", home+"/b", home+"/c", home+"/d", "/var/lib/other/e", "/var/lib/other/f", "/var/g/h") // too many elsewhere
	f("", "a.go", "b.go", "c.go", "d.go")

	b := base{folder: home}
	for file, want := range map[string]string{
		home + "/b/c.go":     "…/b/c.go",
		home + "lift/a.go":   home + "lift/a.go",
		home:                 home,
		"b/c.go":             "b/c.go",
		"cat " + home + "/a": "cat " + home + "/a",
	} {
		if got := b.shorten(file); got != want {
			t.Errorf("%s is told as %s, want %s", file, got, want)
		}
	}
	if got := b.heading("files", "a.go\n"); got != "files" {
		t.Errorf("the base is told where nothing is told from there: %s", got)
	}
	if got := b.heading("files", "…/a.go\n"); got != "files; … is "+home {
		t.Errorf("the heading is %s", got)
	}
	if got := b.heading("reads", "…/a.go\n"); got != "reads" {
		t.Errorf("the base is told twice: %s", got)
	}
}
