package figures

import (
	"slices"

	"epitome/bench/report"
)

// ReadBack is what it costs to read back what requests lack and artifacts hold, each time that an answer needs it.
type ReadBack struct {
	Reads      int      `json:"reads"`         // calls of the tool
	ReadsEach  *float64 `json:"reads_per_100"` // of those, in a hundred requests
	ReadTokens int      `json:"read_tokens"`   // that they brought into the conversations
	CostRead   *float64 `json:"cost_read"`     // the cost with all of that, relative to sending everything
}

// printReadBack writes what reading back takes beside what is saved, all windows in one table. A policy whose requests
// lead to no artifact has nothing to read.
func printReadBack(t report.Table, rows []Row) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(x Row) bool { return x.Reads == 0 || x.Cost == nil })
	for i, x := range rows {
		if i == 0 {
			t.Section("Reading back all that is needed and was taken out, each time",
				"window\tpolicy\treads\tper 100 requests\ttokens each\tcost\tcost with reading\tsaved %\tsaved with reading %")
		}
		t.Row("%d\t%s\t%d\t%s\t%.0f\t%.3f\t%.3f\t%.1f\t%.1f", x.Window, x.Policy, x.Reads,
			report.Optional(x.ReadsEach, "%.1f"),
			float64(x.ReadTokens)/float64(x.Reads), *x.Cost, *x.CostRead, 100*(1-*x.Cost), 100*(1-*x.CostRead))
	}
}
