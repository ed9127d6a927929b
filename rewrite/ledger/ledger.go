// Package ledger records which edits were sent for a prefix of a conversation, and finds them again.
//
// An edit is recorded as text, never as a rule, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins, and the other adopts its decision.
// The record of a decision names a list of edits. A list holds the edits that its request added, and names the list
// that it adds to. Lists are named by their content and never change. A decision without new edits names the list of
// the decision before it. Decisions belong to a model at an upstream; a model without one starts from another model's.
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

// Decision is all edits for a prefix, and what later requests must know about the request that was sent with them.
type Decision struct {
	Items        int       `json:"n"`           // length of the prefix, in items
	List         string    `json:"l,omitempty"` // name of the recorded list of Edits; empty if there is none
	Added        int       `json:"b,omitempty"` // how many of Edits, the last ones, this decision added
	Ratio        float64   `json:"r,omitempty"` // how many tokens of the model one token of the vocabulary is
	Edits        []Edit    `json:"-"`
	Conversation string    `json:"c"`           // ID of the conversation
	Sent         time.Time `json:"d"`           // when the request was sent: after a pause the provider's cache is cold
	Tokens       int       `json:"k,omitempty"` // of the model, sent since the last compaction; users set budgets for them
	Ahead        int       `json:"a,omitempty"` // index of the item up to which a summary was begun ahead of need
	Leading      string    `json:"h,omitempty"` // hash of what a provider caches first: system prompt, tools, settings
	Reach        int       `json:"e,omitempty"` // items of the whole request, if it has edits behind the prefix; else 0
	ReachLink    []byte    `json:"f,omitempty"` // chain link of all those items; other requests do not get these edits

	OtherModel bool   `json:"-"` // it was recorded for another model or upstream
	Key        string `json:"-"` // DecisionKey under which it was recorded

	stored []byte // the record, by which Record notices that another one has replaced it
}

// Lane is what requests must have in common to share decisions. Requests in different scopes share nothing.
type Lane struct{ Scope, Dialect, Upstream, Model string }

// Ledger keeps decisions in a store. Its methods may be called from any goroutine.
type Ledger struct {
	store store.Store
	keep  time.Duration

	mu    sync.Mutex
	lists map[string]cachedList // by name
}

// cachedList is a recorded list, kept in memory because each request of a conversation needs it.
type cachedList struct {
	edits   []Edit    // with the edits of the lists that it adds to
	touched time.Time // when Touch last renewed it in the store; zero if it was only read or written
}

// New returns a ledger in which decisions live for keep after they were last used.
func New(s store.Store, keep time.Duration) *Ledger {
	return &Ledger{store: s, keep: keep, lists: map[string]cachedList{}}
}

// Overlay returns a ledger with all decisions of this one that writes to notes alone, to try what would be decided.
func (l *Ledger) Overlay(notes store.Store) *Ledger { return New(overlay{notes, l.store}, l.keep) }

// overlay reads from the embedded store, else from the one below, and writes to the embedded one.
type overlay struct {
	store.Store
	below store.Store
}

func (o overlay) Get(key string) (value []byte, found bool, err error) {
	if value, found, err = o.Store.Get(key); found || err != nil {
		return value, found, err
	}
	return o.below.Get(key)
}

func (o overlay) PutIfAbsent(key string, value []byte, keep time.Duration) ([]byte, error) {
	if there, found, err := o.Get(key); found || err != nil {
		return there, err
	}
	return o.Store.PutIfAbsent(key, value, keep)
}

func (o overlay) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	there, found, err := o.Get(key)
	if err != nil || !found || !bytes.Equal(there, old) {
		return there, err
	}
	return value, o.Store.Put(key, value, keep)
}

// Hash returns a name for a list of parts: 27 letters, digits, "-" and "_". Other lists have other names.
func Hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:20])
}

// DecisionKey returns the store's key of the decision for a prefix, which At takes.
func (l Lane) DecisionKey(prefix conversation.Link) string {
	return "d" + Hash(l.Scope, l.Upstream, l.Model, l.Dialect, string(prefix[:]))
}

// firstKey returns the key of a fact that holds the DecisionKey of the first decision for a prefix, of any model at any
// upstream. So one look-up tells whether a prefix has decisions at all, and where a model without one can start.
func (l Lane) firstKey(prefix conversation.Link) string {
	return "f" + Hash(l.Scope, l.Dialect, string(prefix[:]))
}

// nextKey returns the key of a fact that holds a link: that of prefix and one item more, in the first request that had
// more items than prefix. A request with another item there has branched off (see Name).
func (l Lane) nextKey(prefix conversation.Link) string {
	return "n" + Hash(l.Scope, l.Dialect, string(prefix[:]))
}

