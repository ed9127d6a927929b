// Package ledger records what was sent for a prefix of a conversation, and finds it again.
//
// A decision is recorded as text, never as rules, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins and the other adopts its decision.
//
// A record at a prefix names a list of edits. A list holds the edits that its request added and names the list that it
// adds to; lists are named by their content and never change. A record without new edits names the list of the one
// before. Decisions belong to a model at an upstream; where that has none, it starts from the decision of another one.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"epitome/rewrite/conversation"
	"epitome/store"
)

// Decision is all edits for a prefix.
type Decision struct {
	Items        int       `json:"n"` // length of the prefix
	List         string    `json:"l,omitempty"`
	Added        int       `json:"b,omitempty"` // how many edits, the last ones, were made with it
	Ratio        float64   `json:"r,omitempty"` // tokens of the model that one counted here is
	Edits        []Edit    `json:"-"`
	Conversation string    `json:"c"`           // its ID
	Sent         time.Time `json:"d"`           // when a request with it was sent: after a pause the cache is cold
	Tokens       int       `json:"k,omitempty"` // sent since the last compaction, for the user's own budgets
	Ahead        int       `json:"a,omitempty"` // a summary of the items before it was begun ahead of need
	Leading      string    `json:"h,omitempty"` // what stood before the items, by a hash: the cache depends on it
	Reach        int       `json:"e,omitempty"` // items of the request, if edits are about some behind the prefix
	ReachLink    []byte    `json:"f,omitempty"` // names those items

	OtherModel bool   `json:"-"` // it was recorded for another model or upstream
	Key        string `json:"-"` // for At

	version uint64
}

// Lane is who may share decisions.
type Lane struct{ Scope, Dialect, Upstream, Model string }

// Ledger keeps decisions in a store. Its methods may be called from any goroutine.
type Ledger struct {
	store store.Store
	keep  time.Duration

	mu    sync.Mutex
	lists map[string]cached // by name
}

// cached is a list with the edits of those that it adds to, and when they were touched last.
type cached struct {
	edits   []Edit
	touched time.Time
}

// New returns a ledger in which decisions live for keep after they were last used.
func New(s store.Store, keep time.Duration) *Ledger {
	return &Ledger{store: s, keep: keep, lists: map[string]cached{}}
}

// Overlay returns a ledger that reads from this one and writes to notes alone.
func (l *Ledger) Overlay(notes store.Store) *Ledger { return New(overlay{notes, l.store}, l.keep) }

// overlay reads from both stores and writes to the upper one.
type overlay struct {
	store.Store
	below store.Store
}

func (o overlay) Get(key string) (store.Fact, bool) {
	if fact, found := o.Store.Get(key); found {
		return fact, true
	}
	return o.below.Get(key)
}

func (o overlay) PutIfAbsent(key string, value []byte, keep time.Duration) (store.Fact, bool, error) {
	return o.CompareAndSwap(key, 0, value, keep)
}

func (o overlay) CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error) {
	if _, found := o.Store.Get(key); !found {
		if fact, found := o.below.Get(key); found && fact.Version != old {
			return fact, false, nil
		}
		old = 0
	}
	return o.Store.CompareAndSwap(key, old, value, keep)
}

// Hash names a list of parts, in letters and digits.
func Hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:20])
}

// DecisionKey is the key of the decision for a prefix, for At.
func (l Lane) DecisionKey(at conversation.Link) string {
	return "d" + Hash(l.Scope, l.Upstream, l.Model, l.Dialect, string(at[:]))
}

// firstKey is the key under which stands that of the decision which was made first for a prefix, for whatever model.
func (l Lane) firstKey(at conversation.Link) string {
	return "f" + Hash(l.Scope, l.Dialect, string(at[:]))
}

// nextKey is the key of how a conversation went on first behind a prefix.
func (l Lane) nextKey(at conversation.Link) string {
	return "n" + Hash(l.Scope, l.Dialect, string(at[:]))
}

// near is among how many ends Find looks at each one. Before those it looks at ever fewer, as a conversation that was
// not seen before may have any number of them.
const near = 40

