package rewrite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/event"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/promisetest"
	"epitome/internal/unit"
	"epitome/rewrite/activity"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
	"epitome/tokenize"
)

func TestMain(m *testing.M) {
	scriptedtest.CollectLess()
	scriptedtest.DrawFewer("12")
	os.Exit(m.Run())
}

// seam is a Shaper as package promises knows one.
type seam struct {
	rapid.TB
	*Shaper
	window *atomic.Int64
}

func startSeam(t rapid.TB, s *promisetest.Storage) promisetest.Core {
	t.Helper()
	c := seam{TB: t, window: &atomic.Int64{}}
	c.Shaper = NewShaper(Deps{
		Ledger: ledger.New(s.Store, promisetest.Keep), Shelf: s.Shelf, Counters: vocabularies,
		Models: tokenize.NewModels(), Memo: memo(),
		Window: func(_, _ string, maxOutput int) (int, int) {
			window := int(c.window.Load())
			return window, window - min(max(maxOutput, min(8192, window/8)), window/4)
		},
	})
	return c
}

var (
	vocabularies = &tokenize.Counters{}
	memo         = sync.OnceValue(func() *tokenize.Memo { return tokenize.NewMemo(1 << 16) })

	seamDialects = map[string]conversation.Dialect{"chat": chat.Dialect{}, "messages": messages.Dialect{},
		"responses": responses.Dialect{}}
)

// Shape does what promisetest.Core says.
func (c seam) Shape(r promisetest.Request) promisetest.Sent {
	c.window.Store(int64(r.Window))
	c.readsAlike(r)
	in := Input{Dialect: seamDialects[r.API], Body: r.Body, Scope: r.Scope, Upstream: r.Upstream,
		Limits: seamLimits(r.Limits), Now: r.Now}
	if r.Refused > 0 || r.NoThinking {
		in.Rescue = &Rescue{Most: r.Refused, From: ladder.StageClear, NoThinking: r.NoThinking}
	}
	out := c.Shaper.Shape(in)
	if out.Settle != nil && !out.Settle() {
		out.Report.Err = errors.New("the rescue is not recorded")
	}
	return promisetest.Sent{Body: out.Body, Action: out.Report.Action, Breaks: out.Report.Broke, Err: out.Report.Err}
}

// readsAlike holds that a request reads the same with and without the one before it.
func (c seam) readsAlike(r promisetest.Request) {
	d := seamDialects[r.API]
	k := c.recent.find(ledger.Lane{Scope: r.Scope, Upstream: r.Upstream, Dialect: r.API}, r.Body, r.Now)
	if k.request == nil {
		return
	}
	got, err := d.Read(r.Body, k.request)
	want, wantErr := d.Read(r.Body, nil)
	if (err == nil) != (wantErr == nil) {
		c.Fatalf("read with the request before: %v; without: %v", err, wantErr)
	}
	if err != nil || got.Reused == 0 || got.Model != k.request.Model {
		return
	}
	same := activity.Of(want, nil)
	if calls := activity.Of(got, k.calls); !reflect.DeepEqual(calls, same) {
		c.Fatalf("calls differ with and without the request before: %+v, %+v", calls, same)
	}
	got.Chain()
	want.Chain()
	got.Reused = 0
	for i := range got.Items {
		got.Items[i].Size = conversation.Size{}
	}
	if !reflect.DeepEqual(got, want) {
		c.Fatalf("a request differs when it is read with the one before: %+v, %+v", got, want)
	}
}

// Close does what promisetest.Core says.
func (seam) Close() {}

// defaultLimits are those of the default configuration.
func defaultLimits() ladder.Limits {
	l := ladder.Usual()
	l.ClearAt, l.CompactAt, l.Target, l.KeepTail = .8, .9, .5, 20_000
	l.CacheLife = unit.Duration(5 * time.Minute)
	if err := l.SetPreset("balanced"); err != nil {
		panic(err)
	}
	return l
}

func seamLimits(l promisetest.Limits) *ladder.Limits {
	all := defaultLimits()
	all.Bound = map[string]bool{"claude-*-5-5": true}
	if l != (promisetest.Limits{}) {
		all.Floor, all.ClearAtLeast, all.OffloadShare = 100, 50, 1
		all.Offload, all.Lookups = l.OffloadTokens, l.OffloadTokens
		all.OffloadReads, all.OffloadKeep = l.OffloadReads, l.OffloadKeep
		all.ClearAt, all.CompactAt, all.Target = l.ClearAt, l.CompactAt, l.CompactTo
		all.KeepTail, all.Protect, all.Groups = l.KeepTokens, l.ProtectTokens, l.ProtectGroups
	}
	return &all
}

// Recorded conversations keep the promises in all three APIs.
func TestRecordedConversationsKeepThePromises(t *testing.T) {
	for _, path := range promisetest.Files(t, 6) {
		for api := range seamDialects {
			t.Run(api+" "+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				promisetest.PlayFile(t, startSeam, api, path, 64_000)
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
				for range 4 { // a play costs less than one of two that are apart
					promisetest.PlayRandom(t, startSeam, api)
				}
			})
		})
	}
}

// Conversations that begin alike share nothing else.
func TestConversationsThatBeginAlikeAreApart(t *testing.T) {
	for api := range seamDialects {
		for _, apart := range []string{"scope", "system", "fork"} {
			t.Run(api+" "+apart, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { promisetest.PlayApart(t, startSeam, api, apart) })
			})
		}
	}
}

// Promise 4: a panic costs the rewriting of one request. A shaper without a store panics with each.
func TestPanicCostsOnlyTheRewriting(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
	out := NewShaper(Deps{}).Shape(Input{Dialect: chat.Dialect{}, Body: body, Limits: &ladder.Limits{}})
	if !bytes.Equal(out.Body, body) || out.Changed || out.Report.Action != event.ActionBypass || out.Report.Err == nil {
		t.Errorf("got %q with %+v", out.Body, out.Report)
	}
}
