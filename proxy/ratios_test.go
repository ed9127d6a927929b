package proxy

import (
	"strings"
	"sync"
	"testing"

	"epitome/rewrite"
)

// A request that was refused teaches by the form that was answered, and all of its forms are counted by one ratio.
func TestRescueIsCountedByOneRatio(t *testing.T) {
	const said = `{"error":{"message":"This model's maximum context length is 8000 tokens. However, your messages resulted in 10000 tokens.","code":"context_length_exceeded"}}`
	r := on(t, refused(400, said)+welcome)
	var mu sync.Mutex
	var ratios []float64
	r.shapes(func(a rewrite.Input) rewrite.Output {
		s := climbing(a)
		s.Report.Ratio, s.Report.Answers, s.Report.Counted = 1.25, 7, s.Report.TokensAfter.Total()*4/5
		if a.Rescue != nil {
			mu.Lock()
			defer mu.Unlock()
			ratios = append(ratios, a.Rescue.Ratio, float64(a.Rescue.Answers))
		}
		return s
	})
	if resp, body := r.dial().send(post(chatTarget, longStory)).answer("POST"); resp.StatusCode != 200 {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	if e := r.event(); e.Ratio != 1.25 {
		t.Errorf("the event has a ratio of %v", e.Ratio)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(ratios) != 2 || ratios[0] != 1.25 || ratios[1] != 7 {
		t.Errorf("the rescue is shaped by %v", ratios)
	}
	if want := "learn test m 4900 of 4000"; !strings.HasSuffix(r.lessons.all(), want) {
		t.Errorf("learned %q, want %q at the end", r.lessons.all(), want)
	}
}
