package rewrite

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"epitome/internal/promises"
	"epitome/offload"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/limits"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/responses"
	"epitome/store"
	"epitome/tokenize"
)

// seam is a Shaper as package promises knows one.
type seam struct {
	*Shaper
	window *atomic.Int64
}

func startSeam(t rapid.TB, s *promises.Storage) promises.Core {
	t.Helper()
	c := seam{window: &atomic.Int64{}}
	c.Shaper = NewShaper(Deps{
		Ledger: facts{s.Store}, Shelf: artifacts{s.Shelf(t)}, Counters: vocabularies, Models: tokenize.NewModels(),
		Memo: memo(), Recall: RecallNobody,
		Window: func(_, _ string, maxOutput int) (int, int) {
			window := int(c.window.Load())
			return window, window - min(max(maxOutput, min(8192, window/8)), window/4)
		},
	})
	return c
}

var memo = sync.OnceValue(func() *tokenize.Memo { return tokenize.NewMemo(1 << 16) })

var seamDialects = map[string]conversation.Dialect{"chat": chat.Dialect{}, "messages": messages.Dialect{},
	"responses": responses.Dialect{}}

// Shape does what promises.Core says.
func (c seam) Shape(r promises.Request) promises.Sent {
	c.window.Store(int64(r.Window))
	out := c.Shaper.Shape(Input{Dialect: seamDialects[r.API], Body: r.Body, Scope: r.Scope, Upstream: r.Upstream,
		Limits: seamLimits(r.Limits), Now: r.Now})
	return promises.Sent{Body: out.Body, Action: out.Report.Action, Breaks: out.Report.Broke, Err: out.Report.Err}
}

// Close does what promises.Core says.
func (seam) Close() {}

func seamLimits(l promises.Limits) *limits.Limits {
	all := plantest.Limits()
	all.Bound = map[string]bool{"claude-*-5-5": true}
	if l != (promises.Limits{}) {
		all.Floor, all.ClearAtLeast, all.OffloadShare = 100, 50, 1
		all.Offload, all.Lookups = l.OffloadTokens, l.OffloadTokens
		all.OffloadReads, all.OffloadKeep = l.OffloadReads, l.OffloadKeep
		all.ClearAt, all.CompactAt, all.Target = l.ClearAt, l.CompactAt, l.CompactTo
		all.KeepTail, all.Protect, all.Groups = l.KeepTokens, l.ProtectTokens, l.ProtectGroups
	}
	return &all
}

// facts is a store as a ledger.
type facts struct{ store.Store }

// Get does what decision.Ledger says.
func (f facts) Get(key string) (value []byte, version uint64, found bool) {
	fact, found := f.Store.Get(key)
	return fact.Bytes, fact.Version, found
}

// Add does what decision.Ledger says.
func (f facts) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	fact, _, err := f.PutIfAbsent(key, value, promises.Keep)
	return fact.Bytes, fact.Version, err
}

// Swap does what decision.Ledger says.
func (f facts) Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error) {
	fact, swapped, err := f.CompareAndSwap(key, old, value, promises.Keep)
	return fact.Bytes, fact.Version, swapped, err
}

// Touch does what decision.Ledger says.
func (f facts) Touch(string) bool { return true }

// artifacts is a shelf on which everything is late.
type artifacts struct{ *offload.Shelf }

// Put does what decision.Shelf says.
func (a artifacts) Put(name string, content []byte, _ bool) error { return a.Shelf.Put(name, content) }

// Recorded conversations keep the promises in all three APIs.
func TestRecordedConversationsKeepThePromises(t *testing.T) {
	for _, path := range promises.Files(t, 6) {
		for api := range seamDialects {
			t.Run(api+" "+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				promises.PlayFile(t, startSeam, api, path, 64_000)
			})
		}
	}
}

// So do random ones, whatever befalls them.
func TestRandomConversationsKeepThePromises(t *testing.T) {
	for api := range seamDialects {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				for range 5 { // rapid.checks is low in this package
					promises.PlayRandom(t, startSeam, api)
				}
			})
		})
	}
}

// Conversations that begin alike share nothing else. Under different system prompts this core mixes them.
func TestConversationsThatBeginAlikeAreApart(t *testing.T) {
	for api := range seamDialects {
		for _, apart := range []string{"scope", "fork"} {
			t.Run(api+" "+apart, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { promises.PlayApart(t, startSeam, api, apart) })
			})
		}
	}
}
