package proxy

import (
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite"
	"epitome/summarize/prose"
)

// wishes notes what is asked of the shapers from now on: of the live one, and of the one that only tells.
func (r *rig) wishes() (live, shadow *rewrite.Input) {
	live, shadow = &rewrite.Input{}, &rewrite.Input{}
	note := func(to *rewrite.Input) *shaper {
		f := shaper(func(a rewrite.Input) rewrite.Output {
			*to = kept(a)
			return whole(a)
		})
		return &f
	}
	r.shape.Store(note(live))
	r.observe.Store(note(shadow))
	return live, shadow
}

func TestHeadersAskForCompactionAndItsStyle(t *testing.T) {
	t.Parallel()
	configured := prose.Hybrid
	r := on(t, taking, func(s *Settings) { s.SummaryMode = configured })
	live, shadow := r.wishes()
	f := func(seen *rewrite.Input, compact bool, mode prose.Mode, lines ...string) {
		t.Helper()
		*live, *shadow = rewrite.Input{}, rewrite.Input{}
		if resp, body := r.dial().send(post(chatTarget, long, lines...)).answer("POST"); resp.StatusCode != 200 {
			t.Errorf("%q: got %s %s", lines, resp.Status, body)
		}
		if seen.Compact != compact || seen.SummaryMode != mode || seen.Limits == nil || time.Since(seen.Now) > patience ||
			live.Limits != nil && shadow.Limits != nil {
			t.Errorf("%q: asked was %+v", lines, *seen)
		}
		if head, _ := r.got(); strings.Contains(strings.ToLower(head), "epitome") {
			t.Errorf("%q: the upstream got %q", lines, head)
		}
	}
	f(live, false, configured)
	f(live, true, configured, "X-Epitome-Compact: now")
	f(live, true, configured, "x-epitome-compact: now", "x-epitome-compact: now")
	f(live, false, prose.Intent, "x-epitome-Set: Summarize-Mode=intent")
	f(live, true, prose.Auto, "x-epitome-set: summarize_mode=auto", "x-epitome-compact: now",
		"x-epitome-set: summarize_mode=auto")
	f(shadow, true, prose.LLM, "x-epitome-mode: observe", "x-epitome-compact: now", "x-epitome-set: summarize_mode=llm")
	f(live, false, configured) // nothing of it holds for the next one
}

func TestWishesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) { s.Limits.ClearAt, s.Limits.CompactAt, s.Limits.Target = 0.8, 0.9, 0.5 })
	r.shapes(refusing(t))
	f := func(says string, lines ...string) {
		t.Helper()
		resp, body := r.dial().send(post(chatTarget, long, lines...)).answer("POST")
		if resp.StatusCode != 400 || !strings.Contains(body, `"bad_request"`) || !strings.Contains(body, says) {
			t.Errorf("%q: got %s %s, want %s", lines, resp.Status, body, says)
		}
		if e := r.event(); e.Fault != event.Refused || strings.Contains(e.Err, "secret") {
			t.Errorf("%q: event %+v", lines, e)
		}
	}
	for _, value := range []string{"", "Now", "true", "secret", "now, now"} {
		f("cannot use x-epitome-compact: write now, or leave it out", "x-epitome-compact: "+value)
	}
	f("cannot use x-epitome-compact", "x-epitome-compact: now", "x-epitome-compact: later")
	f("cannot use x-epitome-preset: write one of balanced, ", "x-epitome-preset: secret")
	f("unknown header x-epitome-compac; write one of x-epitome-mode, ", "x-epitome-compac: now")
	f("cannot use summarize_mode in x-epitome-set: write one of auto, ", "x-epitome-set: rent=2, summarize_mode")
	f("cannot use clear_at in x-epitome-set: write a share from 0.01 to 1", "x-epitome-set: clear_at=secret")
	f("unknown name clear_att in x-epitome-set; write one of ", "x-epitome-set: clear_att=0.7")
	f("cannot use compact_at 0.4 with compact_to 0.5", "x-epitome-set: compact_at=0.4")
	f("cannot use compact_at 0.9 with compact_to 0.95", "x-epitome-mode: observe", "x-epitome-set: compact_to=0.95")
	if n := len(r.upstream.Requests()); n != 0 {
		t.Errorf("the upstream got %d requests", n)
	}
}

// A conversation is given the files that its header asks for, and those that the configuration has for its upstream and
// for all; a name that nobody has is refused before anything is sent.
func TestContextFilesAreAskedFor(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) {
		s.Contexts = []string{"all"}
		up := s.Upstreams[s.Upstream]
		up.Context = []string{"here"}
		s.Upstreams[s.Upstream] = up
	})
	live, _ := r.wishes()
	f := func(want string, lines ...string) {
		t.Helper()
		*live = rewrite.Input{}
		resp, body := r.dial().send(post(chatTarget, long, lines...)).answer("POST")
		if resp.StatusCode == 400 {
			if live.Body != nil || !strings.Contains(body, want) {
				t.Errorf("%q: refused with %s, want %s", lines, body, want)
			}
			return
		}
		if got := strings.Join(live.Contexts, " "); got != want {
			t.Errorf("%q: asked is for %q, want %q", lines, got, want)
		}
		if head, _ := r.got(); strings.Contains(strings.ToLower(head), "epitome") {
			t.Errorf("%q: the upstream got %q", lines, head)
		}
	}
	f("here all")
	f("docs here all", "X-Epitome-Context: docs")
	f("docs rules docs here all", "x-epitome-context: docs,rules", "x-epitome-context:  docs ,")
	f(`nothing is kept under the name \"none\"`, "x-epitome-context: docs, none")
	f("here all", "x-epitome-context: ")
}
