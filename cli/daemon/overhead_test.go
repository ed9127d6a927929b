package daemon

import (
	"strings"
	"testing"

	"epitome/event"
)

// Where the system prompt alone passes the line of compaction, no compaction can bring a request below it: no model is
// asked for a summary, old turns go only where the request would not fit otherwise, and epitome says so once in a
// conversation, be it restarted meanwhile.
func TestNoCompactionWhereItCannotHelp(t *testing.T) {
	t.Parallel()
	f := func(rules, most int) {
		t.Helper()
		c := chatting(t, 1_000_000)
		p := run(t, t.TempDir(), c.URL+"/v1", summarized)
		a := c.worker(p)
		system := `{"role":"system","content":` + quoted(strings.Repeat("Mind the rules of the shop. ", rules)) + `}`
		a.items, a.lines = append([]string{system}, a.items...), 120
		a.work(12)
		var s event.Status
		if p.get("/-/status", &s); !strings.Contains(s.Notice, "alone take 5") ||
			!strings.Contains(s.Notice, "of 64k tokens; compaction cannot help") {
			t.Errorf("the status is %+v", s)
		}
		first := p.log.String()
		p.stop()
		p = run(t, p.started.Data, c.URL+"/v1", summarized)
		a.url = p.url
		a.work(12)
		log := first + p.log.String()
		c.wantQuestions(0)
		if n := strings.Count(log, `"reason":"overhead","window":64000`); n != 1 {
			t.Errorf("epitome warns %d times", n)
		}
		if n := strings.Count(log, `"msg":"compaction_`); n > most {
			t.Errorf("%d compactions were made or failed in 24 turns, want at most %d", n, most)
		}
	}
	f(7_500, 4) // 52k tokens, of which a request may have 56k
	f(8_400, 0) // 59k tokens
}