// Find returns the decision of the deepest recorded prefix among ends, which are longest first; one without items if
// there is none. Where the lane has nothing, the decision is that of another model or upstream of the same scope and
// dialect.
func (l *Ledger) Find(lane Lane, chain []conversation.Link, ends []int) (Decision, error) {
	var other Decision
	for i := 0; i < len(ends); i += 1 + max(0, i-near)/8 {
		at := chain[ends[i]]
		first, found, err := store.Find(l.store, lane.firstKey(at))
		if err != nil {
			return Decision{}, fmt.Errorf("cannot look for a decision: %w", err)
		}
		if !found {
			continue
		}
		if d, found, err := l.At(lane.DecisionKey(at)); err != nil || found {
			return d.of(chain), err
		}
		if other.Items > 0 {
			continue
		}
		if other, other.OtherModel, err = l.At(string(first.Bytes)); err != nil {
			return Decision{}, err
		}
	}
	return other.of(chain), nil
}

// of returns d as it holds for a request: edits of items behind the prefix only if those are in the request.
func (d Decision) of(chain []conversation.Link) Decision {
	if d.Reach == 0 {
		return d
	}
	if d.Reach < len(chain) && bytes.Equal(chain[d.Reach][:], d.ReachLink) {
		d.Items = d.Reach
		return d
	}
	isBehind := func(e Edit) bool { return e.End() > d.Items }
	d.Edits, d.List = slices.DeleteFunc(slices.Clone(d.Edits), isBehind), ""
	return d
}

// At returns the decision under a key with all its edits. One of which a part cannot be read is not found: a shallower
// one rules then.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	fact, found, err := store.Find(l.store, key)
	if err != nil {
		return d, false, fmt.Errorf("cannot look for a decision: %w", err)
	}
	if !found || json.Unmarshal(fact.Bytes, &d) != nil {
		return Decision{}, false, nil
	}
	if d.Edits, found, err = l.read(d.List); err != nil || !found {
		return Decision{}, false, err
	}
	d.version, d.Key = fact.Version, key
	return d, true, nil
}

// read reads a list with all that it adds to.
func (l *Ledger) read(name string) (edits []Edit, found bool, err error) {
	if name == "" {
		return nil, true, nil
	}
	l.mu.Lock()
	list, found := l.lists[name]
	l.mu.Unlock()
	if found {
		return list.edits, true, nil
	}
	fact, found, err := store.Find(l.store, name)
	if err != nil {
		return nil, false, fmt.Errorf("cannot look for edits: %w", err)
	}
	var own record
	if !found || json.Unmarshal(fact.Bytes, &own) != nil {
		return nil, false, nil
	}
	base, found, err := l.read(own.Base)
	if err != nil || !found {
		return nil, false, err
	}
	edits = Add(base, own.Edits...)
	l.remember(name, cached{edits: edits})
	return edits, true, nil
}

// remember keeps a list in memory.
func (l *Ledger) remember(name string, list cached) {
	const most = 1_000 // all are forgotten when there are more
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lists) >= most {
		clear(l.lists)
	}
	l.lists[name] = list
}

// Record writes a decision that adds edits to those of the one it was made from, if none stands for its prefix of the
// chain, and returns the one that stands then; won says that it is this one. replace says that what stands is not to
// hold any more: the new one takes its place, but if that is the one which d was made from, and another took its place
// meanwhile.
func (l *Ledger) Record(
	lane Lane, chain []conversation.Link, d Decision, added []Edit, replace bool,
) (standing Decision, won bool, err error) {
	at, end := chain[d.Items], len(chain)-1
	if err := l.writeList(&d, added); err != nil {
		return Decision{}, false, fmt.Errorf("cannot record edits: %w", err)
	}
	d.Reach, d.ReachLink = 0, nil
	if slices.ContainsFunc(d.Edits, func(e Edit) bool { return e.End() > d.Items }) {
		d.Reach, d.ReachLink = end, chain[end][:]
	}
	key := lane.DecisionKey(at)
	_, _, err = l.store.PutIfAbsent(lane.firstKey(at), []byte(key), l.keep)
	value, _ := json.Marshal(d) // plain data
	for fact := (store.Fact{}); err == nil; {
		if fact, won, err = l.store.CompareAndSwap(key, fact.Version, value, l.keep); won {
			d.version, d.Key = fact.Version, key
			return d, true, nil
		}
		readable := false
		if err == nil {
			standing, readable, err = l.At(key)
		}
		if readable && (!replace || d.Key == key && d.version != standing.version) {
			return standing.of(chain), false, nil
		}
	}
	return Decision{}, false, fmt.Errorf("cannot record a decision: %w", err)
}

