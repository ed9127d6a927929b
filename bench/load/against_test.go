package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFiguresStandBesideThoseOfTheOthers(t *testing.T) {
	r := goodReport()
	r.Stream = nil
	r.Latency = append(r.Latency, Latency{Contender: "old", Bytes: 2048, P50US: 100, AddedUS: 0, CPUUS: new(50.0)})
	r.Footprint = append(r.Footprint, Footprint{Contender: "old", ReadyMS: 80})
	r.compare([]string{"old", "not measured"})
	var got []string
	for _, c := range r.Against {
		ratio := "none"
		if c.Ratio != nil {
			ratio = fmt.Sprint(*c.Ratio)
		}
		got = append(got, fmt.Sprintf("%s in %s: %g, %s %g, %s",
			c.Figure, c.Unit, c.Subject, c.Contender, c.Other, ratio))
	}
	want := []string{"latency, 2 KB in µs: 110, old 100, 1.1", "added latency, 2 KB in µs: 90, old 0, none",
		"start to ready in ms: 100, old 80, 1.25"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunPutsTheSubjectBesideAnotherProgram(t *testing.T) {
	field := bareAsSubject(t)
	again := field.Proxies[0]
	again.Name, again.Rival = "again", true
	field.Proxies = append(field.Proxies, again)
	r, err := Run(t.Context(), Options{Lineup: field, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err = r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{"latency, 2 KB", "age of a chunk", "stream without pauses", "throughput, 100 KB",
		"start to ready"} {
		if !slices.ContainsFunc(r.Against, func(c Comparison) bool {
			return c.Figure == figure && c.Contender == "again" && c.Subject > 0 && c.Other > 0 && c.Ratio != nil
		}) {
			t.Errorf("%s is not compared: %+v", figure, r.Against)
		}
		if !strings.Contains(text.String(), "\n"+figure+" ") {
			t.Errorf("the report does not show %s:\n%s", figure, &text)
		}
	}
	if slices.ContainsFunc(r.Against, func(c Comparison) bool { return c.Contender == BareName }) {
		t.Error("the bare proxy is compared, which nobody asked for")
	}
}
