package cancel

import (
	"fmt"
	"io"

	"epitome/bench/report"
)

// maxCancelMS is the goal, in milliseconds: client gone to upstream closed, p99, in every phase.
const maxCancelMS = 50.0

// Row is one contender in one phase with one way of leaving.
type Row struct {
	Contender string   `json:"contender"`
	Phase     Phase    `json:"phase"`
	Leave     string   `json:"leave"` // FIN or RST
	Tries     int      `json:"tries"`
	Unnoticed int      `json:"unnoticed"` // tries in which the upstream noticed nothing in time
	P50MS     *float64 `json:"p50_ms"`    // of all noticed tries; null: none was noticed
	P99MS     *float64 `json:"p99_ms"`    // median over the rounds
	MaxMS     *float64 `json:"max_ms"`
}

// Report is the result of Run.
type Report struct {
	Machine report.Machine `json:"machine"`
	Subject string         `json:"subject"` // the contender the goals are about
	Rows    []Row          `json:"rows"`
	Goals   []report.Goal  `json:"goals"`
	Skipped []string       `json:"skipped"` // what was left out, and why
}

// settle makes two goals of each of the subject's rows: every client's leaving is noticed, and soon.
func (r *Report) settle() {
	r.Goals = nil
	for _, row := range r.Rows {
		if row.Contender != r.Subject {
			continue
		}
		unnoticed := float64(row.Unnoticed)
		name := fmt.Sprintf("%s, %s", row.Phase, row.Leave)
		r.Goals = append(r.Goals,
			report.Goal{Name: name + ", p99", Unit: "ms", Value: row.P99MS, Limit: maxCancelMS},
			report.Goal{Name: name + ", unnoticed", Unit: "tries", Value: &unnoticed, Limit: 0})
	}
}

// Missed lists the goals that were measured and missed.
func (r *Report) Missed() []string { return report.MissedGoals(r.Goals) }

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	t.Section("Client gone → upstream closed (ms)", "phase\tleft by\tcontender\ttries\tunnoticed\tp50\tp99\tmax")
	for _, x := range r.Rows {
		t.Row("%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s", x.Phase, x.Leave, x.Contender, x.Tries, x.Unnoticed,
			report.Optional(x.P50MS, "%.2f"), report.Optional(x.P99MS, "%.2f"), report.Optional(x.MaxMS, "%.2f"))
	}
	t.Conclude(r.Subject, r.Goals, r.Skipped)
	return t.Flush()
}
