package team

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"epitome/bench/report"
)

// Compared is one figure with a shared store and with one of its own, in µs, medians.
type Compared struct {
	Shared  float64 `json:"shared_us"`
	Own     float64 `json:"own_us"`
	Added   float64 `json:"added_us"` // the median of differences of the same turn
	Samples int     `json:"samples"`
}

// Throughput is what so many epitomes take over one store.
type Throughput struct {
	Epitomes  int      `json:"epitomes"`
	PerSecond float64  `json:"per_second"`
	StoreCore *float64 `json:"store_core"` // percent of one core that the store takes; null: not read

	answered    int64
	took, store time.Duration
}

// Freeze is one time in which the store stands still.
type Freeze struct {
	TimeoutMS  float64 `json:"timeout_ms"`
	FirstMS    float64 `json:"first_ms"`    // how much longer the first turn takes that waits
	MoreWaited int     `json:"more_waited"` // turns that wait for it as well
	ThenUS     float64 `json:"then_us"`     // how much longer the others take
	BackMS     float64 `json:"back_ms"`     // from when it goes on until it is used again
}

// Report is the result of Run.
type Report struct {
	Machine    report.Machine `json:"machine"`
	TripUS     float64        `json:"trip_us"` // a question to the store through the relay, with its answer
	TakeOver   Compared       `json:"take_over"`
	Questions  float64        `json:"questions"` // to the store, for a conversation that is taken over
	Warm       Compared       `json:"warm"`
	CPU        *Compared      `json:"cpu"` // of a turn; null: not read
	Throughput []Throughput   `json:"throughput"`
	Freezes    []Freeze       `json:"freezes"`
	Goals      []report.Goal  `json:"goals"`
	Skipped    []string       `json:"skipped"`
}

// The limits of the goals.
const (
	maxTrips     = 4.5  // × the store's distance, for a conversation that is taken over
	maxCPU       = 1.3  // × that with a store of its own
	maxStoreCore = 50.0 // percent
	maxThenUS    = 1000.0
	maxBackMS    = 2000.0
	fewestCPUs   = 6 // below which epitomes, store, agents and upstream take each other's processors
)

// settle makes the goals.
func (r *Report) settle() {
	trips := r.TakeOver.Added / r.TripUS
	r.Goals = []report.Goal{{Name: "a conversation is taken over, added, against the store's distance", Unit: "×",
		Value: &trips, Limit: maxTrips}}
	cpu := report.Goal{Name: "CPU of a turn against a store of its own", Unit: "×", Limit: maxCPU}
	if r.CPU != nil {
		cpu.Value = report.Ratio(r.CPU.Shared, r.CPU.Own)
	}
	r.Goals = append(r.Goals, cpu)
	if n := len(r.Throughput); n > 0 {
		last := r.Throughput[n-1]
		r.Goals = append(r.Goals, report.Goal{Name: fmt.Sprintf("the store's CPU with %d epitomes", last.Epitomes), Unit: "%",
			Value: last.StoreCore, Limit: maxStoreCore})
	}
	if r.Machine.CPUs < fewestCPUs {
		r.Skipped = append(r.Skipped, fmt.Sprintf("whether two and four epitomes take 1.8 and 3.2 times what one takes: "+
			"%d processors are not enough to tell", r.Machine.CPUs))
	}
	r.settleFreezes()
}

// settleFreezes judges the worst of them; of turns that do not wait, the one in the middle.
func (r *Report) settleFreezes() {
	if len(r.Freezes) == 0 {
		return
	}
	worst := func(figure func(Freeze) float64) *float64 {
		x := figure(slices.MaxFunc(r.Freezes, func(a, b Freeze) int { return cmp.Compare(figure(a), figure(b)) }))
		return &x
	}
	var then []float64
	for _, f := range r.Freezes {
		then = append(then, f.ThenUS)
	}
	usual := report.Median(then)
	r.Goals = append(r.Goals,
		report.Goal{Name: "the store stands still: the turn that waits", Unit: "ms", Limit: 2 * r.Freezes[0].TimeoutMS,
			Value: worst(func(f Freeze) float64 { return f.FirstMS })},
		report.Goal{Name: "the store stands still: turns that wait as well", Unit: "turns", Limit: 0,
			Value: worst(func(f Freeze) float64 { return float64(f.MoreWaited) })},
		report.Goal{Name: "the store stands still: a turn that does not wait, added", Unit: "µs", Limit: maxThenUS,
			Value: &usual},
		report.Goal{Name: "the store goes on: it is used again after", Unit: "ms", Limit: maxBackMS,
			Value: worst(func(f Freeze) float64 { return f.BackMS })})
}

// Missed lists the goals that were missed.
func (r *Report) Missed() []string { return report.MissedGoals(r.Goals) }

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	t.Section("One turn, with a shared store and with one of its own (µs, medians)",
		"what\tshared\tits own\tadded\tsamples")
	t.Row("a conversation is taken over, the store %.0f µs away\t%.0f\t%.0f\t%.0f\t%d", r.TripUS, r.TakeOver.Shared,
		r.TakeOver.Own, r.TakeOver.Added, r.TakeOver.Samples)
	t.Row("  questions to the store for it\t%.1f", r.Questions)
	t.Row("the same epitome goes on, the store near\t%.0f\t%.0f\t%.0f\t%d", r.Warm.Shared, r.Warm.Own, r.Warm.Added,
		r.Warm.Samples)
	if r.CPU != nil {
		t.Row("CPU of such a turn\t%.0f\t%.0f\t%.0f\t%d", r.CPU.Shared, r.CPU.Own, r.CPU.Shared-r.CPU.Own, r.CPU.Samples)
	}
	t.Section(fmt.Sprintf("%d agents at once", agents), "epitomes\tturns a second\tthe store, % of a core")
	for _, x := range r.Throughput {
		t.Row("%d\t%.0f\t%s", x.Epitomes, x.PerSecond, report.Optional(x.StoreCore, "%.0f"))
	}
	t.Section("The store stands still", "timeout ms\tfirst turn, added ms\tmore that wait\tthen, added µs\tback after ms")
	for _, f := range r.Freezes {
		t.Row("%.0f\t%.0f\t%d\t%.0f\t%.0f", f.TimeoutMS, f.FirstMS, f.MoreWaited, f.ThenUS, f.BackMS)
	}
	t.Conclude("a shared store", r.Goals, r.Skipped)
	return t.Flush()
}
