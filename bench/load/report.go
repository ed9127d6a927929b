package load

import (
	"io"
	"strconv"

	"epitome/bench/report"
)

// Latency is one contender with one body size, one request at a time. Added figures are differences between the
// medians of a turn and of the direct turn in the same round.
type Latency struct {
	Contender   string   `json:"contender"`
	Bytes       int      `json:"bytes"`
	Requests    int      `json:"requests"`
	P50US       float64  `json:"p50_us"`
	P99US       float64  `json:"p99_us"`
	AddedUS     float64  `json:"added_us"`      // median over the rounds
	AddedLowUS  float64  `json:"added_low_us"`  // first quartile over the rounds
	AddedHighUS float64  `json:"added_high_us"` // third quartile over the rounds
	CPUUS       *float64 `json:"cpu_us"`        // of the contender, per request; null: not measured
	VsNginx     *float64 `json:"vs_nginx"`      // AddedUS relative to nginx's; null: not measured
}

// Stream is one contender with the paced stream: the age of an event when it arrives.
type Stream struct {
	Contender  string   `json:"contender"`
	Events     int      `json:"events"`
	P50US      float64  `json:"p50_us"`
	P99US      float64  `json:"p99_us"`
	AddedP50US float64  `json:"added_p50_us"` // median over the rounds of the difference to direct
	AddedP99US float64  `json:"added_p99_us"` // difference of the two p99
	VsNginx    *float64 `json:"vs_nginx"`     // AddedP50US relative to nginx's; null: not measured
}

// Flood is one contender with a stream without pauses.
type Flood struct {
	Contender string   `json:"contender"`
	Events    int      `json:"events"`
	PerSecond float64  `json:"per_second"` // median over the rounds
	VsNginx   *float64 `json:"vs_nginx"`   // PerSecond relative to nginx's; null: not measured
}

// Throughput is one contender with one body size over several connections.
type Throughput struct {
	Contender string   `json:"contender"`
	Bytes     int      `json:"bytes"`
	Conns     int      `json:"conns"`
	Requests  int      `json:"requests"`
	PerSecond float64  `json:"per_second"` // median over the rounds
	CPUUS     *float64 `json:"cpu_us"`     // of the contender, per request; null: not measured
	VsNginx   *float64 `json:"vs_nginx"`   // PerSecond relative to nginx's; null: not measured
}

// Footprint is one contender's start and memory.
type Footprint struct {
	Contender string   `json:"contender"`
	Starts    int      `json:"starts"`
	ReadyMS   float64  `json:"ready_ms"`  // start of the process to the first 200, median
	IdleMB    *float64 `json:"idle_mb"`   // RSS after start, median; null: not measured
	LoadedMB  *float64 `json:"loaded_mb"` // RSS after all the load
	BurstMB   *float64 `json:"burst_mb"`  // RSS ten seconds after a burst of large bodies
	Streams   int      `json:"streams"`
	StreamKB  *float64 `json:"stream_kb"` // RSS per idle stream
}

// Leaving is one contender in one phase of a request in which clients leave: the time to the end of the upstream's
// connection.
type Leaving struct {
	Contender string   `json:"contender"`
	Phase     string   `json:"phase"` // "waiting" for the answer, or "streaming"
	Tries     int      `json:"tries"`
	Unnoticed int      `json:"unnoticed"` // tries in which the connection outlived the patience of the measurement
	P50MS     *float64 `json:"p50_ms"`    // of the others; null: there is none
	P99MS     *float64 `json:"p99_ms"`
}

// Report is the result of Run. Times are comparable within one report only.
type Report struct {
	Machine    report.Machine `json:"machine"`
	Subject    string         `json:"subject"` // the contender the goals are about
	Latency    []Latency      `json:"latency"`
	Stream     []Stream       `json:"stream"`
	Flood      []Flood        `json:"flood"`
	Throughput []Throughput   `json:"throughput"`
	Leaving    []Leaving      `json:"leaving"`
	Footprint  []Footprint    `json:"footprint"`
	Against    []Comparison   `json:"against,omitempty"`
	Goals      []report.Goal  `json:"goals"`
	Skipped    []string       `json:"skipped"` // what was left out, and why
}

// The limits of the goals.
const (
	maxAddedVsNginx = 1.8 // ×
	maxChunkAddedUS = 40.0
	maxStreamKB     = 40.0
	maxReadyMS      = 100.0
	maxIdleMB       = 60.0
	maxBurstMB      = 100.0
	maxLeavingMS    = 50.0
)

// settle fills in what follows from the measured rows: ratios and goals.
func (r *Report) settle() {
	latency, chunk, rate := r.nginxFigures()
	for i := range r.Latency {
		if row := &r.Latency[i]; row.Contender != DirectName {
			row.VsNginx = report.Ratio(row.AddedUS, latency[row.Bytes])
		}
	}
	for i := range r.Stream {
		if row := &r.Stream[i]; row.Contender != DirectName {
			row.VsNginx = report.Ratio(row.AddedP50US, chunk)
		}
	}
	r.settleFlood()
	for i := range r.Throughput {
		row := &r.Throughput[i]
		row.VsNginx = report.Ratio(row.PerSecond, rate[row.Bytes])
	}
	r.Goals = r.subjectGoals()
}

func (r *Report) settleFlood() {
	events := 0.0
	for _, row := range r.Flood {
		if row.Contender == NginxName {
			events = row.PerSecond
		}
	}
	for i := range r.Flood {
		r.Flood[i].VsNginx = report.Ratio(r.Flood[i].PerSecond, events)
	}
}

