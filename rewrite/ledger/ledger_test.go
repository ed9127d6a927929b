package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/dialect/conversation"
	"epitome/store"
)

var lane = Lane{Scope: "s", Dialect: "chat", Upstream: "up", Model: "m"}

// rig is a ledger for conversations whose items are letters.
type rig struct {
	*testing.T
	*Ledger
}

func start(t *testing.T) rig { return rig{t, New(store.NewMemory(16<<20), time.Hour)} }

// again is another process with the same store.
func (r rig) again() rig { return rig{r.T, New(r.store, r.keep)} }

func chainOf(items string) []conversation.Link {
	chain := make([]conversation.Link, len(items)+1)
	for n := range chain {
		copy(chain[n][:], items[:n])
	}
	return chain
}

func (r rig) find(l Lane, items string) Decision {
	r.Helper()
	var ends []int
	for n := len(items); n > 0; n-- {
		ends = append(ends, n)
	}
	d, err := r.Find(l, chainOf(items), ends, nil)
	if err != nil {
		r.Fatal(err)
	}
	return d
}

// record adds edits with texts to d, for a prefix, and returns the texts that stand then.
func (r rig) record(l Lane, items string, d Decision, replace bool, added ...string) string {
	r.Helper()
	d.Items = len(items)
	var edits []Edit
	for k, text := range added {
		edits = append(edits, Edit{Op: Clear, First: len(items) - 1 + k, Count: 1, Text: text})
	}
	d, _, err := r.Record(l, chainOf(items), d, edits, replace)
	if err != nil {
		r.Fatal(err)
	}
	return texts(d)
}

func texts(d Decision) string {
	var list []string
	for _, e := range d.Edits {
		list = append(list, e.Text)
	}
	return strings.Join(list, " ")
}

func (r rig) want(d Decision, items int, want string) {
	r.Helper()
	if d.Items != items || texts(d) != want {
		r.Errorf("found is %q for %d items, want %q for %d", texts(d), d.Items, want, items)
	}
}

// What was decided for a prefix is found again by whoever has the store, in however many steps and of whatever size.
func TestDecisionsAreFoundAgain(t *testing.T) {
	first, items, all := start(t), "a", "A"
	first.record(lane, "a", Decision{}, false, "A")
	large := strings.Repeat("x", 10<<10)
	for k := range 9 {
		items, all = items+fmt.Sprint(k), all+" "+large
		first.record(lane, items, first.find(lane, items), false, large)
	}
	first.record(lane, items+"u", first.find(lane, items+"u"), false)
	huge := slices.Repeat([]string{strings.Repeat("y", store.MaxValue/3)}, 9)
	first.record(lane, "h", Decision{}, false, huge...)
	for _, r := range []rig{first, first.again()} {
		r.want(r.find(lane, items), 10, all)
		r.want(r.find(lane, items+"uvw"), 11, all)
		r.want(r.find(lane, "a01x"), 3, strings.Join([]string{"A", large, large}, " "))
		r.want(r.find(lane, "a"+strings.Repeat("z", 30)), 1, "A")
		r.want(r.find(lane, strings.Repeat("z", 400)), 0, "")
		r.want(r.find(lane, "h"), 1, strings.Join(huge, " "))
	}
}

// Of requests that decide the same prefix at once one wins, and all are told what it decided.
func TestTheFirstDecisionStands(t *testing.T) {
	r := start(t)
	var standing [8]string
	var all sync.WaitGroup
	for k := range standing {
		all.Go(func() { standing[k] = r.again().record(lane, "a", Decision{}, false, fmt.Sprint(k)) })
	}
	all.Wait()
	for _, text := range standing {
		if text != standing[0] {
			t.Errorf("decided are %q", standing)
		}
	}
}

// forgetful is a store whose reads fail.
type forgetful struct{ store.Store }

func (forgetful) Get(string) ([]byte, bool, error) { return nil, false, errors.New("the disk fails") }

// A failed store does not make a model that binds its thinking one that does not: that would cost another refusal.
func TestFailedStoreUnbindsNoThinking(t *testing.T) {
	r := start(t)
	r.LearnBinds("up", "m")
	if !r.Binds("up", "m") || r.Binds("up", "another") || !New(forgetful{r.store}, time.Hour).Binds("up", "m") {
		t.Error("it is forgotten which model binds its thinking")
	}
}

// What is used stays, and what is not used goes.
func TestTouchedDecisionsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.record(lane, "a", Decision{}, false, "A")
		for k := range 5 {
			d := r.find(lane, strings.Repeat("a", k+1))
			if now := time.Now().Round(0); !r.IsStale(d, now) {
				t.Errorf("after %d steps it is not due", k)
			} else if d.Touched = now; r.IsStale(d, now) {
				t.Error("it is due twice")
			}
			r.Touch(&d.Edits[0])
			r.record(lane, strings.Repeat("a", k+2), d, false)
			time.Sleep(40 * time.Minute)
		}
		r.want(r.again().find(lane, "aaaaaa"), 6, "A")
		time.Sleep(time.Hour)
		r.want(r.find(lane, "aaaaaa"), 0, "")
	})
}
