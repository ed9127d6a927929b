package load

import (
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"epitome/internal/needtest"
)

func TestNginxConfigIsTakenByNginx(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		needtest.Skip(t, "no nginx to try the config with: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	l := Lineup{Proxies: bareAsSubject(t).Proxies, Progress: io.Discard}
	report, err := Run(t.Context(), Options{Lineup: l, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Skipped) != 0 {
		t.Errorf("skipped: %q", report.Skipped)
	}
	wantEmptyTemp(t)
}

func TestLoadMeasuresEveryContender(t *testing.T) {
	report, err := Run(t.Context(), Options{Lineup: bareAsSubject(t), Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	var latency, stream, rate []string
	for _, row := range report.Latency {
		latency = append(latency, row.Contender+" "+sizeName(row.Bytes))
		if row.P50US <= 0 || row.P99US < row.P50US {
			t.Errorf("%s has p50 %g and p99 %g", row.Contender, row.P50US, row.P99US)
		}
	}
	for _, row := range report.Stream {
		stream = append(stream, row.Contender)
	}
	for i, row := range report.Flood {
		if i >= len(stream) || row.Contender != stream[i] || row.Events != 20 || row.PerSecond <= 0 {
			t.Errorf("stream without pauses: %+v", row)
		}
	}
	if len(report.Flood) != len(stream) {
		t.Errorf("stream without pauses of %d", len(report.Flood))
	}
	for _, row := range report.Throughput {
		rate = append(rate, row.Contender+" "+sizeName(row.Bytes))
	}
	all := []string{"direct 2 KB", "subject 2 KB", "bare fasthttp 2 KB", "direct 100 KB", "subject 100 KB",
		"bare fasthttp 100 KB"}
	if !slices.Equal(latency, all) || !slices.Equal(rate, all) {
		t.Errorf("latency of %q, throughput of %q; want both of %q", latency, rate, all)
	}
	if want := []string{DirectName, "subject", BareName}; !slices.Equal(stream, want) {
		t.Errorf("stream of %q, want %q", stream, want)
	}
	for _, row := range report.Leaving {
		// The bare baseline watches no client: it cannot notice one that leaves.
		if noticed := row.Unnoticed < row.Tries; noticed != (row.Contender == DirectName) {
			t.Errorf("%s, %s: %d of %d clients left unnoticed", row.Contender, row.Phase, row.Unnoticed, row.Tries)
		}
	}
	for _, row := range report.Footprint {
		if runtime.GOOS == "linux" && (row.BurstMB == nil || *row.BurstMB < 1) {
			t.Errorf("%s after a burst: %v", row.Contender, row.BurstMB)
		}
	}
	if len(report.Leaving) != 6 || len(report.Footprint) != 2 || !slices.Equal(report.Skipped, []string{"nginx: left out by request"}) {
		t.Errorf("%d rows of clients that leave, %d footprints, skipped %q", len(report.Leaving), len(report.Footprint), report.Skipped)
	}
	wantEmptyTemp(t)
}

func TestSubjectThatCannotStartIsAnError(t *testing.T) {
	l := bareAsSubject(t)
	exe := l.Proxies[0].Command[0]
	f := func(want string, command ...string) {
		t.Helper()
		l.Proxies = []Contender{{Name: "subject", Command: command}}
		_, err := Run(t.Context(), Options{Lineup: l, Quick: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", command, err, want)
		}
		wantEmptyTemp(t)
	}
	f(`cannot play role ["juggler"]`, exe, "bench", "juggler")
	f("cannot start subject", exe+"-missing")
}
