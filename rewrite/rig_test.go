package rewrite

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/limits"
	"epitome/tokenize"
	"epitome/unit"
)

// notes is a ledger in memory.
type notes struct {
	mu    sync.Mutex
	facts map[string]note
	gets  int         // how often it was asked
	due   bool        // what Touch answers
	fail  error       // what every write returns
	luck  func() bool // says of each write whether it succeeds; all do if it is nil
}

type note struct {
	value   string
	version uint64
}

func newNotes() *notes { return &notes{facts: map[string]note{}} }

func (n *notes) Get(key string) ([]byte, uint64, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gets++
	f, ok := n.facts[key]
	return []byte(f.value), f.version, ok
}

func (n *notes) Add(key string, value []byte) ([]byte, uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.failsLocked(); err != nil {
		return nil, 0, err
	}
	f, ok := n.facts[key]
	if !ok {
		f = note{string(value), 1}
		n.facts[key] = f
	}
	return []byte(f.value), f.version, nil
}

func (n *notes) Swap(key string, old uint64, value []byte) ([]byte, uint64, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.failsLocked(); err != nil {
		return nil, 0, false, err
	}
	f := n.facts[key]
	if f.version != old {
		return []byte(f.value), f.version, false, nil
	}
	f = note{string(value), old + 1}
	n.facts[key] = f
	return value, f.version, true, nil
}

func (n *notes) failsLocked() error {
	if n.luck != nil && !n.luck() {
		return errors.New("bad luck")
	}
	return n.fail
}

func (n *notes) Touch(string) bool { return n.due }

// cupboard is a shelf in memory.
type cupboard struct {
	mu    sync.Mutex
	wares map[string]string
	full  bool
	mute  bool // it gives no address
	fail  error
	luck  func() bool // as of notes
}

// nameLength is how many characters an artifact's name has, here as on the real shelf.
const nameLength = 26

func newCupboard() *cupboard { return &cupboard{wares: map[string]string{}} }

func (c *cupboard) Name(scope string, content []byte) string {
	sum := sha256.Sum256(append([]byte(scope+"\x00"), content...))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:nameLength]
}

func (c *cupboard) Address(name string) string {
	if c.mute {
		return ""
	}
	return "/data/artifacts/" + name + ".txt"
}

func (c *cupboard) Put(name string, content []byte, late bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.luck != nil && !c.luck() {
		return errors.New("bad luck")
	}
	if c.fail != nil {
		return c.fail
	}
	if c.full && !late {
		return errors.New("the shelf is full")
	}
	c.wares[name] = string(content)
	return nil
}

func (c *cupboard) Touch(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.wares[name]
	return ok
}

func (c *cupboard) Full() bool { return c.full }

func (c *cupboard) get(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.wares[name]
	if !ok {
		return nil, fmt.Errorf("no artifact %s", name)
	}
	return []byte(s), nil
}

// vocabularies are loaded once for all tests.
var vocabularies = &tokenize.Counters{}

// bench is a shaper with what it needs.
type bench struct {
	*Shaper
	notes    *notes
	cupboard *cupboard
	limits   limits.Limits
	window   int
	ratio    float64 // that answers have shown of models whose vocabulary is not known; 0 if they have not
	memo     *tokenize.Memo
	narrator *narrator // nil if no model can be asked
	style    prose.Style
	now      bool      // compact now
	clock    time.Time // when requests are asked
	scope    string
	waits    context.Context
}

func testLimits() limits.Limits {
	l := limits.Limits{
		Floor: 16 << 10, OffloadShare: .15, Screen: 1000, Names: 400, Recall: 30_000, Repeats: true, ClearAt: .8,
		ClearAtLeast: 20_000, Groups: 12, CachedPrice: .1, CacheLife: unit.Duration(5 * time.Minute), CompactAt: .9,
		PrepareAt: .8, Thrash: 10, Target: .5, KeepTail: 20_000,
	}
	if err := l.SetPreset("balanced"); err != nil {
		panic(err)
	}
	return l
}

func newBench(window int) *bench {
	b := &bench{notes: newNotes(), cupboard: newCupboard(), limits: testLimits(), window: window,
		memo: tokenize.NewMemo(1 << 16)}
	b.restart()
	return b
}

// restart is what the process forgets when it ends.
func (b *bench) restart() {
	m := Deps{
		Ledger: b.notes, Shelf: b.cupboard, Counters: vocabularies, Models: tokenize.NewModels(), Memo: b.memo,
		Window: func(_, _ string, maxOutput int) (int, int) {
			return b.window, b.window - min(max(maxOutput, min(8192, b.window/8)), b.window/4)
		},
	}
	m.Ratio = func(_, _ string) (float64, int) {
		if b.ratio > 0 {
			return b.ratio, 3
		}
		return 0, 0
	}
	if b.narrator != nil {
		m.Summariser, m.Tell = b.narrator, b.narrator
	}
	b.Shaper = NewShaper(m)
}

func (b *bench) shape(body string) Output {
	a := Input{Dialect: chat.Dialect{}, Body: []byte(body), Scope: b.scope, Upstream: "up", Limits: &b.limits,
		Style: b.style, Compact: b.now, Now: b.clock}
	if b.waits != nil {
		a.Client = somebody{b.waits}
	}
	return b.Shape(a)
}

// listen makes the bench one that can ask a model.
func (b *bench) listen() *narrator {
	b.narrator, b.waits = newNarrator(), context.Background()
	b.restart()
	return b.narrator
}

// turns are the requests of a recorded conversation, as its client sent them one after another.
func turns(tb testing.TB, body []byte) []string {
	tb.Helper()
	r, err := chat.Read(body)
	if err != nil {
		tb.Fatal(err)
	}
	var list []string
	last := r.Items[len(r.Items)-1].End
	for i, it := range r.Items {
		if it.Role == conversation.Assistant && i > r.Head {
			list = append(list, string(body[:r.Items[i-1].End])+string(body[last:]))
		}
	}
	return append(list, string(body))
}
