package bench

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// bareAsSubject is a lineup in which this test binary's baseline plays the measured proxy.
func bareAsSubject(t *testing.T) Lineup {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GORACE", "atexit_sleep_ms=0") // under -race each child would otherwise take a second to end
	return Lineup{
		Proxies:  []Contender{{Name: "subject", Command: []string{exe, "bench", "baseline", "--listen", "{listen}", "--upstream", "{upstream}"}}},
		Nginx:    "none",
		Progress: io.Discard,
	}
}

// wantEmptyTemp tells whether a run has removed the folders of its processes.
func wantEmptyTemp(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("the run left %v in its folder (%v)", left, err)
	}
}

func TestLoadMeasuresEveryContender(t *testing.T) {
	report, err := Load(t.Context(), LoadOptions{Lineup: bareAsSubject(t), Quick: true})
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
	all := []string{"direct 2 KB", "subject 2 KB", "bare fasthttp 2 KB", "direct 100 KB", "subject 100 KB", "bare fasthttp 100 KB"}
	if !slices.Equal(latency, all) || !slices.Equal(rate, all) {
		t.Errorf("latency of %q, throughput of %q; want both of %q", latency, rate, all)
	}
	if want := []string{directName, "subject", bareName}; !slices.Equal(stream, want) {
		t.Errorf("stream of %q, want %q", stream, want)
	}
	if len(report.Footprint) != 2 || !slices.Equal(report.Skipped, []string{"nginx: left out by request"}) {
		t.Errorf("%d footprints, skipped %q", len(report.Footprint), report.Skipped)
	}
	wantEmptyTemp(t)
}

func TestLoadMeasuresAProxyGivenByURL(t *testing.T) {
	report := loadOfOther(t)
	if last := report.Latency[len(report.Latency)-1]; last.Contender != "other" || last.CPUUS != nil {
		t.Errorf("last row is of %q with CPU %v, want other without", last.Contender, last.CPUUS)
	}
}

// loadOfOther measures what is known only by its URL: here the upstream itself, whose port has to be known before it
// starts. Should another program take the port first, it is done again with another.
func loadOfOther(t *testing.T) *LoadReport {
	t.Helper()
	own := bareAsSubject(t)
	for tries := 1; ; tries++ {
		upstream, err := freeAddress()
		if err != nil {
			t.Fatal(err)
		}
		lineup := own
		lineup.Proxies = append(slices.Clone(own.Proxies), Contender{Name: "other", URL: "http://" + upstream})
		opts := LoadOptions{Lineup: lineup, Quick: true, Sizes: []int{2 << 10}}
		if _, err = Load(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "cannot measure other by URL") {
			t.Fatalf("without the upstream's address: %v", err)
		}
		opts.UpstreamListen = upstream
		report, err := Load(t.Context(), opts)
		if err == nil {
			return report
		}
		if !portTaken(err) || tries == mostPorts {
			t.Fatal(err)
		}
	}
}

func TestCancelTellsWhoNotices(t *testing.T) {
	report, err := Cancel(t.Context(), CancelOptions{Lineup: bareAsSubject(t), Quick: true, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 4*2*3 {
		t.Fatalf("%d rows, want 4 phases × 2 ways × 3 contenders", len(report.Rows))
	}
	for _, row := range report.Rows {
		// The bare baseline watches no client: it cannot notice while it waits for the upstream.
		blind := row.Contender != directName && (row.Phase == Waiting || row.Phase == Idle)
		if noticed := row.Unnoticed < row.Tries; noticed && blind {
			t.Errorf("%s, %s, %s: %d of %d tries unnoticed", row.Contender, row.Phase, row.Leave, row.Unnoticed, row.Tries)
		}
	}
	wantEmptyTemp(t)
}

func TestSubjectThatCannotStartIsAnError(t *testing.T) {
	lineup := bareAsSubject(t)
	exe := lineup.Proxies[0].Command[0]
	f := func(want string, command ...string) {
		t.Helper()
		lineup.Proxies = []Contender{{Name: "subject", Command: command}}
		_, err := Load(t.Context(), LoadOptions{Lineup: lineup, Quick: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", command, err, want)
		}
		wantEmptyTemp(t)
	}
	f(`cannot play role ["juggler"]`, exe, "bench", "juggler")
	f("cannot start subject", exe+"-missing")
}
