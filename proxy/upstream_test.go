package proxy

import (
	"testing"

	"epitome/proxy/wire"
)

func TestTargetsAreJoinedToTheBase(t *testing.T) {
	f := func(base, target, want string) {
		t.Helper()
		up, err := newUpstream("x", UpstreamConfig{URL: base}, wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(up.join([]byte(target))); got != want {
			t.Errorf("%s with %s is %s, want %s", base, target, got, want)
		}
	}
	f("https://h/v1", "/v1/chat/completions", "/v1/chat/completions")
	f("https://h/v1/", "/v1/chat/completions?x=/v1/", "/v1/chat/completions?x=/v1/")
	f("https://h/v1", "/chat/completions", "/v1/chat/completions")
	f("https://h/v1", "/v1", "/v1/v1")
	f("https://h/v1", "/v10/x", "/v1/v10/x")
	f("https://h/api/v1", "/v1/models", "/api/v1/models")
	f("https://h/api", "/v1/models", "/api/v1/models")
	f("https://h", "/v1/models", "/v1/models")
	f("https://h/", "//a%2F", "//a%2F")
	f("https://h/a%2Fb", "/c", "/a%2Fb/c")
	f("https://h/v1", "*", "*")
}
