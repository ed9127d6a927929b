package load

import (
	"epitome/bench/report"
)

// Comparison is one figure of the subject beside that of another contender.
type Comparison struct {
	Figure    string   `json:"figure"` // with the size of the bodies, where there are several
	Unit      string   `json:"unit"`
	Contender string   `json:"contender"` // the other one
	Subject   float64  `json:"subject"`   // the subject's figure
	Other     float64  `json:"other"`     // the other contender's
	Ratio     *float64 `json:"ratio"`     // Subject relative to Other; null: Other is 0 or less
}

// figure is what one contender got in one part of a run.
type figure struct {
	name, unit string
	value      float64
}

// compare puts each figure of the subject beside those of the contenders named others.
func (r *Report) compare(others []string) {
	measuredOf := map[string]map[string]float64{} // contender to name of a figure to value
	for _, other := range others {
		measuredOf[other] = map[string]float64{}
		for _, f := range r.figures(other) {
			measuredOf[other][f.name] = f.value
		}
	}
	for _, own := range r.figures(r.Subject) {
		for _, other := range others {
			if value, found := measuredOf[other][own.name]; found {
				r.Against = append(r.Against, Comparison{Figure: own.name, Unit: own.unit, Contender: other,
					Subject: own.value, Other: value, Ratio: report.Ratio(own.value, value)})
			}
		}
	}
}

// figures lists what contender got, in the order of the report.
func (r *Report) figures(contender string) []figure {
	var all []figure
	add := func(name, unit string, value *float64) {
		if value != nil {
			all = append(all, figure{name, unit, *value})
		}
	}
	for _, row := range r.Latency {
		if row.Contender == contender {
			add("latency, "+sizeName(row.Bytes), "µs", &row.P50US)
			add("added latency, "+sizeName(row.Bytes), "µs", &row.AddedUS)
			add("CPU per request, "+sizeName(row.Bytes), "µs", row.CPUUS)
		}
	}
	for _, row := range r.Stream {
		if row.Contender == contender {
			add("age of a chunk", "µs", &row.P50US)
		}
	}
	for _, row := range r.Flood {
		if row.Contender == contender {
			add("stream without pauses", "events/s", &row.PerSecond)
		}
	}
	for _, row := range r.Throughput {
		if row.Contender == contender {
			add("throughput, "+sizeName(row.Bytes), "requests/s", &row.PerSecond)
			add("CPU per request of many, "+sizeName(row.Bytes), "µs", row.CPUUS)
		}
	}
	for _, row := range r.Leaving {
		if row.Contender == contender {
			add("client gone to upstream closed, "+row.Phase, "ms", row.P99MS)
		}
	}
	for _, row := range r.Footprint {
		if row.Contender == contender {
			add("start to ready", "ms", &row.ReadyMS)
			add("idle memory", "MB", row.IdleMB)
			add("memory after load", "MB", row.LoadedMB)
			add("memory after a burst", "MB", row.BurstMB)
			add("memory per idle stream", "KB", row.StreamKB)
		}
	}
	return all
}

// printComparisons adds the table of comparisons to t, if there are any.
func (r *Report) printComparisons(t report.Table) {
	if len(r.Against) == 0 {
		return
	}
	t.Section("Against other programs", "figure\tunit\t"+r.Subject+"\tagainst\tits figure\tratio")
	for _, c := range r.Against {
		t.Row("%s\t%s\t%.1f\t%s\t%.1f\t%s", c.Figure, c.Unit, c.Subject, c.Contender, c.Other,
			report.Optional(c.Ratio, "%.3f×"))
	}
}
