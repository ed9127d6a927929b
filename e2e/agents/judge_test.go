//go:build e2e

package agents_test

import (
	"bytes"
	"net/http"
	"os"
	"regexp"
	"testing"

	"epitome/e2e/sdktest"
)

// leastCached is the share of all input tokens, in percent, that has to come from the provider's cache.
const leastCached = 60

// judge holds what reached the provider to what is promised of a session with so many turns from which something was
// taken out.
func (w *work) judge(t *testing.T, received []taken, turns int) {
	t.Helper()
	w.judgeTaken(t, received, turns)
	judgeArtifacts(t, received)
}

// judgeTaken holds what reached the provider to what is promised of any session with so many turns.
func (w *work) judgeTaken(t *testing.T, received []taken, turns int) {
	t.Helper()
	answered, refused, input, cached, largest := 0, 0, 0, 0, 0
	for _, r := range received {
		switch {
		case r.method != http.MethodPost: // how large the window is, asked by who wants to know
		case r.tooLong:
			refused++
		case r.refusal != nil:
			t.Errorf("the provider refused %s with %v", r.target, r.refusal)
		case r.counting || !w.asks(r.body):
		default:
			answered++
			input, cached, largest = input+r.input, cached+r.cached, max(largest, r.input)
		}
	}
	if refused > 1 {
		t.Errorf("%d requests were too long, want at most one, by which the window is learned", refused)
	}
	if answered < turns+1 {
		t.Fatalf("%d requests were answered, want %d at least", answered, turns+1)
	}
	share := 100 * float64(cached) / float64(input)
	t.Logf("%d requests, the largest of %d tokens, %d too long; of %d input tokens %.1f%% came from the cache",
		answered, largest, refused, input, share)
	if cached > 0 && share < leastCached { // an agent that sets no markers has no cache
		t.Errorf("%.1f%% of the input tokens came from the cache, want %d%%", share, leastCached)
	}
}

// artifact is how a text that a model is shown names what was taken out.
var artifact = regexp.MustCompile(`[\w/.-]+/artifacts/\w+\.txt`)

// judgeArtifacts holds that whatever the last request names lies there to be read.
func judgeArtifacts(t *testing.T, received []taken) {
	t.Helper()
	named := artifact.FindAllString(string(received[len(received)-1].body), -1)
	if len(named) == 0 {
		t.Error("the last request names no artifact: nothing was taken out, and the session shows nothing")
	}
	for _, path := range named {
		if file, err := os.Stat(path); err != nil || file.Size() == 0 {
			t.Errorf("the last request sends the model to %s, where there is nothing (%v)", path, err)
		}
	}
}

// judgeClient holds what the client saw and sent to what is promised: no error, and all to the byte until something was
// taken out.
func judgeClient(t *testing.T, seen []*passage, received []taken) {
	t.Helper()
	var sent [][]byte
	for _, r := range received {
		if r.method == http.MethodPost && sdktest.Summary(r.body) == "" {
			sent = append(sent, r.body)
		}
	}
	untouched, rescues := 0, 0
	whole := true
	for i, p := range seen {
		if fault := p.fault(); fault != "" {
			t.Errorf("the client's request %d was answered with an error: %s", i+1, tail(fault))
		}
		if p.action == "rescue" {
			rescues++
		}
		if whole = whole && p.action == "none"; whole {
			untouched++
			if i >= len(sent) || !bytes.Equal(sent[i], p.body) {
				t.Errorf("request %d, in which nothing was rewritten, is not what the client sent", i+1)
			}
		}
	}
	if rescues > 1 {
		t.Errorf("%d requests were rescued, want at most one", rescues)
	}
	if untouched < 1 {
		t.Errorf("%d requests passed unchanged, want the first one of the session", untouched)
	}
	if untouched == len(seen) {
		t.Error("nothing was ever rewritten: the session fits the window, and shows nothing")
	}
	t.Logf("%d requests passed to the byte, %d were rescued", untouched, rescues)
}
