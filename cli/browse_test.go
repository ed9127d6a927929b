package cli

import (
	"strings"
	"testing"
)

func TestLinksAreOpenedAsTheSystemDoes(t *testing.T) {
	f := func(system, env, want string) {
		t.Helper()
		name, value, _ := strings.Cut(env, "=")
		got := opener(system, func(asked string) string {
			if asked == name {
				return value
			}
			return ""
		})
		if strings.Join(got, " ") != want {
			t.Errorf("on %s with %q: got %q, want %q", system, env, got, want)
		}
	}
	f("windows", "", "rundll32 url.dll,FileProtocolHandler")
	f("darwin", "", "open")
	f("linux", "", "")
	f("linux", "DISPLAY=:0", "xdg-open")
	f("linux", "WAYLAND_DISPLAY=wayland-0", "xdg-open")
	f("linux", "BROWSER=firefox", "xdg-open")
	f("freebsd", "DISPLAY=:0", "xdg-open")
}
