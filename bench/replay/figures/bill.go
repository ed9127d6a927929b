package figures

import "epitome/bench/report"

// Bill is what a provider charges for one policy: its prices are in tokens that are new to it, at the price without a
// cache.
type Bill struct {
	RawTokens   int      `json:"raw_tokens"`   // as the clients sent them
	RawBilled   float64  `json:"raw_billed"`   // for sending everything
	SentBilled  float64  `json:"sent_billed"`  // for what was sent in its place
	OwnBilled   float64  `json:"own_billed"`   // for the policy's own requests to a model, answers included
	OwnRequests int      `json:"own_requests"` // in how many requests
	Saving      float64  `json:"saving"`       // of the first, what the other two leave; negative if it is dearer
	Billed      *float64 `json:"billed"`       // relative to sending everything
	Expired     int      `json:"expired"`      // requests that came when the provider's cache held nothing any more
}

// printBills writes bills, all windows in one table.
func printBills(t report.Table, rows []Row) {
	const million = 1e6
	t.Section("Bill, in M tokens at the price of one that is not cached",
		"window\tpolicy\traw\tsent\tbilled raw\tbilled sent\town requests\tbilled own\tnet saving\t%")
	for _, x := range rows {
		if x.RawBilled > 0 && x.Billed == nil { // nobody knows
			continue
		}
		t.Row("%d\t%s\t%.1f\t%.1f\t%.2f\t%.2f\t%d\t%.2f\t%.2f\t%s", x.Window, x.Policy, float64(x.RawTokens)/million,
			float64(x.Tokens)/million,
			x.RawBilled/million, x.SentBilled/million, x.OwnRequests, x.OwnBilled/million, x.Saving/million,
			report.Optional(report.Ratio(100*x.Saving, x.RawBilled), "%.1f"))
	}
}
