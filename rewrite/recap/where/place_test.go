package where

import (
	"fmt"
	"strings"
	"testing"
)

func after(commands ...string) *Place {
	w := &Place{}
	for _, c := range commands {
		w.Change(strings.Fields(c))
	}
	return w
}

func TestAPlaceIsWhereCommandsLead(t *testing.T) {
	f := func(want string, commands ...string) {
		t.Helper()
		if got := after(commands...).Folder; got != want {
			t.Errorf("%q lead to %q, want %q", commands, got, want)
		}
	}
	f("", "ls", "go test ./...")
	f("/srv/shop", "cd /srv/shop")
	f("/srv/shop/api", "cd /srv/shop", "cd api")
	f("/srv/shop/api", "cd /srv/shop", "pushd ./api/")
	f("/srv/shop", "cd /srv/shop/api", "cd ..")
	f("/tmp", "cd /srv/shop", "cd /tmp")
	f("/srv/shop", "cd /srv/shop", "cd /tmp", "cd -")
	f("/tmp", "cd /srv/shop", "cd /tmp", "cd -", "cd -")
	f("/srv/my shop", "cd /srv/my shop")
	f("/srv/shop/api", "cd /srv/shop/api", "cd shop/api") // each command of such a tool begins anew
	f("api", "cd api", "cd api")
	f("api/pi", "cd api", "cd pi") // a part of a name is no folder
}

func TestPlacesAreEqualWhereTheSameIsSet(t *testing.T) {
	f := func(equal bool, a, b *Place) {
		t.Helper()
		if got := a.InWords() == b.InWords(); got != equal {
			t.Errorf("%+v and %+v are equal: %v, want %v", a, b, got, equal)
		}
	}
	f(true, after("cd /srv", "export A=1"), after("export A=1", "cd /srv"))
	f(true, after("export A=1", "export A=1"), after("export A=1"))
	f(true, after("export B=2", "export A=1", "export B=2"), after("export A=1", "export B=2"))
	f(false, after("export A=1", "export A=2"), after("export A=2", "export A=1")) // the last one holds
	f(false, after("cd /srv", "source env.sh"), after("cd /srv"))
	f(false, after("cd a"), after("export a"))
	f(true, after("echo A=1"), after())
}

// What a hostile agent runs takes no more room than what a careful one does.
func TestPlacesAreBounded(t *testing.T) {
	w := &Place{}
	for i := range 10_000 {
		w.Change([]string{"cd", "deeper/" + strings.Repeat("d", i%500)})
		w.Change([]string{"export", fmt.Sprint(strings.Repeat("V", i%900), "=", i)})
	}
	if n := len(w.InWords()); n > Longest+mostSettings*(longestSetting+1)+1 {
		t.Errorf("a place is %d bytes", n)
	}
	if last := w.Set[len(w.Set)-1]; !strings.HasPrefix(last, "export VVV") {
		t.Errorf("the newest setting is %q", last)
	}
}
