package load

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// goodReport meets every goal exactly at its limit.
func goodReport() *Report {
	return &Report{
		Subject: "epitome",
		Latency: []Latency{
			{Contender: DirectName, Bytes: 2048, P50US: 20},
			{Contender: "epitome", Bytes: 2048, P50US: 110, AddedUS: 90},
			{Contender: NginxName, Bytes: 2048, P50US: 70, AddedUS: 50},
			{Contender: DirectName, Bytes: 819200},
			{Contender: "epitome", Bytes: 819200, AddedUS: 100},
			{Contender: NginxName, Bytes: 819200, AddedUS: 200},
		},
		Stream: []Stream{
			{Contender: DirectName}, {Contender: "epitome", AddedP50US: 40},
			{Contender: NginxName, AddedP50US: 20},
		},
		Throughput: []Throughput{
			{Contender: "epitome", Bytes: 2048, PerSecond: 300},
			{Contender: NginxName, Bytes: 2048, PerSecond: 200},
		},
		Leaving:   []Leaving{{Contender: "epitome", Phase: waiting, Tries: 9, P99MS: new(50.0)}},
		Footprint: []Footprint{{Contender: "epitome", ReadyMS: 100, IdleMB: new(60.0), BurstMB: new(100.0), StreamKB: new(40.0)}},
	}
}

func TestRatiosStandAgainstNginx(t *testing.T) {
	r := goodReport()
	r.settle()
	if got := *r.Latency[1].VsNginx; got != 1.8 {
		t.Errorf("added latency against nginx is %g, want 1.8", got)
	}
	if got := *r.Latency[4].VsNginx; got != 0.5 {
		t.Errorf("added latency of the large body against nginx is %g, want 0.5", got)
	}
	if got := *r.Stream[1].VsNginx; got != 2 {
		t.Errorf("chunk against nginx is %g, want 2", got)
	}
	if got := *r.Throughput[0].VsNginx; got != 1.5 {
		t.Errorf("throughput against nginx is %g, want 1.5", got)
	}
	if r.Latency[0].VsNginx != nil || r.Stream[0].VsNginx != nil {
		t.Error("the direct call has a ratio of added time")
	}
}

func TestGoalsAreMetUpToTheirLimit(t *testing.T) {
	r := goodReport()
	r.settle()
	if got := r.Missed(); len(got) != 0 {
		t.Errorf("missed %q, want none", got)
	}
	if len(r.Goals) != 9 {
		t.Errorf("%d goals, want 9", len(r.Goals))
	}
}

func TestMissedNamesFigureAndGoal(t *testing.T) {
	f := func(spoil func(*Report), want string) {
		t.Helper()
		r := goodReport()
		spoil(r)
		r.settle()
		if got := r.Missed(); !slices.Equal(got, []string{want}) {
			t.Errorf("missed %q, want %q", got, want)
		}
	}
	f(func(r *Report) { r.Latency[1].AddedUS = 91 }, "added latency against nginx, 2 KB: 1.82 ×, goal ≤ 1.8")
	f(func(r *Report) { r.Latency[4].AddedUS = 400 }, "added latency against nginx, 800 KB: 2.00 ×, goal ≤ 1.8")
	f(func(r *Report) { r.Stream[1].AddedP50US = 41 }, "time added to a streamed chunk, p50: 41.00 µs, goal ≤ 40")
	f(func(r *Report) { r.Footprint[0].StreamKB = new(40.5) }, "memory per idle stream: 40.50 KB, goal ≤ 40")
	f(func(r *Report) { r.Footprint[0].ReadyMS = 120 }, "start to ready: 120.00 ms, goal ≤ 100")
	f(func(r *Report) { r.Footprint[0].IdleMB = new(61.0) }, "idle memory: 61.00 MB, goal ≤ 60")
	f(func(r *Report) { r.Footprint[0].BurstMB = new(101.0) }, "memory after a burst: 101.00 MB, goal ≤ 100")
	f(func(r *Report) { r.Leaving[0].P99MS = new(51.0) },
		"client gone to upstream closed, p99, waiting: 51.00 ms, goal ≤ 50")
	f(func(r *Report) { r.Leaving[0].Unnoticed = 1 }, "clients gone and unnoticed, waiting: 1.00 tries, goal ≤ 0")
}

func TestWhatWasNotMeasuredIsSaidAndNotMissed(t *testing.T) {
	r := goodReport()
	r.Latency = slices.DeleteFunc(r.Latency, func(x Latency) bool { return x.Contender == NginxName })
	r.Footprint[0].IdleMB, r.Footprint[0].StreamKB = nil, nil
	r.Skipped = []string{"nginx: not found"}
	r.settle()
	if got := r.Missed(); len(got) != 0 {
		t.Errorf("missed %q, want none", got)
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(text.String(), "not measured"); got != 4 {
		t.Errorf("%d figures are called not measured, want 4:\n%s", got, text.String())
	}
	if !strings.Contains(text.String(), "SKIPPED nginx: not found") {
		t.Errorf("the report hides what was skipped:\n%s", text.String())
	}
}

func TestReportIsJSON(t *testing.T) {
	r := goodReport()
	r.settle()
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}
