package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"epitome/config"
	"epitome/event"
	"epitome/event/money"
	"epitome/inject"
	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// shapers shape conversations over one storage: for the proxy, and for mode observe.
type shapers struct {
	storage    *storage
	windows    *window.Windows
	prices     atomic.Pointer[money.Biller]
	ratios     *tokenize.Ratios
	summarizer *summarize.Summarizer
	conf       atomic.Pointer[config.Config]
	memory     *inject.Memory // what sessions have taught
	deps       rewrite.Deps   // of live, but that asks no server for windows
	live       *rewrite.Shaper
	observer   *rewrite.Shaper // has the decisions of live, and records its own nowhere
	observed   *ledger.Ledger  // the decisions that observer has
}

const summariesWait = 5 * time.Second // for summaries to end that are being made

// newShapers returns shapers over the storage, which they close with them. events gets compactions and summaries.
func newShapers(conf config.Config, s *storage, upstreams *proxy.Upstreams, events event.Sink) *shapers {
	k := &shapers{storage: s}
	keep := conf.Store.Keep.D()
	k.windows = window.New(conf.Window, s.store, time.Now)
	k.windows.Configure(conf.Window, probedOf(conf))
	k.ratios = tokenize.NewRatios(s.store, tokenize.NewModels())
	k.prices.Store(Biller(conf))
	k.memory = inject.NewMemory(s.store, conf.Memory, keep, time.Now)

	d := Deps(s.store, s.shelf, k.windows, keep)
	k.conf.Store(&conf)
	k.summarizer = k.newSummarizer(conf, d.Counters, upstreams.Send, events)
	d.Passing, d.Ratio, d.Address = s.passing, k.ratios.Of, conf.Offload.Address
	d.Summarizer, d.Tell = k.summarizer, events
	d.Inject = &inject.Injector{Files: s.kept, Shelf: s.shelf, Memory: k.memory}
	d.CachedPrice = func(upstream, model string) (float64, bool) {
		return k.prices.Load().CachedPrice(upstream, model, time.Now())
	}
	k.deps = d
	live := d
	live.Window = func(upstream, model string, maxOutput int) (tokens, usable int) {
		k.windows.Probe(upstream, model, upstreams.Get, s.log)
		return d.Window(upstream, model, maxOutput)
	}
	k.live = rewrite.NewShaper(live)

	o := overlay(d)
	o.Shelf = unwritten{d.Shelf}
	k.observed, k.observer = o.Ledger, rewrite.NewShaper(o)
	return k
}

// configure puts another configuration in force, but for what is fixed at start.
func (k *shapers) configure(conf config.Config) {
	k.windows.Configure(conf.Window, probedOf(conf))
	k.prices.Store(Biller(conf))
	k.memory.Configure(conf.Memory)
	k.conf.Store(&conf)
	k.summarizer.Configure(conf.Summarize)
}

// notes is the memory; nil while it is off.
func (k *shapers) notes() *inject.Memory {
	if !k.memory.On() {
		return nil
	}
	return k.memory
}

// plug adds to p what becomes of conversations. Scopes are named by hashes that are keyed with the shelf's secret.
func (k *shapers) plug(p proxy.Deps) proxy.Deps {
	p.Shaper, p.Shadow = k.live, k.observer
	p.Lessons, p.Ratios = k.windows, k.ratios
	p.Keeps = k.storage.kept.Knows
	p.Scope = func(kind, value string) string { return k.storage.shelf.NameOf("scope "+kind, value) }
	return p
}

// close ends what runs before it closes the storage: jobs may still put into it what was paid for, and tell it.
func (k *shapers) close() {
	k.windows.Close()
	ctx, cancel := context.WithTimeout(context.Background(), summariesWait)
	defer cancel()
	if err := k.summarizer.Close(ctx); err != nil {
		k.storage.log.Warn("a summary does not end", "error", err.Error())
	}
	k.storage.close()
}

// memoEntries bounds the memory for counts of texts to some 17 MB: the texts of a few hundred long conversations.
const memoEntries = 1 << 18

// Deps are what shaping needs, over a store and a shelf.
func Deps(
	s store.Store, artifacts *offload.Shelf, windows *window.Windows, keep time.Duration,
) rewrite.Deps {
	return rewrite.Deps{
		Ledger: ledger.New(s, keep), Shelf: artifacts, Keep: keep,
		Counters: &tokenize.Counters{}, Models: tokenize.NewModels(), Memo: tokenize.NewMemo(memoEntries),
		Window: func(upstream, model string, maxOutput int) (tokens, usable int) {
			w := windows.Of(upstream, model)
			return w.Tokens, window.Usable(w.Tokens, maxOutput)
		},
	}
}
