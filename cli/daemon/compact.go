package daemon

import (
	"fmt"
	"net/http"

	"epitome/console"
	"epitome/rewrite"
	"epitome/store"
)

// compact is what /-/compact does: the conversation is shaped as the proxy would shape it for the same headers, and
// compacted whatever the lines say. It is read in the dialect that the query names, or else the body shows.
func (d *Daemon) compact(r *http.Request, body []byte) (console.Compacted, error) {
	h := r.Header.Clone()
	h.Del(console.OwnerHeader) // it asks nothing of the ladder
	query := r.URL.Query()
	dialect, _, err := DialectOf(query.Get("dialect"), body)
	if err != nil {
		return console.Compacted{}, err
	}
	asked, err := d.proxy.InputOf(dialect, h, query.Get("upstream"), body)
	if err != nil {
		return console.Compacted{}, err
	}
	asked.Compact = true
	s := d.shapers.byHand().Shape(asked)
	if s.Report.Items == 0 && s.Report.Err == nil {
		return console.Compacted{}, fmt.Errorf("cannot compact the body: %s; send a request of %s", s.Report.Reason, titles)
	}
	return console.Compacted{
		Body: s.Body, Action: s.Report.Action, Before: s.Report.TokensBefore.Total(),
		After:  s.Report.TokensAfter.Total(),
		Reason: s.Report.Reason, Failed: s.Report.Err,
	}, nil
}

// handled are means for one conversation that is compacted by hand, and then goes its own way. It is decided on as
// what is live has it, and nothing of that becomes live. But what its text names is on the live shelf: whoever gets
// the text may ask for it. Nobody is asked for a summary, nor told.
func handled(m rewrite.Deps) rewrite.Deps {
	m.Ledger = m.Ledger.Overlay(store.NewMemory(shadowMemory))
	m.Summarizer, m.Tell = looking(m.Summarizer), nil
	return m
}
