package daemon

import (
	"net/url"
	"time"

	"epitome/config"
	"epitome/event"
	"epitome/inject"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/tokenize"
	"epitome/window"
)

const (
	memoEntries   = 1 << 17  // counts of texts, some 9 MB: those of a hundred long conversations
	overlayMemory = 16 << 20 // bytes for decisions that only an overlay knows
)

// Deps returns the parts that every shaper has, over a store and a shelf.
func Deps(s store.Store, artifacts *offload.Shelf, windows *window.Windows, keep time.Duration) rewrite.Deps {
	return rewrite.Deps{
		Ledger: ledger.New(s, keep), Shelf: artifacts, Keep: keep,
		Memo: tokenize.NewMemo(memoEntries),
		Window: func(upstream, model string, maxOutput int) (tokens, usable int) {
			w := windows.Of(upstream, model)
			return w.Tokens, window.Usable(w.Tokens, maxOutput)
		},
	}
}

// TrialDeps returns the parts of a shaper that knows no conversation yet. It asks no model, and keeps in memory what it
// decides. home is the data folder, which has the context files.
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
	d.CachedPrice = event.NewBiller(Prices(conf)).CachedPrice
	d.Inject = &inject.Injector{Files: conf.ContextFiles(home), Shelf: shelf}
	return d, nil
}

// overlay returns d with a ledger that has the decisions of d and writes none there. No model is asked for a summary,
// and no context files are added.
func overlay(d rewrite.Deps) rewrite.Deps {
	d.Ledger = d.Ledger.Overlay(store.NewMemory(overlayMemory))
	d.Summarizer, d.Inject = nil, nil
	return d
}

// unwritten is a shelf that names artifacts and keeps none.
type unwritten struct{ rewrite.Shelf }

func (unwritten) Put(string, []byte, bool) error { return nil }

func (unwritten) Touch(string) bool { return true }

// Prices returns by which prices a configuration charges.
func Prices(conf config.Config) event.Prices {
	s := event.Prices{Own: conf.Prices, Sellers: map[string]event.Seller{}, Life: conf.Rewrite.CacheLife.D()}
	for name, u := range conf.Upstreams {
		s.Sellers[name] = event.Seller{URL: u.URL, Billing: u.Billing}
	}
	return s
}

// probedOf returns the upstreams that may be asked how much their models hold, and whether they are the user's own. All
// others but OpenRouter want a key for that; a client's own is not used for a request that the client has not made.
func probedOf(conf config.Config) map[string]bool {
	servers := map[string]bool{}
	if !conf.Window.Probe {
		return servers
	}
	for name, u := range conf.Upstreams {
		at, err := url.Parse(u.URL)
		own := config.IsLocal(u.URL)
		hasKey := u.Headers["Authorization"]+u.Headers["authorization"] != ""
		if own || hasKey || err == nil && at.Hostname() == "openrouter.ai" {
			servers[name] = own
		}
	}
	return servers
}
