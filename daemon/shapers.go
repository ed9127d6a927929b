package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"epitome/config"
	"epitome/event/money"
	"epitome/offload"
	"epitome/prose"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/decision"
	"epitome/store"
	"epitome/tokenize"
	"epitome/window"
)

// shapers are the one that serves and those that are only asked, over one storage, with what they know of models and
// whom they ask for summaries.
type shapers struct {
	storage    *storage
	windows    *window.Windows
	prices     atomic.Pointer[money.Biller]
	ratios     *tokenize.Ratios
	live       *rewrite.Shaper
	shadow     *rewrite.Shaper        // sees what is live and writes nothing there
	seen       decision.Ledger        // of shadow
	byHand     func() *rewrite.Shaper // makes one for a conversation that is compacted by hand
	summariser *summariser            // of live; nobody can be asked until it has a proxy
	memories   *memories              // of what live has shaped
	prober     *window.Prober         // likewise
	relay      relay
	quiet      func() // ends what hears of jobs, once they have ended
}

const (
	shadowMemory  = 16 << 20        // bytes for decisions that are only looked at
	summariesWait = 5 * time.Second // for summaries to end that are being made
)

// newShapers makes shapers over the storage, which they close with them.
func newShapers(conf config.Config, s *storage) *shapers {
	k := &shapers{storage: s, quiet: func() {}}
	k.windows = window.New(conf.Window, s.store, time.Now)
	k.ratios = tokenize.NewRatios(s.store, tokenize.NewModels(), time.Now)
	k.prober = window.NewProber(k.windows, s.log)
	k.prober.Configure(probedOf(conf))
	keep := conf.Store.Keep.D()
	m := Deps(s.store, s.shelf, k.windows, keep)
	m.Passing, m.Ratio, m.Recall = s.passing, k.ratios.Of, recallOf(conf)
	if s.shared != nil {
		m.Ledger = s.turns
	}
	k.prices.Store(billerOf(conf))
	m.CachedPrice = func(upstream, model string) (float64, bool) {
		return k.prices.Load().CachedPrice(upstream, model, time.Now())
	}
	k.memories = newMemories(wantedOf(conf), memoryOptions{
		Store: s.store, Log: s.log, Study: k.study, Now: time.Now,
	})
	k.summariser = newSummariser(conf, k, m.Counters)
	m.Summariser = k.summariser
	beside := shadowed(m, keep)
	k.shadow, k.seen = rewrite.NewShaper(beside), beside.Ledger
	k.byHand = func() *rewrite.Shaper { return rewrite.NewShaper(handled(m, keep)) }
	live := m // a copy: the others tell nobody, and have nobody asked
	live.Tell, live.Library = &k.relay, newLibrary(s.kept, m.Shelf)
	live.Window = func(upstream, model string, maxOutput int) (tokens, usable int) {
		tokens, usable = m.Window(upstream, model, maxOutput)
		k.prober.Note(upstream, model)
		return tokens, usable
	}
	live.Memories = k.lore(conf)
	k.live = rewrite.NewShaper(live)
	return k
}

// configure puts another configuration in force, but for what is fixed at start.
func (k *shapers) configure(conf config.Config) {
	k.windows.Configure(conf.Window)
	k.prices.Store(billerOf(conf))
	k.memories.Configure(wantedOf(conf))
	k.summariser.configure(conf)
	k.prober.Configure(probedOf(conf))
}

// askThrough says by which proxy upstreams are asked from now on.
func (k *shapers) askThrough(p *proxy.Proxy) {
	k.summariser.proxy.Store(p)
	k.prober.AskThrough(probesThrough(p))
}

// lore is what conversations are told of earlier sessions, and their owner sees.
func (k *shapers) lore(conf config.Config) Lore {
	return Lore{Place: k.memories.Place, Local: k.memories.Local()}
}

// wantedOf is what the configuration wants of sessions.
func wantedOf(conf config.Config) wantedMemories {
	return wantedMemories{MemoryConfig: conf.Memory, Quiet: conf.Summarize.KeyEnv != ""}
}

