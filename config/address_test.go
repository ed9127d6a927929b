package config

import "testing"

func TestCommandsFindWhatListensAnywhere(t *testing.T) {
	f := func(listen, want string) {
		t.Helper()
		if got := Reachable(listen); got != want {
			t.Errorf("what listens on %s is looked for at %s, want %s", listen, got, want)
		}
	}
	f("127.0.0.1:7070", "127.0.0.1:7070")
	f("localhost:7070", "127.0.0.1:7070")
	f("LocalHost:7070", "127.0.0.1:7070")
	f(":7070", "127.0.0.1:7070")
	f("0.0.0.0:7070", "127.0.0.1:7070")
	f("[::]:7070", "127.0.0.1:7070")
	f("[::1]:7070", "[::1]:7070")
	f("gateway.example:7070", "gateway.example:7070")
	f("7070", "7070")
}
