package instance

import "testing"

// Without a word of the user's, the first target is the default upstream of the proxy that runs, if it tells one.
func TestRunningUpstreamIsFollowed(t *testing.T) {
	f := func(r Running, url, like string, moved bool) {
		t.Helper()
		want := []Target{{URL: "https://here.example/v1", like: "here"}, {URL: "https://anthropic.example"}}
		now, got := r.follow(want)
		if now[0].URL != url || now[0].like != like || got != moved || now[1].URL != want[1].URL {
			t.Errorf("%+v: got %+v, moved %v", r, now, got)
		}
		if want[0].like != "here" {
			t.Error("the caller's targets were changed")
		}
	}
	ups := map[string]string{"default": "http://there.example/v1/", "same": "https://here.example/v1"}
	f(Running{upstreams: ups, upstream: "default"}, "http://there.example/v1", "default", true)
	f(Running{upstreams: ups, upstream: "same"}, "https://here.example/v1", "same", false)
	f(Running{upstreams: ups}, "https://here.example/v1", "here", false) // an earlier build, which tells none
	f(Running{upstreams: ups, upstream: "gone"}, "https://here.example/v1", "here", false)
}
