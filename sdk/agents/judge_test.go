package agents_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"epitome/sdk/sdktest"
)

// leastShare is the mean share of a request, in percent, that the next one has to begin with.
const leastShare = 70

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
	var bodies [][]byte
	refused, input, cached, largest := 0, 0, 0, 0
	for _, r := range received {
		switch {
		case r.method != http.MethodPost: // how large the window is, asked by who wants to know
		case r.tooLong:
			refused++
		case r.refusal != nil:
			t.Errorf("the provider refused %s with %v", r.target, r.refusal)
		case r.counting || !w.asks(r.body):
		default:
			bodies = append(bodies, r.body)
			input, cached, largest = input+r.input, cached+r.cached, max(largest, r.input)
		}
	}
	if refused > 1 {
		t.Errorf("%d requests were too long, want at most one, by which the window is learned", refused)
	}
	if len(bodies) < turns+1 {
		t.Fatalf("%d requests were answered, want %d at least", len(bodies), turns+1)
	}
	mean, median, worst := spread(shares(bodies))
	t.Logf("%d requests, the largest of %d tokens, %d too long; of the one before each begins with %.1f%% (mean), "+
		"%.1f%% (median), %.1f%% (worst); of %d input tokens %.1f%% came from the cache",
		len(bodies), largest, refused, mean, median, worst, input, 100*float64(cached)/float64(input))
	if mean < leastShare {
		t.Errorf("a request begins with %.1f%% of the one before, want %d%% in the mean", mean, leastShare)
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
	var asked [][]byte
	for i, p := range seen {
		asked = append(asked, p.body)
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
	if untouched < 3 {
		t.Errorf("%d requests passed unchanged, want the first ones of the session", untouched)
	}
	if untouched == len(seen) {
		t.Error("nothing was ever rewritten: the session fits the window, and shows nothing")
	}
	mean, median, worst := spread(shares(asked))
	t.Logf("%d requests passed to the byte, %d were rescued; of what the client itself sent, each begins with %.1f%% (mean), "+
		"%.1f%% (median), %.1f%% (worst) of the one before", untouched, rescues, mean, median, worst)
}

// keep writes what was sent to the folder that EPITOME_AGENT_BODIES names, for somebody to read.
func keep(t *testing.T, seen []*passage, received []taken) {
	folder := os.Getenv("EPITOME_AGENT_BODIES")
	if folder == "" {
		return
	}
	folder = filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, body []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range seen {
		write(fmt.Sprintf("client-%03d-%s.json", i+1, p.action), p.body)
	}
	for i, r := range received {
		kind := "sent"
		if r.refusal != nil {
			kind = "refused"
		} else if sdktest.Summary(r.body) != "" {
			kind = "question"
		}
		write(fmt.Sprintf("provider-%03d-%s.json", i+1, kind), r.body)
	}
}
