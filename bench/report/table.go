package report

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
)

// Machine is where a report was made.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// ThisMachine returns the machine that this program runs on.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
}

// Table lays out a report as text.
type Table struct{ tw *tabwriter.Writer }

// NewTable begins a report with the machine it was made on. Flush writes it to w.
func NewTable(w io.Writer, m Machine) Table {
	t := Table{tw: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.Row("%s/%s, %d CPUs, %s", m.OS, m.Arch, m.CPUs, m.Go)
	return t
}

// Section begins a table. columns are separated by tabs.
func (t Table) Section(title, columns string) { t.Row("\n%s\n%s", title, columns) }

// Row adds a row of the table, or a line that belongs to no column.
func (t Table) Row(format string, args ...any) { fmt.Fprintf(t.tw, format+"\n", args...) }

// Conclude writes the goals and what was left out.
func (t Table) Conclude(subject string, goals []Goal, skipped []string) {
	t.Section("Goals of "+subject, "figure\tvalue\tgoal\tverdict")
	for _, g := range goals {
		t.Row("%s", g)
	}
	for _, why := range skipped {
		t.Row("SKIPPED %s", why)
	}
}

// Flush aligns and writes everything; writing to a tabwriter's buffer cannot fail before.
func (t Table) Flush() error {
	if err := t.tw.Flush(); err != nil {
		return fmt.Errorf("cannot write report: %w", err)
	}
	return nil
}

// Optional returns a figure as text, and a dash where it was not measured.
func Optional(v *float64, format string) string {
	if v == nil {
		return "—"
	}
	return fmt.Sprintf(format, *v)
}