// nginxFigures returns nginx's added latency and throughput by body size and what it adds to a chunk; 0 where it did
// not take part.
func (r *Report) nginxFigures() (latency map[int]float64, chunk float64, rate map[int]float64) {
	latency, rate = map[int]float64{}, map[int]float64{}
	for _, row := range r.Latency {
		if row.Contender == NginxName {
			latency[row.Bytes] = row.AddedUS
		}
	}
	for _, row := range r.Stream {
		if row.Contender == NginxName {
			chunk = row.AddedP50US
		}
	}
	for _, row := range r.Throughput {
		if row.Contender == NginxName {
			rate[row.Bytes] = row.PerSecond
		}
	}
	return latency, chunk, rate
}

func (r *Report) subjectGoals() []report.Goal {
	var goals []report.Goal
	for _, row := range r.Latency {
		if row.Contender == r.Subject {
			name := "added latency against nginx, " + sizeName(row.Bytes)
			goals = append(goals, report.Goal{Name: name, Unit: "×", Value: row.VsNginx, Limit: maxAddedVsNginx})
		}
	}
	for _, row := range r.Stream {
		if row.Contender == r.Subject {
			goals = append(goals, report.Goal{Name: "time added to a streamed chunk, p50", Unit: "µs",
				Value: &row.AddedP50US, Limit: maxChunkAddedUS})
		}
	}
	for _, row := range r.Leaving {
		if row.Contender == r.Subject {
			unnoticed := float64(row.Unnoticed)
			goals = append(goals,
				report.Goal{Name: "client gone to upstream closed, p99, " + row.Phase, Unit: "ms", Value: row.P99MS, Limit: maxLeavingMS},
				report.Goal{Name: "clients gone and unnoticed, " + row.Phase, Unit: "tries", Value: &unnoticed})
		}
	}
	for _, row := range r.Footprint {
		if row.Contender == r.Subject {
			goals = append(goals,
				report.Goal{Name: "memory per idle stream", Unit: "KB", Value: row.StreamKB, Limit: maxStreamKB},
				report.Goal{Name: "start to ready", Unit: "ms", Value: &row.ReadyMS, Limit: maxReadyMS},
				report.Goal{Name: "idle memory", Unit: "MB", Value: row.IdleMB, Limit: maxIdleMB},
				report.Goal{Name: "memory after a burst", Unit: "MB", Value: row.BurstMB, Limit: maxBurstMB})
		}
	}
	return goals
}

// Missed lists the goals that were measured and missed. What was not measured stands in Goals with no value.
func (r *Report) Missed() []string { return report.MissedGoals(r.Goals) }

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	t.Section("Latency, one request at a time (µs)",
		"body\tcontender\tp50\tp99\tadded p50\tquartiles\tvs nginx\tCPU/request")
	for _, x := range r.Latency {
		t.Row("%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f–%.0f\t%s\t%s", sizeName(x.Bytes), x.Contender, x.P50US, x.P99US,
			x.AddedUS, x.AddedLowUS, x.AddedHighUS, report.Optional(x.VsNginx, "%.2f×"),
			report.Optional(x.CPUUS, "%.0f"))
	}
	t.Section("Paced stream, an event each 10–20 ms (µs)",
		"contender\tevents\tp50\tp99\tadded p50\tadded p99\tvs nginx")
	for _, x := range r.Stream {
		t.Row("%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%s", x.Contender, x.Events, x.P50US, x.P99US, x.AddedP50US, x.AddedP99US,
			report.Optional(x.VsNginx, "%.2f×"))
	}
	t.Section("Stream without pauses", "contender\tevents\tevents/s\tvs nginx")
	for _, x := range r.Flood {
		t.Row("%s\t%d\t%.0f\t%s", x.Contender, x.Events, x.PerSecond, report.Optional(x.VsNginx, "%.2f×"))
	}
	t.Section("Throughput", "body\tcontender\tconnections\trequests/s\tvs nginx\tCPU/request (µs)")
	for _, x := range r.Throughput {
		t.Row("%s\t%s\t%d\t%.0f\t%s\t%s", sizeName(x.Bytes), x.Contender, x.Conns, x.PerSecond,
			report.Optional(x.VsNginx, "%.2f×"), report.Optional(x.CPUUS, "%.0f"))
	}
	t.Section("Client gone → upstream closed (ms)", "phase\tcontender\ttries\tunnoticed\tp50\tp99")
	for _, x := range r.Leaving {
		t.Row("%s\t%s\t%d\t%d\t%s\t%s", x.Phase, x.Contender, x.Tries, x.Unnoticed,
			report.Optional(x.P50MS, "%.1f"), report.Optional(x.P99MS, "%.1f"))
	}
	t.Section("Start and memory (RSS)",
		"contender\tready (ms)\tidle (MB)\tafter load (MB)\tafter a burst (MB)\tidle streams\tper stream (KB)")
	for _, x := range r.Footprint {
		t.Row("%s\t%.0f\t%s\t%s\t%s\t%d\t%s", x.Contender, x.ReadyMS, report.Optional(x.IdleMB, "%.1f"),
			report.Optional(x.LoadedMB, "%.1f"), report.Optional(x.BurstMB, "%.1f"), x.Streams, report.Optional(x.StreamKB, "%.1f"))
	}
	r.printComparisons(t)
	t.Conclude(r.Subject, r.Goals, r.Skipped)
	return t.Flush()
}

func sizeName(bytes int) string {
	if bytes%1024 == 0 {
		return strconv.Itoa(bytes/1024) + " KB"
	}
	return strconv.Itoa(bytes) + " B"
}
