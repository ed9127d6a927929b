package daemon

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"epitome/config"
	"epitome/prose"
)

// A session of hundreds of messages goes through a window of 8k tokens: each request fits, is sound, and has what
// the user wants; code alone writes the summaries.
func TestLongSessionStaysWithinASmallWindow(t *testing.T) {
	t.Parallel()
	const window = 8_192
	p := providing(t, window, window-window/8)
	p.speak = inSmallSteps
	r := served(p, t.TempDir(), func(c *config.Config) { c.Summarize.Mode = prose.ModeIntent })
	a := working(r)
	a.messages[1] = message("user", "Please rework the parts one by one: "+strings.Repeat("mind the limits, ", 20)+"and keep their tests green.")
	compacted, largest := 0, 0
	var before heard
	for k := 0; len(a.messages) < 600; k++ {
		if a.lines = []int{1, 3, 6, 2, 30, 4, 1, 10}[k%8]; k%200 == 199 {
			a.lines = 400 // more than the whole window
		}
		task := a.tasks
		a.turn()
		sent := p.last()
		largest = max(largest, sent.tokens)
		if !bytes.Contains(sent.body, []byte("Please rework the parts one by one")) || task > 0 &&
			!bytes.Contains(sent.body, []byte(fmt.Sprintf("Go on with task %d;", task))) {
			t.Fatalf("request %d does not tell the task", k)
		}
		if before.body != nil && !bytes.HasPrefix(sent.body, said(before)) {
			compacted++
		}
		before = sent
		if t.Failed() {
			t.FailNow()
		}
	}
	p.wants(0)
	t.Logf("%d requests, the last one of %d bytes; of those sent the largest has %d tokens, and %d changed what had been sent",
		len(p.sent()), len(a.asked), largest, compacted)
	if compacted == 0 || compacted > len(p.sent())/3 {
		t.Errorf("%d of %d requests change what was sent before", compacted, len(p.sent()))
	}
	if strings.Contains(r.log.String(), "msg=context_window_warning") {
		t.Error("it was warned of a full window")
	}
}

// inSmallSteps is a model that says little.
func inSmallSteps(n int) string {
	if n%9 == 0 {
		return message("assistant", "Done with "+strconv.Itoa(n)+". What next?")
	}
	calls := calling(fmt.Sprintf("call_%d_a", n), "read_file", fmt.Sprintf(`{"path":"src/part_%d.go"}`, n%50))
	more := 1 - n%2
	if n%50 == 0 { // all at once, and together more than the window
		more = 4
	}
	for k := range more {
		calls += "," + calling(fmt.Sprintf("call_%d_%d", n, k), "bash", fmt.Sprintf(`{"command":"go test ./part_%d"}`, n+k))
	}
	return `{"role":"assistant","content":` + strconv.Quote(fmt.Sprintf("Step %d.", n)) + `,"tool_calls":[` + calls + `]}`
}
