// Package ledger records what was sent for a prefix of a conversation, and finds it again.
//
// A decision is recorded as text, never as rules, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins and the other adopts its decision.
//
// A record at a prefix names a list of edits. A list holds the edits that its request added and names the list that it
// adds to; lists are named by their content and never change. A record without new edits names the list of the one
// before.
package ledger

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/rewrite/conversation"
	"epitome/store"
)

// Store is what a ledger needs of a store.Store.
type Store interface {
	store.Getter
	PutIfAbsent(key string, value []byte, keep time.Duration) (standing store.Fact, won bool, err error)
	CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (standing store.Fact, swapped bool, err error)
	Touch(key string, keep time.Duration) (found bool, err error)
}

// Decision is all edits for a prefix.
type Decision struct {
	Items        int       `json:"n"` // length of the prefix
	List         string    `json:"l,omitempty"`
	Before       string    `json:"b,omitempty"` // the list to which this decision has added
	Ratio        float64   `json:"r,omitempty"` // tokens of the model that one counted here is
	Edits        []Edit    `json:"-"`
	Conversation string    `json:"c"`           // its ID
	Turn         int       `json:"t"`           // of the conversation
	Sent         time.Time `json:"d"`           // when a request with it was sent: after a pause the cache is cold
	Tokens       int       `json:"k,omitempty"` // sent since the last compaction, for the user's own budgets
	Ahead        Ahead     `json:"a,omitzero"`  // a summary that was begun ahead of need
	Leading      string    `json:"h,omitempty"` // what stood before the items, by a hash: the cache depends on it

	Wish string `json:"w,omitempty"` // of its lane

	OtherModel bool   `json:"-"` // it was recorded for another model or upstream
	Key        string `json:"-"` // for At

	version uint64
}

// Ahead is a summary that was begun ahead of need: of the items before End, when the request had so many tokens.
type Ahead struct {
	End    int `json:"e"`
	Tokens int `json:"k"`
}

// Lane is who may share decisions. Wish names what the first request of a conversation asked to be given.
type Lane struct{ Scope, Wish, Upstream, Model, Dialect string }

// Ledger keeps decisions in a store. Its methods may be called from any goroutine.
type Ledger struct {
	store Store
	keep  time.Duration

	mu      sync.Mutex
	lists   map[string][]Edit    // by name, with the edits of the lists that they add to
	touched map[string]time.Time // when each list was touched last
}

// New returns a ledger in which decisions live for keep after they were last used.
func New(s Store, keep time.Duration) *Ledger {
	return &Ledger{store: s, keep: keep, lists: map[string][]Edit{}, touched: map[string]time.Time{}}
}

// Overlay returns a ledger that reads from this one and writes to notes alone.
func (l *Ledger) Overlay(notes Store) *Ledger { return New(overlay{notes, l.store}, l.keep) }

// overlay reads from both stores and writes to the upper one.
type overlay struct {
	Store
	below Store
}

func (o overlay) Get(key string) (store.Fact, bool) {
	if fact, found := o.Store.Get(key); found {
		return fact, true
	}
	return o.below.Get(key)
}

func (o overlay) PutIfAbsent(key string, value []byte, keep time.Duration) (store.Fact, bool, error) {
	if fact, found := o.below.Get(key); found {
		return fact, false, nil
	}
	return o.Store.PutIfAbsent(key, value, keep)
}

func (o overlay) CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error) {
	if _, found := o.Store.Get(key); !found {
		old = 0
	}
	return o.Store.CompareAndSwap(key, old, value, keep)
}

// hash names a list of parts, in letters and digits.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.LittleEndian, uint32(len(p))) //nolint:gosec // never that long; no error from a hash
		h.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:20])
}

// DecisionKey is the key of the decision for a prefix, for At.
func (l Lane) DecisionKey(at conversation.Link) string {
	return "d" + hash("decision 2", l.Scope, l.Wish, l.Upstream, l.Model, l.Dialect, string(at[:]))
}

