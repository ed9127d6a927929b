package config

import (
	"slices"
	"testing"
)

func TestFlagsThatAreKeysAreFound(t *testing.T) {
	f := func(flag string, want ...string) {
		t.Helper()
		if got := KeysLike(flag); !slices.Equal(got, want) {
			t.Errorf("--%s is like %q, want %q", flag, got, want)
		}
	}
	f("max-body", "proxy.max_body")
	f("proxy-max-body", "proxy.max_body")
	f("window", "window.default", "window.models", "window.probe")
	f("models", "window.models")
	f("rewrite", "[rewrite]")
	f("routes", "routes.model", "routes.upstream")
	f("upstreams", "clients.NAME.upstreams", "upstreams")
	f("nosuch")
	f("NAME")
}
