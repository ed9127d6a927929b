package daemon

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/internal/fakeapi"
)

// briefly is how long a request waits for a summary that does not come.
const briefly = 200 * time.Millisecond

// status answers with an error.
func status(code int, body string) manner {
	return func(w http.ResponseWriter, _ *http.Request, _ heard) {
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, body)
	}
}

// broken answers half of what it has promised, and cuts the connection.
func broken(w http.ResponseWriter, _ *http.Request, q heard) {
	text := strconv.Quote(nthSummary(q.number))
	if q.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		text = `data: {"choices":[{"index":0,"delta":{"content":` + text + "}}]}\n\n"
	} else {
		text = `{"choices":[{"index":0,"message":{"role":"assistant","content":` + text + `},"finish_reason":"stop"}]}`
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		text = text[:len(text)-10] // all of the summary is there, and still it is half an answer
	}
	_, _ = fmt.Fprint(w, text)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// unfinished is a stream that ends without having come to its end.
func unfinished(w http.ResponseWriter, _ *http.Request, q heard) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":`+strconv.Quote(nthSummary(q.number))+"}}]}\n\n")
}

// streaming takes questions in streams alone.
func streaming(then manner) manner {
	refuse := status(http.StatusBadRequest, `{"error":{"message":"This model is served with \"stream\": true only."}}`)
	return func(w http.ResponseWriter, r *http.Request, q heard) {
		if !q.Stream {
			refuse(w, r, q)
			return
		}
		then(w, r, q)
	}
}

// Whatever becomes of a question, the agent's request is answered: with what code makes of the old turns. That
// stands, the log says why, and the next compaction asks anew.
func TestNoSummaryCostsTheAgentNothing(t *testing.T) {
	t.Parallel()
	long := func(w http.ResponseWriter, r *http.Request, q heard) {
		says(message("assistant", strings.Replace(nthSummary(q.number), "## Progress\n",
			"## Progress\n"+strings.Repeat("and then it went on, ", 10_000), 1)), 0)(w, r, q)
	}
	refusal := `{"role":"assistant","content":null,"refusal":"I cannot help with that."}`
	calls := `{"role":"assistant","content":null,"tool_calls":[` + calling("call_x", "bash", `{"command":"rm -r src"}`) + `]}`
	for _, c := range []struct {
		name     string
		answer   manner // nil: none, ever
		requests int    // that it takes
		why      string
	}{
		{"an empty text", says(message("assistant", ""), 0), 2, "a model gave no summary that could be used: it was empty"},
		{"an empty body", status(http.StatusOK, ""), 2, "a model gave no summary that could be used: the upstream could not be reached or broke off"},
		{"500", status(http.StatusInternalServerError, `{"error":{"message":"oh"}}`), 2, "a model gave no summary that could be used: the upstream answered with status 500"},
		{"401", status(http.StatusUnauthorized, `{"error":{"message":"no"}}`), 1, "a model gave no summary that could be used: the upstream answered with status 401"},
		{"half an answer", broken, 2, "a model gave no summary that could be used: the upstream could not be reached or broke off"},
		{"half a stream", streaming(broken), 3, "a model gave no summary that could be used: the upstream could not be reached or broke off"},
		{"a stream without its end", unfinished, 2, "a model gave no summary that could be used: the upstream could not be reached or broke off"},
		{"a refusal", says(refusal, 0), 2, "a model gave no summary that could be used: it was declined"},
		{"too long", long, 2, `a model gave no summary that could be used: it had \d+ tokens, and \d+ are the most`},
		{"no sections", says(message("assistant", "We have reworked a few parts, and all is well."), 0), 2, "a model gave no summary that could be used: it lacked the headings Goal"},
		{"a call", says(calls, 0), 2, "a model gave no summary that could be used: it called a tool in place of a text"},
		{"silence", nil, 1, "the summary is not ready yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := providing(t, itsWindow, itsUsable)
			r := served(p, t.TempDir(), func(conf *config.Config) {
				conf.Summarize.Limits = summaryLimits(time.Minute, 2)
				if c.answer == nil {
					conf.Summarize.Limits.Wait = briefly
				}
			})
			if p.will(c.answer); c.answer == nil {
				p.will(p.held(nil, nil))
			}
			unsummarised(t, r, p, c.requests, c.why)
		})
	}
}

// unsummarised has an agent work over the line twice. The first time no summary comes of so many requests, for this
// reason.
func unsummarised(t *testing.T, r *inService, p *provider, requests int, why string) {
	a := working(r)
	a.nears()
	before := p.last()
	got := a.ask()
	sent := p.last()
	p.awaits(requests) // who waited briefly may be through before the provider has heard

	off := got.after - sent.tokens // an item's text is told apart from what is added to it
	if got.action != "compact" || sent.tokens > itsUsable/2 || sent.tokens >= before.tokens ||
		max(off, -off) > len(sent.Messages) {
		t.Errorf("%s from %d to %d tokens, and %d are told", got.action, got.before, sent.tokens, got.after)
	}
	if !bytes.Contains(sent.body, []byte("[epitome: summary ")) || bytes.Contains(sent.body, []byte(byModel)) ||
		bytes.Contains(sent.body, []byte(markOf(1))) {
		t.Errorf("what is sent is not what code makes: %s", sent.Messages[1].text())
	}
	r.logs(`level=INFO msg=compaction_completed .* reason=threshold mode=intent .* why="` + why)
	if why != "the summary is not ready yet" {
		r.logs(fmt.Sprintf(`level=WARN msg=summary_failed .* requests=%d .* reason="%s`, requests, why))
	}
	p.will(summing)
	r.reloads(func(c *config.Config) { c.Summarize.Limits = summaryLimits(fakeapi.Patience, 2) })
	a.ask()
	if again := p.last(); !bytes.Equal(again.body, sent.body) {
		t.Errorf("sent again, it is another: %s", differ(sent.body, again.body))
	}
	p.wants(requests)
	a.nears()
	p.wants(requests)
	if a.ask(); !bytes.Contains(p.last().body, []byte(byModel)) {
		t.Error("the next compaction has no summary of a model's")
	}
	p.wants(requests + 1)
}
