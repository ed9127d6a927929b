package daemon

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"epitome/config"
)

// tooLong is how the maker of the dialect refuses.
const tooLong = `{"error":{"message":"This model's maximum context length is 65536 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`

// A question that is too long for the provider after all is asked in another way, and made shorter until it fits.
func TestQuestionThatIsTooLongIsMadeShorter(t *testing.T) {
	p := providing(t, itsWindow, itsUsable)
	r := served(p, t.TempDir(), asDefault)
	a := working(r)
	a.nears()
	p.will(func(w http.ResponseWriter, r *http.Request, q heard) {
		if q.number <= 3 {
			status(http.StatusBadRequest, tooLong)(w, r, q)
			return
		}
		summing(w, r, q)
	})
	if got := a.ask(); got.action != "compact" || !bytes.Contains(p.last().body, []byte(markOf(4))) {
		t.Errorf("%s without the summary", got.action)
	}
	p.wants(4)
	q := p.questions()
	for k, way := range []string{"continue", "transcript", "transcript", "transcript"} {
		if q[k].way != way || k > 0 && q[k].tokens >= q[k-1].tokens {
			t.Errorf("question %d is a %s of %d tokens after one of %d", k+1, q[k].way, q[k].tokens, q[max(k-1, 0)].tokens)
		}
	}
	if said := q[3].said(); q[3].Tools != nil || !strings.Contains(said, "Please rework the parts one by one") ||
		!strings.Contains(said, "call read_file]\n") {
		t.Errorf("the transcript is %.1000s", said)
	}
	r.logs(`level=INFO msg=summary_completed .* way=transcript .* requests=4 `)
	if a.ask(); !bytes.Contains(p.last().body, []byte(markOf(4))) {
		t.Error("sent again, it has no summary")
	}
	p.wants(4)
}

// A client may have its conversation compacted when it wants, and say what of.
func TestCompactingNowOverTheWire(t *testing.T) {
	t.Parallel()
	f := func(mode string, questions int) {
		t.Helper()
		p := providing(t, itsWindow, itsUsable)
		r := served(p, t.TempDir(), asDefault)
		a := working(r)
		a.reaches(itsUsable / 2)
		before := p.last()
		a.header.Set("x-epitome-compact", "now")
		if mode != "" {
			a.header.Set("x-epitome-set", "summarize_mode="+mode)
		}
		got := a.ask()
		sent := p.last()
		p.wants(questions)
		if got.action != "compact" || sent.tokens >= before.tokens ||
			bytes.Contains(sent.body, []byte(byModel)) != (questions > 0) {
			t.Errorf("mode %q: %s to %d tokens: %s", mode, got.action, sent.tokens, sent.Messages[1].text())
		}
		if questions > 0 {
			continued(t, p.questions()[0], before, sent)
		}
		r.logs(`msg=compaction_completed .* reason=manual `)
		r.logs(`msg=exchange .* causes=asked_for`)
		a.react(got)
		a.header = http.Header{}
		if a.ask(); !bytes.HasPrefix(p.last().body, said(sent)) {
			t.Errorf("mode %q: the next request does not extend it: %s", mode, differ(sent.body, p.last().body))
		}
		p.wants(questions)
		a.header.Set("x-epitome-compact", "yes")
		if bad, err := a.send(t.Context(), a.body()); err != nil || bad.status != http.StatusBadRequest ||
			!strings.Contains(bad.text, "epitome_error") {
			t.Errorf("mode %q: got %+v, %v", mode, bad, err)
		}
	}
	f("", 1)
	f("llm", 1)
	f("intent", 0)
	f("window", 0)
	f("lossless", 0)
}

// Who only looks on sends what came, and asks nobody.
func TestObservingAsksNobody(t *testing.T) {
	t.Parallel()
	f := func(change func(*config.Config), header http.Header) {
		t.Helper()
		p := providing(t, itsWindow, itsUsable)
		r := served(p, t.TempDir(), func(c *config.Config) {
			c.Summarize.Prepare = "on"
			change(c)
		})
		a := working(r)
		a.header = header
		would := false
		for len(p.sent()) == 0 || p.last().tokens < itsLine {
			would = a.turn().action == "compact"
			if !bytes.Equal(p.last().body, a.asked) {
				t.Fatalf("another body is sent: %s", differ(a.asked, p.last().body))
			}
		}
		p.wants(0)
		if !would {
			t.Error("it was not told that it would be compacted")
		}
		if strings.Contains(r.log.String(), "msg=summary_") || strings.Contains(r.log.String(), "msg=compaction_") {
			t.Errorf("the log tells of what has not happened:\n%s", r.log)
		}
	}
	f(func(c *config.Config) { c.Mode = "observe" }, http.Header{})
	f(asDefault, http.Header{"X-Epitome-Mode": {"observe"}})
	f(func(c *config.Config) { c.Mode = "observe" }, http.Header{"X-Epitome-Compact": {"now"}})
}
