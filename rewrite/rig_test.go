package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan/plantest"
	"epitome/tokenize"
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

// vocabularies are loaded once for all tests.
var vocabularies = &tokenize.Counters{}

// bench is a shaper with what it needs.
type bench struct {
	*Shaper
	notes    *notes
	cupboard *plantest.Cupboard
	limits   limits.Limits
	window   int
	ratio    float64 // that answers have shown of models whose vocabulary is not known; 0 if they have not
	memo     *tokenize.Memo
	// what was thought may be lost with the store
	forgetful bool
	narrator  *narrator // nil if no model can be asked
	style     prose.Style
	now       bool      // compact now
	clock     time.Time // when requests are asked
	scope     string
	dialect   conversation.Dialect // nil for Chat Completions
	library   *library             // nil if no files are kept
	asks      []string             // names of contexts
	memories  *lore                // nil if nothing is known of any project
	project   string               // that requests name
	waits     context.Context
}

func newBench(window int) *bench {
	b := &bench{notes: newNotes(), cupboard: plantest.NewCupboard(), limits: plantest.Limits(), window: window,
		memo: tokenize.NewMemo(1 << 16)}
	b.restart()
	return b
}

// restart is what the process forgets when it ends. Who is told of the tool stays.
func (b *bench) restart() {
	m := Deps{
		Ledger: b.notes, Shelf: b.cupboard, Counters: vocabularies, Models: tokenize.NewModels(), Memo: b.memo,
		Window: func(_, _ string, maxOutput int) (int, int) {
			return b.window, b.window - min(max(maxOutput, min(8192, b.window/8)), b.window/4)
		},
	}
	m.Ratio = func(tokenize.Source) (float64, int) {
		if b.ratio > 0 {
			return b.ratio, 3
		}
		return 0, 0
	}
	if b.library != nil {
		m.Library = b.library
	}
	if b.memories != nil {
		m.Memories = b.memories
	}
	if b.narrator != nil {
		m.Summariser, m.Tell = b.narrator, b.narrator
	}
	if b.Shaper != nil {
		m.Recall = b.deps.Recall
	}
	b.Shaper = NewShaper(m)
}

func (b *bench) shape(body string) Output {
	a := Input{Dialect: chat.Dialect{}, Body: []byte(body), Scope: b.scope, Upstream: "up", Limits: &b.limits,
		Style: b.style, Compact: b.now, Now: b.clock, Contexts: b.asks, Project: b.project}
	if b.dialect != nil {
		a.Dialect = b.dialect
	}
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

func clearing() *agent {
	a := newAgent(8_000, userSays(theTask))
	a.limits.Floor, a.limits.OffloadShare, a.limits.Groups, a.limits.Protect = 100, 1, 2, 200
	a.limits.Offload, a.limits.Lookups, a.limits.OffloadReads, a.limits.ClearAt, a.limits.ClearAtLeast = 8_000, 8_000, 8_000, .5, 100
	return a
}

func eachOf(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func paragraphs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d. The shop keeps orders of year %d for seven years, as the law of its country says.\n", i+1, 1990+i)
		if i == n/2 {
			b.WriteString("Warning: orders of 2007 were deleted by mistake and cannot be restored.\n")
		}
	}
	return b.String()
}

func readable(window int) *agent {
	a := newAgent(window, userSays(theTask))
	a.limits.Floor, a.limits.OffloadShare = 100, 1
	a.limits.Offload, a.limits.OffloadKeep = 1_500, 450
	a.limits.OffloadReads, a.limits.Lookups = 1_500, 1_500
	return a
}

func result(t *testing.T, a *agent, tool, arguments, output string) string {
	t.Helper()
	a.does(tool, arguments, output)
	out := a.ask(t)
	text := changed(t, a, out)
	if len(text) == 0 {
		t.Fatalf("%s %s is sent as it came", tool, arguments)
	}
	return text[len(text)-1]
}

func changed(t *testing.T, a *agent, out Output) (list []string) {
	t.Helper()
	r, err := chat.Read(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Items {
		raw := string(r.Items[i].Of(out.Body))
		if slices.Contains(a.items, raw) {
			continue
		}
		texts := strings.Join(textsOf(r, &r.Items[i]), "\n")
		if strings.Contains(raw, `"tool_calls"`) {
			texts = raw
		}
		list = append(list, texts)
	}
	return list
}

func declared(name string) string {
	return `{"type":"function","function":{"name":"` + name + `","parameters":{"type":"object"}}}`
}
