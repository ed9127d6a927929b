package burst

import (
	"io"

	"epitome/bench/report"
)

// Row is one contender. Memory is resident memory.
type Row struct {
	Contender  string  `json:"contender"`
	Bodies     int     `json:"bodies"`
	AtOnce     int     `json:"at_once"`
	Refused    int     `json:"refused"` // for want of room
	Seconds    float64 `json:"seconds"`
	InFlightMB float64 `json:"in_flight_mb"` // bytes of bodies under way at once, at most
	IdleMB     float64 `json:"idle_mb"`
	PeakMB     float64 `json:"peak_mb"`
	AfterMB    float64 `json:"after_mb"`
}

// Report is the result of Run.
type Report struct {
	Machine report.Machine `json:"machine"`
	Subject string         `json:"subject"` // the contender the goals are about
	Rows    []Row          `json:"rows"`
	Goals   []report.Goal  `json:"goals"`
	Skipped []string       `json:"skipped"` // what was left out, and why
}

// The limits of the goals.
const (
	maxIdleMB = 40.0
	maxPeak   = 4.0 // × the bytes in flight, beyond what is taken when idle
	maxKeptMB = 100.0
)

// settle makes the goals of the subject's row.
func (r *Report) settle() {
	r.Goals = nil
	for _, row := range r.Rows {
		if row.Contender != r.Subject {
			continue
		}
		peak, kept := row.Peak(), row.AfterMB-row.IdleMB
		r.Goals = append(r.Goals,
			report.Goal{Name: "idle memory", Unit: "MB", Value: &row.IdleMB, Limit: maxIdleMB},
			report.Goal{Name: "peak beyond idle against bytes in flight", Unit: "×", Value: &peak, Limit: maxPeak},
			report.Goal{Name: "kept after the rest, beyond idle", Unit: "MB", Value: &kept, Limit: maxKeptMB})
	}
}

// Peak is the most memory that was taken, beyond that of an idle process, for each byte in flight.
func (r Row) Peak() float64 { return (r.PeakMB - r.IdleMB) / r.InFlightMB }

// Missed lists the goals that were missed.
func (r *Report) Missed() []string { return report.MissedGoals(r.Goals) }

// Print writes the report as a table.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	t.Section("Memory around a burst of large bodies (RSS, MB)",
		"contender\tbodies\trefused\tseconds\tin flight\tidle\tpeak\tpeak/in flight\tafter")
	for _, x := range r.Rows {
		t.Row("%s\t%d\t%d\t%.1f\t%.0f\t%.1f\t%.0f\t%.1f×\t%.0f", x.Contender, x.Bodies, x.Refused, x.Seconds,
			x.InFlightMB, x.IdleMB, x.PeakMB, x.Peak(), x.AfterMB)
	}
	t.Conclude(r.Subject, r.Goals, r.Skipped)
	return t.Flush()
}