// writeList writes the edits that d adds to its list, and makes the new list that of d.
func (l *Ledger) writeList(d *Decision, added []Edit) (err error) {
	const maxMerged = 32 << 10 // bytes up to which a list holds all edits, so that a decision is read from few
	d.Edits, d.Added = Add(d.Edits, added...), len(added)
	if len(d.Edits) == 0 || len(added) == 0 && d.List != "" {
		return nil
	}
	all, _ := json.Marshal(d.Edits) // plain data
	if d.List == "" || len(all) <= maxMerged {
		d.List, added = "", d.Edits
	}
	if d.List, err = l.putList(d.List, added); err == nil {
		l.remember(d.List, cached{edits: d.Edits})
	}
	return err
}

// putList writes a list, as several if it is large, and returns its name.
func (l *Ledger) putList(base string, added []Edit) (name string, err error) {
	const maxList = 512 << 10 // bytes
	value, _ := json.Marshal(record{base, added})
	if half := len(added) / 2; len(value) > maxList && half > 0 {
		if base, err = l.putList(base, added[:half]); err != nil {
			return "", err
		}
		return l.putList(base, added[half:])
	}
	name = "l" + Hash(string(value))
	_, _, err = l.store.PutIfAbsent(name, value, l.keep)
	return name, err
}

// Name returns the ID of the conversation that a request continues from d, which has to be its deepest decision; head
// is how many items it had before the model first spoke. A request that goes on otherwise than the first one did behind
// the same prefix is another conversation; then parent is the one that it has left.
func (l *Ledger) Name(lane Lane, chain []conversation.Link, head int, d Decision) (id, parent string, err error) {
	if d.Items == 0 || d.Conversation == "" {
		return idOf(lane.Scope, lane.Dialect, string(chain[head][:])), "", nil
	}
	if d.Items == len(chain)-1 {
		return d.Conversation, "", nil
	}
	next := chain[d.Items+1]
	fact, _, err := l.store.PutIfAbsent(lane.nextKey(chain[d.Items]), next[:], l.keep)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("cannot record how a conversation goes on: %w", err)
	case bytes.Equal(fact.Bytes, next[:]):
		return d.Conversation, "", nil
	}
	return idOf(d.Conversation, string(next[:])), d.Conversation, nil
}

// idOf returns an ID as people see it.
func idOf(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// Touch lets all that a decision is read from live on, if that was not done for long by the wall clock. due says that
// it was not: then the artifacts need a touch as well.
func (l *Ledger) Touch(d Decision, now time.Time) (due bool) {
	const every = 10 * time.Minute // a part of keep where that is short
	l.mu.Lock()
	last := l.lists[d.List].touched
	l.mu.Unlock()
	if now = now.Round(0); now.Sub(last).Abs() <= min(l.keep/32, every) {
		return false
	}
	l.remember(d.List, cached{d.Edits, now})
	for name := d.List; name != ""; {
		_, _ = l.store.Touch(name, l.keep) // what cannot be touched expires earlier, and is decided anew
		fact, _ := l.store.Get(name)
		var own record
		_ = json.Unmarshal(fact.Bytes, &own) // what cannot be read adds to nothing
		name = own.Base
	}
	return true
}

// Binds reports whether a model was seen to accept thinking only behind an unchanged prefix.
func (l *Ledger) Binds(upstream, model string) bool {
	_, found := l.store.Get("t" + Hash(upstream, model))
	return found
}

// LearnBinds remembers that it does.
func (l *Ledger) LearnBinds(upstream, model string) error {
	_, _, err := l.store.PutIfAbsent("t"+Hash(upstream, model), []byte{1}, l.keep)
	return err
}