// conversationKey is the key of which conversation a prefix belongs to, and of the lane that decided it first.
func (l Lane) conversationKey(at conversation.Link) string {
	return "c" + hash("conversation 2", l.Scope, l.Dialect, string(at[:]))
}

// nextKey is the key of how a conversation went on first behind a prefix.
func (l Lane) nextKey(at conversation.Link) string {
	return "n" + hash("next 2", l.Scope, l.Dialect, string(at[:]))
}

// maxLookups bounds how many prefixes Find looks for: a conversation that was not seen before may have any number.
const maxLookups = 250

// Find returns the decision of the deepest recorded prefix among ends, which are longest first; one without items if
// there is none. head is how many items come before the model first speaks: behind them a conversation goes on with the
// wish of its first request, whatever the lane wishes now. Where the lane has nothing, the decision is that of another
// model or upstream of the same scope and dialect.
func (l *Ledger) Find(lane Lane, chain []conversation.Link, ends []int, head int) (Decision, error) {
	ends = ends[:min(len(ends), maxLookups)]
	var own Decision
	for _, n := range ends {
		d, found, err := l.load(lane.DecisionKey(chain[n]))
		if err != nil {
			return d, err
		}
		if found && d.Items == n {
			own = d
			break
		}
	}
	isFirst := len(chain)-1 == head
	if own.Items > head || own.Items > 0 && (isFirst || lane.Wish != "") {
		return own, nil
	}
	for _, n := range ends {
		if n <= own.Items {
			break
		}
		fact, found, err := store.Find(l.store, lane.conversationKey(chain[n]))
		if err != nil {
			return Decision{}, fmt.Errorf("cannot look for a conversation: %w", err)
		}
		var c named
		if !found || json.Unmarshal(fact.Bytes, &c) != nil || isFirst && c.Wish != lane.Wish {
			continue
		}
		isOther := c.Upstream != lane.Upstream || c.Model != lane.Model
		if isOther && own.Items > 0 {
			continue
		}
		d, found, err := l.load(Lane{lane.Scope, c.Wish, c.Upstream, c.Model, lane.Dialect}.DecisionKey(chain[n]))
		if err != nil || found && d.Items == n {
			d.OtherModel = isOther
			return d, err
		}
	}
	return own, nil
}

// load reads the decision under a key with all its edits. One of which a part cannot be read is not found: a shallower
// one rules then.
func (l *Ledger) load(key string) (d Decision, found bool, err error) {
	fact, found, err := store.Find(l.store, key)
	if err != nil {
		return d, false, fmt.Errorf("cannot look for a decision: %w", err)
	}
	if !found || json.Unmarshal(fact.Bytes, &d) != nil {
		return Decision{}, false, nil
	}
	d.version, d.Key = fact.Version, key
	if d.Edits, found, err = l.edits(d.List); err != nil || !found {
		return Decision{}, false, err
	}
	return d, true, nil
}

// maxLists bounds the lists that one decision is read from.
const maxLists = 4_096

// edits reads a list with all that it adds to.
func (l *Ledger) edits(name string) (edits []Edit, found bool, err error) {
	var diffs [][]Edit
	for at := name; at != ""; {
		if known, ok := l.known(at); ok {
			edits = known
			break
		}
		fact, found, err := store.Find(l.store, listKey(at))
		if err != nil {
			return nil, false, fmt.Errorf("cannot look for edits: %w", err)
		}
		var next list
		if !found || len(diffs) == maxLists || json.Unmarshal(fact.Bytes, &next) != nil {
			return nil, false, nil
		}
		diffs, at = append(diffs, next.Edits), next.Base
	}
	for k := len(diffs) - 1; k >= 0; k-- {
		edits = Add(edits, diffs[k]...)
	}
	if len(diffs) > 0 {
		l.remember(name, edits)
	}
	return edits, true, nil
}

