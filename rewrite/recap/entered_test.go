package recap

import "testing"

func TestAFolderThatManyCommandsEnterIsToldOnce(t *testing.T) {
	f := func(rows, want string) {
		t.Helper()
		if got := entered(rows); got != want {
			t.Errorf("%q: %q, want %q", rows, got, want)
		}
	}
	const a, b = "cd /srv/shop && make a\n", "cd /srv/shop && make b && make c, also with 3\n"
	f("ended:\n"+a+b+"> cd /srv/shop && no\ncd /till && make d\nfailed:\ncd /srv/shop && make e",
		"… stands for:\ncd /srv/shop &&\nended:\n… make a\n… make b && make c, also with 3\n> cd /srv/shop && no\ncd /till && make d\nfailed:\n… make e")
	f(a+b, a+b)
	f(a+b+"cd /till && make d\n", a+b+"cd /till && make d\n")
	f(a+b+a+"… make a\n", a+b+a+"… make a\n")
	f("cd a; x && b\ncd a; x && b\ncd a; x && b\n", "cd a; x && b\ncd a; x && b\ncd a; x && b\n")
	f("cd a\ncd a\ncd a\n", "cd a\ncd a\ncd a\n")
	const inQuotes = "cd \"/a && b\" && make\n"
	f(inQuotes+inQuotes+inQuotes, inQuotes+inQuotes+inQuotes)
	f("", "")
}