// lookedAtEach is how many of the longest prefixes Find looks up one by one. Of shorter ones it skips more and more, to
// spend few look-ups on a long conversation without decisions. It may thus miss one, and find that of a shorter prefix.
const lookedAtEach = 40

// Find returns the decision of the deepest recorded prefix. ends are the lengths, in items, of the prefixes that may
// have one, longest first. Where the lane has no decision, Find returns one of another model or upstream in the same
// scope and dialect; where these have none either, a decision without items.
func (l *Ledger) Find(lane Lane, chain []conversation.Link, ends []int) (Decision, error) {
	var other Decision
	for i := 0; i < len(ends); i += 1 + max(0, i-lookedAtEach)/8 { // the step grows by 1 with every 8 prefixes
		prefix := chain[ends[i]]
		first, found, err := l.store.Get(lane.firstKey(prefix))
		if err != nil {
			return Decision{}, fmt.Errorf("cannot look for a decision: %w", err)
		}
		if !found {
			continue
		}
		if d, found, err := l.At(lane.DecisionKey(prefix)); err != nil || found {
			return d.forRequest(chain), err
		}
		if other.Items == 0 { // else other is of a longer prefix; the lane's own decision is still looked for
			if other, other.OtherModel, err = l.At(string(first)); err != nil { // OtherModel is true if one is found
				return Decision{}, err
			}
		}
	}
	return other.forRequest(chain), nil
}

// forRequest returns d as it holds for the request with that chain. If the request has the items behind the prefix that
// d edits, d is the decision for these items too. Else d loses their edits, and its list, which still has them.
func (d Decision) forRequest(chain []conversation.Link) Decision {
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

// At returns the decision under a key, with all its edits. If the record or one of its lists is lost or cannot be read,
// the decision counts as not found, so that Find takes that of a shorter prefix.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	record, found, err := l.store.Get(key)
	if err != nil {
		return d, false, fmt.Errorf("cannot look for a decision: %w", err)
	}
	if !found || json.Unmarshal(record, &d) != nil {
		return Decision{}, false, nil
	}
	if d.Edits, found, err = l.readList(d.List); err != nil || !found {
		return Decision{}, false, err
	}
	d.stored, d.Key = record, key
	return d, true, nil
}

// readList returns the edits of a list, with those of the lists that it adds to.
func (l *Ledger) readList(name string) (edits []Edit, found bool, err error) {
	if name == "" { // a decision without edits, or the end of the lists that add to each other
		return nil, true, nil
	}
	l.mu.Lock()
	list, found := l.lists[name]
	l.mu.Unlock()
	if found {
		return list.edits, true, nil
	}
	value, found, err := l.store.Get(name)
	if err != nil {
		return nil, false, fmt.Errorf("cannot look for edits: %w", err)
	}
	var own editList
	if !found || json.Unmarshal(value, &own) != nil {
		return nil, false, nil
	}
	base, found, err := l.readList(own.Base)
	if err != nil || !found {
		return nil, false, err
	}
	edits = Add(base, own.Edits...)
	l.remember(name, cachedList{edits: edits})
	return edits, true, nil
}

func (l *Ledger) remember(name string, list cachedList) {
	const most = 1_000 // lists; a full cache is emptied, as lists are read again at little cost
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lists) >= most {
		clear(l.lists)
	}
	l.lists[name] = list
}

// Record writes d, with more edits added, as the decision for the first d.Items items of the chain. If the prefix has
// a decision already, as an equal request was faster, that one stays: it is returned, and won is false. With replace, d
// takes the place of that decision, except where d was read from this very prefix and another request has replaced
// its decision since.
func (l *Ledger) Record(
	lane Lane, chain []conversation.Link, d Decision, added []Edit, replace bool,
) (standing Decision, won bool, err error) {
	prefix, all := chain[d.Items], len(chain)-1 // all: items of the whole request
	if err := l.writeList(&d, added); err != nil {
		return Decision{}, false, fmt.Errorf("cannot record edits: %w", err)
	}
	d.Reach, d.ReachLink = 0, nil
	if slices.ContainsFunc(d.Edits, func(e Edit) bool { return e.End() > d.Items }) {
		d.Reach, d.ReachLink = all, chain[all][:]
	}
	key := lane.DecisionKey(prefix)
	_, err = l.store.PutIfAbsent(lane.firstKey(prefix), []byte(key), l.keep)
	value, _ := json.Marshal(d) // plain data
	var there []byte            // the record to be replaced; the first attempt writes only if there is none
	for err == nil {
		if there == nil {
			there, err = l.store.PutIfAbsent(key, value, l.keep)
		} else {
			there, err = l.store.Swap(key, there, value, l.keep)
		}
		if err == nil && bytes.Equal(there, value) {
			d.stored, d.Key = value, key
			return d, true, nil
		}
		readable := false
		if err == nil {
			standing, readable, err = l.At(key)
		}
		if readable && (!replace || d.Key == key && !bytes.Equal(d.stored, standing.stored)) { // else it is replaced now
			return standing.forRequest(chain), false, nil
		}
	}
	return Decision{}, false, fmt.Errorf("cannot record a decision: %w", err)
}