func listKey(name string) string { return "l" + name }

// maxKnown bounds the lists that are kept in memory; all are forgotten when there are more.
const maxKnown = 1_000

func (l *Ledger) known(name string) ([]Edit, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	edits, ok := l.lists[name]
	return edits, ok
}

func (l *Ledger) remember(name string, edits []Edit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lists) >= maxKnown {
		clear(l.lists)
	}
	l.lists[name] = edits
}

// Record writes a decision that adds edits to those of the one it was made from, if none stands for the prefix, and
// returns the one that stands then.
func (l *Ledger) Record(lane Lane, at conversation.Link, d Decision, added []Edit) (standing Decision, err error) {
	return l.write(lane, at, d, added, func(key string, value []byte) (store.Fact, error) {
		fact, _, err := l.store.PutIfAbsent(key, value, l.keep)
		return fact, err
	})
}

// Replace is Record for a prefix whose decision is not to hold any more: the new one takes its place, unless another one
// did meanwhile. d was made from the decision that Find returned.
func (l *Ledger) Replace(lane Lane, at conversation.Link, d Decision, added []Edit) (standing Decision, err error) {
	return l.write(lane, at, d, added, func(key string, value []byte) (store.Fact, error) {
		old := d.version
		if d.Key != key { // d stands for a longer or a shorter prefix
			fact, _ := l.store.Get(key)
			old = fact.Version
		}
		fact, _, err := l.store.CompareAndSwap(key, old, value, l.keep)
		return fact, err
	})
}

func (l *Ledger) write(
	lane Lane, at conversation.Link, d Decision, added []Edit, put func(key string, value []byte) (store.Fact, error),
) (Decision, error) {
	d.Wish = lane.Wish
	if err := l.writeList(&d, added); err != nil {
		return Decision{}, fmt.Errorf("cannot record edits: %w", err)
	}
	value, err := json.Marshal(d)
	if err != nil {
		return Decision{}, fmt.Errorf("cannot write a decision as JSON: %w", err)
	}
	key := lane.DecisionKey(at)
	fact, err := put(key, value)
	if err != nil {
		return Decision{}, fmt.Errorf("cannot record a decision: %w", err)
	}
	c := named{d.Conversation, lane.Upstream, lane.Model, lane.Wish}
	if _, _, err := l.store.PutIfAbsent(lane.conversationKey(at), c.encode(), l.keep); err != nil {
		return Decision{}, fmt.Errorf("cannot record a conversation: %w", err)
	}
	if string(fact.Bytes) == string(value) {
		d.version, d.Key = fact.Version, key
		return d, nil
	}
	standing, found, err := l.load(key)
	if err != nil || found {
		return standing, err
	}
	// Nobody can read what stands there.
	fact, swapped, err := l.store.CompareAndSwap(key, fact.Version, value, l.keep)
	if err == nil && !swapped {
		err = errors.New("another request records it")
	}
	if err != nil {
		return Decision{}, fmt.Errorf("cannot replace a damaged decision: %w", err)
	}
	d.version, d.Key = fact.Version, key
	return d, nil
}

// Sizes of lists, in bytes of JSON.
const (
	maxList   = 512 << 10 // what is more is written as several
	maxMerged = 32 << 10  // up to which a list holds all edits, so that a decision is read from few
)

// writeList writes the edits that d adds to its list, and makes the new list that of d.
func (l *Ledger) writeList(d *Decision, added []Edit) error {
	d.Before = d.List
	if len(added) == 0 {
		return nil
	}
	base, edits := d.List, added
	d.Edits = Add(d.Edits, added...)
	if whole := (list{Edits: d.Edits}).encode(); len(whole) <= maxMerged {
		base, edits = "", d.Edits
	}
	for len(edits) > 0 {
		n := len(edits)
		value := list{base, edits}.encode()
		for len(value) > maxList && n > 1 {
			n = (n + 1) / 2
			value = list{base, edits[:n]}.encode()
		}
		name := hash("list 2", string(value))
		if _, _, err := l.store.PutIfAbsent(listKey(name), value, l.keep); err != nil {
			return err
		}
		base, edits = name, edits[n:]
	}
	d.List = base
	l.remember(base, d.Edits)
	return nil
}

