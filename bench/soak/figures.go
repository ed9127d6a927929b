package soak

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/lineup"
	"epitome/bench/report"
)

// sample is what epitome takes at one moment, by name.
type sample struct {
	start  int // which of its processes
	values map[string]float64
}

// The figures, in the order of the table. Those that only grow as a process lives are judged flat.
var figures = []struct {
	name, unit string
	flat       float64 // the most that the last quarter may be of the second one; 0: it is not judged
	slack      float64 // and what it may have beyond that, in the unit
}{
	{"resident memory", "MB", 1.25, 8},
	{"heap in use", "MB", 1.25, 8},
	{"open descriptors", "", 1.25, 8},
	{"goroutines", "", 1.25, 8},
	{"store", "MB", 0, 0}, // what has expired stays for an hour
	{"store, of a hundred conversations", "MB", 1.25, 0.5},
	{"artifacts", "MB", 1.5, 2},
	{"events", "MB", 1.5, 1},
	{"log", "MB", 1.5, 2},
}

const megabyte = 1 << 20

// look takes a sample; figures that cannot be had are left out.
func (s *soak) look() sample {
	starts, _ := s.child.steady()
	v := sample{start: starts, values: map[string]float64{}}
	pid := s.child.pid()
	if n, err := lineup.ResidentBytes(pid); err == nil {
		v.values["resident memory"] = float64(n) / megabyte
	}
	if open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd")); err == nil {
		v.values["open descriptors"] = float64(len(open))
	}
	for series, to := range map[string]string{"go_goroutines": "goroutines", "go_memstats_heap_inuse_bytes": "heap in use"} {
		if n, ok := s.child.metric(series); ok {
			v.values[to] = n
		}
	}
	if n, ok := v.values["heap in use"]; ok {
		v.values["heap in use"] = n / megabyte
	}
	for folder, to := range map[string]string{filepath.Join(s.child.data(), "store"): "store", s.child.shelf(): "artifacts",
		filepath.Join(s.child.data(), "events"): "events"} {
		v.values[to] = sizeOf(folder)
	}
	if n := s.notes.times(begunCount); n > 0 {
		v.values["store, of a hundred conversations"] = v.values["store"] / float64(n) * 100
	}
	v.values["log"] = sizeOf(s.child.log()) + sizeOf(s.child.log()+".1")
	return v
}

// metric reads one number of /-/metrics.
func (c *child) metric(series string) (float64, bool) {
	answer, err := http.Get(c.url() + "/-/metrics")
	if err != nil {
		return 0, false
	}
	defer func() { _ = answer.Body.Close() }()
	var text strings.Builder
	if err := answer.Write(&text); err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(text.String(), "\n"+series+" ")
	number, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return n, found && err == nil
}

// sizeOf is what lies in a file or below a folder, on the disk: files of a store may have holes.
func sizeOf(path string) float64 {
	var bytes int64
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += occupied(info)
		}
		return nil
	})
	return float64(bytes) / megabyte
}

// Figure is how one number went, from the first sample to the last.
type Figure struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	First  float64 `json:"first"`
	Median float64 `json:"median"`
	Last   float64 `json:"last"`
	Most   float64 `json:"most"`
	// of the longest time that one process ran: its last quarter against its second one, as medians
	Ratio   float64 `json:"ratio"`
	Verdict string  `json:"verdict"`
}

// fewestSamples is what a verdict needs: ten minutes of one process.
const fewestSamples = 10 * 60 / int(sampleEvery/time.Second)

// settleFigures makes the table of all samples.
func settleFigures(all []sample) (table []Figure, broken []string) {
	long := longest(all)
	for _, f := range figures {
		xs := valuesOf(all, f.name)
		if len(xs) == 0 {
			table = append(table, Figure{Name: f.name, Unit: f.unit, Verdict: "not measured"})
			continue
		}
		row := Figure{Name: f.name, Unit: f.unit, First: xs[0], Median: report.Median(xs), Last: xs[len(xs)-1],
			Most: report.Percentile(xs, 100), Verdict: "too short to judge"}
		if ys := valuesOf(long, f.name); len(ys) >= 4 {
			q := len(ys) / 4
			early, late := report.Median(ys[q:2*q]), report.Median(ys[3*q:])
			if r := report.Ratio(late, early); r != nil {
				row.Ratio = *r
			}
			switch {
			case f.flat == 0:
				row.Verdict = "not judged"
			case len(ys) < fewestSamples:
			case late > early*f.flat+f.slack:
				row.Verdict = "GROWS"
				broken = append(broken, fmt.Sprintf("%s grows: %.1f %s in the second quarter of the longest time between two"+
					" starts, %.1f in the last (promise 10)", f.name, early, f.unit, late))
			default:
				row.Verdict = "flat"
			}
		}
		table = append(table, row)
	}
	return table, broken
}

// longest are the samples of the process that has most of them.
func longest(all []sample) (most []sample) {
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].start == all[from].start {
			to++
		}
		if to-from > len(most) {
			most = all[from:to]
		}
		from = to
	}
	return most
}

func valuesOf(all []sample, name string) (xs []float64) {
	for _, s := range all {
		if x, ok := s.values[name]; ok {
			xs = append(xs, x)
		}
	}
	return xs
}

// complaints are lines of the log that no fault explains.
func complaints(log string) (found []string) {
	text, _ := os.ReadFile(log) // without one there is nothing to find
	for line := range strings.Lines(string(text)) {
		fault := gjson.Get(line, "fault").Str
		if fault == "panic" || strings.Contains(line, "panic:") || strings.Contains(line, "DATA RACE") {
			found = append(found, "the log has: "+strings.TrimSpace(line))
		}
	}
	return found
}