// writeList adds edits to d, and stores a list that has all edits of d. Without new edits the list of d stays.
func (l *Ledger) writeList(d *Decision, added []Edit) (err error) {
	const maxMerged = 32 << 10 // bytes up to which a list holds all edits, so that a decision has few lists to read
	d.Edits, d.Added = Add(d.Edits, added...), len(added)
	if len(d.Edits) == 0 || len(added) == 0 && d.List != "" {
		return nil
	}
	all, _ := json.Marshal(d.Edits) // plain data
	if d.List == "" || len(all) <= maxMerged {
		d.List, added = "", d.Edits
	}
	if d.List, err = l.putList(d.List, added); err == nil {
		l.remember(d.List, cachedList{edits: d.Edits})
	}
	return err
}

// putList stores the list that adds edits to the list base, and returns its name. A large list becomes several.
func (l *Ledger) putList(base string, added []Edit) (name string, err error) {
	const maxList = 512 << 10 // bytes: a store takes values of less than 1 MiB
	value, _ := json.Marshal(editList{base, added})
	if half := len(added) / 2; len(value) > maxList && half > 0 { // a single edit cannot be divided
		if base, err = l.putList(base, added[:half]); err != nil {
			return "", err
		}
		return l.putList(base, added[half:]) // adds to the list of the first half
	}
	name = "l" + Hash(string(value))
	_, err = l.store.PutIfAbsent(name, value, l.keep)
	return name, err
}

// Name returns the ID of a request's conversation. d must be the request's deepest decision. Without one the ID is a
// hash of the first head items, those before the model speaks. A request that continues the prefix of d like the first
// one to do so stays in the conversation of d. Any other begins a new conversation, and parent is the ID of d's.
func (l *Ledger) Name(lane Lane, chain []conversation.Link, head int, d Decision) (id, parent string, err error) {
	if d.Items == 0 || d.Conversation == "" { // no ID: the ledger had failed when d was made
		return idOf(lane.Scope, lane.Dialect, string(chain[head][:])), "", nil
	}
	if d.Items == len(chain)-1 { // the request is the prefix itself: there is no item by which it could branch off
		return d.Conversation, "", nil
	}
	next := chain[d.Items+1]
	first, err := l.store.PutIfAbsent(lane.nextKey(chain[d.Items]), next[:], l.keep)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("cannot record how a conversation goes on: %w", err)
	case bytes.Equal(first, next[:]): // this request is the first that continues d, or continues it alike
		return d.Conversation, "", nil
	}
	return idOf(d.Conversation, string(next[:])), d.Conversation, nil
}

// idOf returns the ID of a conversation, as people see it: 16 hexadecimal digits.
func idOf(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// Touch renews the lists of a decision, so that they live for keep from now. If their last renewal is recent, it does
// nothing and returns false. After true, the artifacts of the edits must be renewed as well.
func (l *Ledger) Touch(d Decision, now time.Time) (due bool) {
	const every = 10 * time.Minute // or less, so that a list with a short keep is renewed long before it expires
	l.mu.Lock()
	last := l.lists[d.List].touched
	l.mu.Unlock()
	now = now.Round(0)                                       // without the monotonic clock
	isRecent := now.Sub(last).Abs() <= min(l.keep/32, every) // last is in the future if the clock was set back
	if isRecent && d.List != "" {                            // edits without a list (see forRequest) have no last renewal
		return false
	}
	l.remember(d.List, cachedList{d.Edits, now})
	for name := d.List; name != ""; {
		_ = l.store.Touch(name, l.keep) // a list that cannot be touched expires earlier, and is decided anew
		value, _, _ := l.store.Get(name)
		var own editList
		_ = json.Unmarshal(value, &own) // a list that cannot be read has no Base, which ends the loop
		name = own.Base
	}
	return true
}

// Binds reports whether a refusal has shown that a model accepts its thinking only behind an unchanged prefix.
func (l *Ledger) Binds(upstream, model string) bool {
	_, found, _ := l.store.Get("t" + Hash(upstream, model)) // of all scopes: it tells nothing of a conversation
	return found
}

// LearnBinds records such a refusal, so that Binds reports it from now on.
func (l *Ledger) LearnBinds(upstream, model string) error {
	_, err := l.store.PutIfAbsent("t"+Hash(upstream, model), []byte{1}, l.keep)
	return err
}