// named is the value under a conversationKey.
type named struct {
	Conversation string `json:"c"`
	Upstream     string `json:"u"`
	Model        string `json:"m"`
	Wish         string `json:"w,omitempty"`
}

func (c named) encode() []byte {
	b, _ := json.Marshal(c) // strings
	return b
}

// Name returns the ID of the conversation that a request continues from d, which has to be its deepest decision; head is
// how many items it had before the model first spoke. A request that goes on otherwise than the first one did behind the
// same prefix is another conversation; then parent is the one that it has left.
func (l *Ledger) Name(lane Lane, chain []conversation.Link, head int, d Decision) (id, parent string, err error) {
	if d.Items == 0 {
		return id64(hash("id 2", lane.Scope, lane.Dialect, string(chain[head][:]))), "", nil
	}
	if d.Items == len(chain)-1 {
		return d.Conversation, "", nil
	}
	next := chain[d.Items+1]
	fact, _, err := l.store.PutIfAbsent(lane.nextKey(chain[d.Items]), next[:], l.keep)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("cannot record how a conversation goes on: %w", err)
	case string(fact.Bytes) == string(next[:]):
		return d.Conversation, "", nil
	}
	return id64(hash("fork 2", d.Conversation, string(next[:]))), d.Conversation, nil
}

// id64 is a name as people see it.
func id64(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// touchEvery is for how long a touch of a decision holds at most; a part of keep where that is short.
const touchEvery = 10 * time.Minute

// Touch lets all that a decision is read from live on, if that was not done for long by the wall clock. due says that
// it was not: then the artifacts need a touch as well.
func (l *Ledger) Touch(d Decision, now time.Time) (due bool) {
	now = now.Round(0)
	name := d.List
	l.mu.Lock()
	last, known := l.touched[name]
	due = !known || now.Before(last) || now.Sub(last) > min(l.keep/32, touchEvery)
	if due {
		if len(l.touched) >= maxKnown {
			clear(l.touched)
		}
		l.touched[name] = now
	}
	l.mu.Unlock()
	if !due {
		return false
	}
	for n := 0; name != "" && n < maxLists; n++ {
		_, _ = l.store.Touch(listKey(name), l.keep) // what cannot be touched expires earlier, and is decided anew
		fact, _ := l.store.Get(listKey(name))
		var at list
		if json.Unmarshal(fact.Bytes, &at) != nil {
			break
		}
		name = at.Base
	}
	return true
}

// At returns the decision with that key, for pages and commands.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	if !strings.HasPrefix(key, "d") {
		return d, false, nil
	}
	return l.load(key)
}

// IsNew reports for each edit of a decision whether it was made with it.
func (l *Ledger) IsNew(d Decision) func(e Edit) bool {
	before, found, err := l.edits(d.Before)
	return func(e Edit) bool {
		return err == nil && found && !slices.ContainsFunc(before, func(o Edit) bool {
			return o.First == e.First && o.Op == e.Op && o.Part == e.Part && o.Text == e.Text
		})
	}
}

// Binds reports whether a model was seen to accept thinking only behind an unchanged prefix.
func (l *Ledger) Binds(upstream, model string) bool {
	_, found := l.store.Get("t" + hash("binds", upstream, model))
	return found
}

// LearnBinds remembers that it does.
func (l *Ledger) LearnBinds(upstream, model string) error {
	_, _, err := l.store.PutIfAbsent("t"+hash("binds", upstream, model), []byte{1}, l.keep)
	return err
}
