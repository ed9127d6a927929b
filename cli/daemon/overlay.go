package daemon

import (
	"fmt"
	"net/http"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/inject"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
	"epitome/window"
)

const overlayMemory = 16 << 20 // bytes for decisions that only an overlay knows

// overlay returns d with a ledger that has the decisions of d and writes none there. No model is asked for a summary,
// nobody is told, and no context files are added.
func overlay(d rewrite.Deps) rewrite.Deps {
	d.Ledger = d.Ledger.Overlay(store.NewMemory(overlayMemory))
	d.Summarizer, d.Tell, d.Inject = nil, nil, nil
	return d
}

// unwritten is a shelf that names artifacts and keeps none.
type unwritten struct{ rewrite.Shelf }

func (unwritten) Put(string, []byte, bool) error { return nil }

func (unwritten) Touch(string) bool { return true }

// TrialDeps returns the means to shape conversations of which nothing is known. They ask no model, and keep in memory
// what they decide. home is the data folder, which has the context files.
func TrialDeps(conf config.Config, home string, windows *window.Windows) (rewrite.Deps, error) {
	o, err := shelfOptions(conf, conf.Listen, nil)
	if err != nil {
		return rewrite.Deps{}, err
	}
	shelf, err := offload.OpenMemory(o)
	if err != nil {
		return rewrite.Deps{}, err
	}
	d := Deps(store.NewMemory(passingMemory), shelf, windows, conf.Store.Keep.D())
	d.Address = conf.Offload.Address
	prices := Biller(conf)
	d.CachedPrice = func(upstream, model string) (float64, bool) {
		return prices.CachedPrice(upstream, model, time.Now())
	}
	d.Inject = &inject.Injector{Files: config.Contexts(home), Shelf: shelf}
	return d, nil
}

// compact answers POST /-/compact: it compacts the conversation in the body as the proxy would for the same headers,
// whatever its size. It decides by what was decided for the conversation, and records nothing, because the result is a
// conversation of its own. Artifacts are kept, as the client may ask for them.
func (d *Daemon) compact(r *http.Request, body []byte) (rewrite.Output, error) {
	h := r.Header.Clone()
	h.Del(console.OwnerHeader) // it is no setting
	query := r.URL.Query()
	dialect, err := DialectOf(query.Get("dialect"), body)
	if err != nil {
		return rewrite.Output{}, err
	}
	asked, err := d.proxy.InputOf(dialect, h, query.Get("upstream"), body)
	if err != nil {
		return rewrite.Output{}, err
	}
	asked.Compact = true
	s := rewrite.NewShaper(overlay(d.shapers.deps)).Shape(asked)
	if s.Report.Items == 0 && s.Report.Err == nil {
		return rewrite.Output{}, fmt.Errorf("cannot compact the body: %s; send a request of %s", s.Report.Reason, titles)
	}
	return s, nil
}
