package load

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"epitome/bench/lineup"
	"epitome/bench/lineup/lineuptest"
	"epitome/internal/need"
)

func TestNginxConfigIsTakenByNginx(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		need.Skip(t, "no nginx to try the config with: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	l := lineup.Lineup{Proxies: lineuptest.BareAsSubject(t).Proxies, Progress: io.Discard}
	report, err := Run(t.Context(), Options{Lineup: l, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Skipped) != 0 {
		t.Errorf("skipped: %q", report.Skipped)
	}
	lineuptest.WantEmptyTemp(t)
}

func TestLoadMeasuresEveryContender(t *testing.T) {
	report, err := Run(t.Context(), Options{Lineup: lineuptest.BareAsSubject(t), Quick: true})
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
	if want := []string{lineup.DirectName, "subject", lineup.BareName}; !slices.Equal(stream, want) {
		t.Errorf("stream of %q, want %q", stream, want)
	}
	if len(report.Footprint) != 2 || !slices.Equal(report.Skipped, []string{"nginx: left out by request"}) {
		t.Errorf("%d footprints, skipped %q", len(report.Footprint), report.Skipped)
	}
	lineuptest.WantEmptyTemp(t)
}

func TestLoadMeasuresAProxyGivenByURL(t *testing.T) {
	report := loadOfOther(t)
	if last := report.Latency[len(report.Latency)-1]; last.Contender != "other" || last.CPUUS != nil {
		t.Errorf("last row is of %q with CPU %v, want other without", last.Contender, last.CPUUS)
	}
}

// loadOfOther measures what is known only by its URL: here the upstream itself, whose port has to be known before it
// starts. Should another program take the port first, it is done again with another.
func loadOfOther(t *testing.T) *Report {
	t.Helper()
	own := lineuptest.BareAsSubject(t)
	for tries := 1; ; tries++ {
		upstream, err := lineup.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		l := own
		l.Proxies = append(slices.Clone(own.Proxies), lineup.Contender{Name: "other", URL: "http://" + upstream})
		opts := Options{Lineup: l, Quick: true, Sizes: []int{2 << 10}}
		if _, err = Run(t.Context(), opts); err == nil ||
			!strings.Contains(err.Error(), "cannot measure other by URL") {
			t.Fatalf("without the upstream's address: %v", err)
		}
		opts.UpstreamListen = upstream
		report, err := Run(t.Context(), opts)
		if err == nil {
			return report
		}
		if !lineup.PortTaken(err) || tries == lineup.MostPorts {
			t.Fatal(err)
		}
	}
}

func TestSubjectThatCannotStartIsAnError(t *testing.T) {
	l := lineuptest.BareAsSubject(t)
	exe := l.Proxies[0].Command[0]
	f := func(want string, command ...string) {
		t.Helper()
		l.Proxies = []lineup.Contender{{Name: "subject", Command: command}}
		_, err := Run(t.Context(), Options{Lineup: l, Quick: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", command, err, want)
		}
		lineuptest.WantEmptyTemp(t)
	}
	f(`cannot play role ["juggler"]`, exe, "bench", "juggler")
	f("cannot start subject", exe+"-missing")
}

func TestLoadMeasuresOtherDialectsBesideChat(t *testing.T) {
	measuresBesideChat(t, "messages")
	measuresBesideChat(t, "responses")
}

func measuresBesideChat(t *testing.T, dialect string) {
	t.Helper()
	l := lineuptest.BareAsSubject(t)
	inChat := l.Proxies[0]
	inChat.Name, inChat.Rival, inChat.Chat = "in chat", true, true
	l.Proxies, l.Dialect = append(l.Proxies, inChat), dialect
	report, err := Run(t.Context(), Options{Lineup: l, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	var goals []string
	for _, g := range report.Goals {
		if strings.HasSuffix(g.Name, " against in chat") && g.Value != nil && *g.Value > 0 {
			goals = append(goals, g.Name)
		}
	}
	if want := []string{"latency, 2 KB against in chat", "latency, 100 KB against in chat"}; !slices.Equal(goals, want) {
		t.Errorf("goals %q, want %q", goals, want)
	}
	lineuptest.WantEmptyTemp(t)
}
