package daemon

import (
	"strings"
	"testing"

	"epitome/event"
)

// Where the system prompt alone takes nearly all of the window, no model is asked for a summary: code keeps the request
// within the window. Where there is no room even for that, nothing is compacted, and epitome says so once in a
// conversation, be it restarted meanwhile.
func TestCrowdedWindowsAreKeptByCode(t *testing.T) {
	t.Parallel()
	f := func(rules int, fits bool, most int) {
		t.Helper()
		c := chatting(t, 1_000_000)
		p := run(t, t.TempDir(), c.URL+"/v1", summarized)
		a := c.worker(p)
		system := `{"role":"system","content":` + quoted(strings.Repeat("Mind the rules of the shop. ", rules)) + `}`
		a.items, a.lines = append([]string{system}, a.items...), 120
		a.work(12)
		var s event.Status
		p.get("/-/status", &s)
		if told := strings.Contains(s.Notice, "of 64k tokens; compaction cannot help"); told == fits {
			t.Errorf("the status is %+v", s)
		}
		first := p.log.String()
		p.stop()
		p = run(t, p.started.Data, c.URL+"/v1", summarized)
		a.url = p.url
		a.work(12)
		log := first + p.log.String()
		c.wantQuestions(0)
		if n := strings.Count(log, `"reason":"overhead","window":64000`); n != map[bool]int{true: 0, false: 1}[fits] {
			t.Errorf("epitome warns %d times", n)
		}
		if n := strings.Count(log, `"msg":"compaction_`); n > most || fits && n == 0 {
			t.Errorf("%d compactions were made or failed in 24 turns, want at most %d", n, most)
		}
		p.get("/-/status", &s)
		if fits && s.Tokens > chattedWindow {
			t.Errorf("%d tokens are sent", s.Tokens)
		}
	}
	f(7_500, true, 8)  // 52k tokens, of which a request may have 56k
	f(8_400, true, 24) // 59k tokens
	f(9_100, false, 0)
}