// study has a model asked what a session teaches.
func (k *shapers) study(q prose.Question) (taken bool) {
	return k.summariser.Study(q)
}

// plug adds to p what becomes of conversations. Scopes are named by hashes that are keyed with the shelf's secret.
func (k *shapers) plug(p proxy.Plugs) proxy.Plugs {
	p.Shaper, p.Shadow, p.Watch = k.live, k.shadow, k.memories.Watch
	p.Lessons, p.Ratios = k.windows, k.ratios
	p.Keeps = k.storage.kept.Knows
	p.Scope = func(kind, value string) string { return k.storage.shelf.NameOf("scope "+kind, value) }
	return p
}

// close ends what runs before it closes the storage: jobs may still put into it what was paid for, and tell it.
func (k *shapers) close() {
	k.memories.Close()
	k.prober.Close()
	ctx, cancel := context.WithTimeout(context.Background(), summariesWait)
	defer cancel()
	if err := k.summariser.Close(ctx); err != nil {
		k.storage.log.Warn("a summary does not end", "error", err.Error())
	}
	k.quiet()
	k.storage.close()
}

// shelf is the shelf of artifacts as rewriting sees it.
type shelf struct{ *offload.Shelf }

// Put keeps content; late may use up to twice the quota.
func (s shelf) Put(name string, content []byte, late bool) error {
	if late {
		return s.PutBeyond(name, content)
	}
	return s.Shelf.Put(name, content)
}

// farShelf is a shelf in a bucket. It asks for several contents at once, so that a turn with many waits about as
// long as one with one.
type farShelf struct {
	decision.Shelf
	artifacts *offload.Shelf
}

// mostAtOnce is how many questions of one turn are under way. A service takes many more from one client.
const mostAtOnce = 16

// Expect looks at the contents that are not known yet. Whatever goes wrong shows when they are asked for one by one.
func (s farShelf) Expect(names []string) {
	var work errgroup.Group
	work.SetLimit(mostAtOnce)
	for _, name := range names {
		work.Go(func() error {
			offload.Expect(s.artifacts, name)
			return nil
		})
	}
	_ = work.Wait()
}

// PutAll keeps the contents. A name that comes twice is put once by one of the two: the shelf sees to that.
func (s farShelf) PutAll(list []decision.Artifact, late bool) error {
	var work errgroup.Group
	work.SetLimit(mostAtOnce)
	for _, w := range list {
		work.Go(func() error { return s.Put(w.Name, w.Content, late) })
	}
	return work.Wait()
}

// shelfOf is the shelf as shaping sees it.
func shelfOf(artifacts *offload.Shelf) decision.Shelf {
	near := shelf{artifacts}
	if offload.IsFar(artifacts) {
		return farShelf{near, artifacts}
	}
	return near
}

// recallOf says which clients are told to read artifacts with a tool.
func recallOf(conf config.Config) rewrite.Recall {
	switch {
	case conf.Offload.Address == "tool":
		return rewrite.RecallAll
	case conf.Offload.Address == "auto":
		return rewrite.RecallOfferedTo
	}
	return rewrite.RecallNobody
}

// memoEntries bounds the memory for counts of texts to some 17 MB: the texts of a few hundred long conversations.
const memoEntries = 1 << 18

// Deps are what shaping needs, over a store and a shelf.
func Deps(
	s store.Store, artifacts *offload.Shelf, windows *window.Windows, keep time.Duration,
) rewrite.Deps {
	return rewrite.Deps{
		Ledger: newLedger(s, keep), Shelf: shelfOf(artifacts), Keep: keep,
		Counters: &tokenize.Counters{}, Models: tokenize.NewModels(), Memo: tokenize.NewMemo(memoEntries),
		Window: func(upstream, model string, maxOutput int) (tokens, usable int) {
			w := windows.Of(upstream, model)
			return w.Tokens, window.Usable(w.Tokens, maxOutput)
		},
	}
}
