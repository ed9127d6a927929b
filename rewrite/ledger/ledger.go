// Package ledger records which edits were sent for a prefix of a conversation, and finds them again.
//
// An edit is recorded as text, never as a rule, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins, and the other adopts its decision.
// Each edit is a record of its own, named by its content, and the record of a decision lists these names. Decisions
// belong to a model at an upstream; a model without one starts from another model's.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/store"
)

// Decision is all edits for a prefix, and what later requests must know about the request that was sent with them.
type Decision struct {
	Items        int       `json:"n"`           // length of the prefix, in items
	Names        []string  `json:"l,omitempty"` // of the recorded Edits
	Added        int       `json:"b,omitempty"` // how many of Edits, the last ones, this decision added
	Ratio        float64   `json:"r,omitempty"` // how many tokens of the model one token of the vocabulary is
	Edits        []Edit    `json:"-"`
	Conversation string    `json:"c"`            // ID of the conversation
	Sent         time.Time `json:"d"`            // when the request was sent: after a pause the provider's cache is cold
	Touched      time.Time `json:"t,omitzero"`   // when the life of the edits and their artifacts was prolonged last
	Tokens       int       `json:"k,omitempty"`  // of the model, sent since the last compaction; users set budgets for it
	Compacted    int       `json:"q,omitempty"`  // answers of the model that there were at the last compaction
	Waits        bool      `json:"y,omitempty"`  // the user was told that a budget calls for a compaction that cannot be made
	Ahead        int       `json:"a,omitempty"`  // index of the item up to which a summary was begun ahead of need
	Leading      string    `json:"h,omitempty"`  // hash of what a provider caches first: system prompt, tools, settings
	Undone       bool      `json:"v,omitempty"`  // the user took its edits back (Restore); Edits has them all the same
	Restored     int       `json:"z,omitempty"`  // items that the user wants whole since then, as far as they fit
	Refused      bool      `json:"x,omitempty"`  // the provider refused edits, not for size: none are made while all fits
	Pictures     int       `json:"p,omitempty"`  // how many were refused as too many or too large; 0: none
	Warned       bool      `json:"w,omitempty"`  // the user was told that compaction cannot help (event.CodeOverhead)
	NearlyFull   bool      `json:"nf,omitempty"` // the user was told that newest_messages will leave out messages

	OtherModel bool   `json:"-"` // it was recorded for another model or upstream
	Key        string `json:"-"` // DecisionKey under which it was recorded

	stored []byte // the record, by which Record notices that another one has replaced it
}

// Undo takes the edits of messages out of d and returns them. What is added to the system prompt, or mends pairs, stays.
func (d *Decision) Undo() (undone []Edit) {
	edits := d.Edits
	d.Edits = nil
	for _, e := range edits {
		if e.Op == AppendSystem || e.Why == event.CodeUnpaired {
			d.Edits = append(d.Edits, e)
		} else {
			undone = append(undone, e)
		}
	}
	return undone
}

// Lane is what requests must have in common to share decisions. Requests in different scopes share nothing.
type Lane struct{ Scope, Dialect, Upstream, Model string }

// Ledger keeps decisions in a store. Its methods may be called from any goroutine.
type Ledger struct {
	store store.Store
	keep  time.Duration
}

// New returns a ledger in which decisions live for keep after they were last used.
func New(s store.Store, keep time.Duration) *Ledger { return &Ledger{store: s, keep: keep} }

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

func (o overlay) GetMany(keys []string) ([][]byte, error) {
	values, err := o.below.GetMany(keys)
	for i := range values {
		if own, found, _ := o.Store.Get(keys[i]); found {
			values[i] = own
		}
	}
	return values, err
}

func (o overlay) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	there, _, err := o.Get(key)
	if err != nil || !bytes.Equal(there, old) {
		return there, err
	}
	own, _, _ := o.Store.Get(key)
	return o.Store.Swap(key, own, value, keep)
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

// shared returns the key of a fact about a prefix that holds for all models and upstreams. firstFact holds the
// DecisionKey of the first decision for the prefix: one look-up tells whether it has decisions at all, and where a
// model without one can start. nextFact holds a link: that of prefix and one item more, in the first request that had
// more items than prefix. A request with another item there has branched off (see Name).
func (l Lane) shared(fact string, prefix conversation.Link) string {
	return fact + Hash(l.Scope, l.Dialect, string(prefix[:]))
}

const firstFact, nextFact = "f", "n"

// lookedAtEach is how many of the longest prefixes Find looks up one by one. Of shorter ones it skips more and more, to
// spend few look-ups on a long conversation without decisions. It may thus miss one, and find that of a shorter prefix.
const lookedAtEach = 40

// Find returns the decision of the deepest recorded prefix. ends are the lengths, in items, of the prefixes that may
// have one, longest first. Where the lane has no decision, Find returns one of another model or upstream in the same
// scope and dialect; where these have none either, a decision without items. Edits that known has in the same place are
// not read again.
func (l *Ledger) Find(lane Lane, chain []conversation.Link, ends []int, known []Edit) (Decision, error) {
	var other Decision
	for i := 0; i < len(ends); i += 1 + max(0, i-lookedAtEach)/8 { // the step grows by 1 with every 8 prefixes
		prefix := chain[ends[i]]
		first, found, err := l.store.Get(lane.shared(firstFact, prefix))
		if err != nil {
			return Decision{}, fmt.Errorf("cannot look for a decision: %w", err)
		}
		if !found {
			continue
		}
		if d, found, err := l.read(lane.DecisionKey(prefix), known); err != nil || found {
			return d, err
		}
		if other.Items == 0 { // else other is of a longer prefix; the lane's own decision is still looked for
			if other, other.OtherModel, err = l.read(string(first), known); err != nil { // OtherModel is true if one is found
				return Decision{}, err
			}
		}
	}
	return other, nil
}

// At returns the decision under a key, with all its edits.
func (l *Ledger) At(key string) (d Decision, found bool, err error) { return l.read(key, nil) }

// read returns the decision under a key. If its record or one of its edits is lost or cannot be read, the decision
// counts as not found, so that Find takes that of a shorter prefix.
func (l *Ledger) read(key string, known []Edit) (d Decision, found bool, err error) {
	record, found, err := l.store.Get(key)
	if err != nil {
		return d, false, fmt.Errorf("cannot look for a decision: %w", err)
	}
	if !found || json.Unmarshal(record, &d) != nil {
		return Decision{}, false, nil
	}
	for i, name := range d.Names {
		if i < len(known) && known[i].Name == name {
			d.Edits = append(d.Edits, known[i])
			continue
		}
		value, found, err := l.store.Get(name)
		if err != nil {
			return Decision{}, false, fmt.Errorf("cannot look for edits: %w", err)
		}
		e := Edit{Name: name}
		if !found || json.Unmarshal(value, &e) != nil {
			return Decision{}, false, nil
		}
		d.Edits = append(d.Edits, e)
	}
	d.stored, d.Key = record, key
	return d, true, nil
}

// Record writes d, with more edits added, as the decision for the first d.Items items of the chain. If the prefix has
// a decision already, as an equal request was faster, that one stays: it is returned, and won is false. With replace, d
// takes the place of that decision, except where d was read from this very prefix and another request has replaced
// its decision since.
func (l *Ledger) Record(
	lane Lane, chain []conversation.Link, d Decision, added []Edit, replace bool,
) (standing Decision, won bool, err error) {
	prefix := chain[d.Items]
	if err := l.writeEdits(&d, added); err != nil {
		return Decision{}, false, fmt.Errorf("cannot record edits: %w", err)
	}
	key := lane.DecisionKey(prefix)
	_, err = l.store.Swap(lane.shared(firstFact, prefix), nil, []byte(key), l.keep)
	value, _ := json.Marshal(d) // plain data
	var there []byte            // the record to be replaced; the first attempt writes only if there is none
	for err == nil {
		there, err = l.store.Swap(key, there, value, l.keep)
		if err == nil && bytes.Equal(there, value) {
			d.stored, d.Key = value, key
			return d, true, nil
		}
		readable := false
		if err == nil {
			standing, readable, err = l.At(key)
		}
		if readable && (!replace || d.Key == key && !bytes.Equal(d.stored, standing.stored)) { // else it is replaced now
			return standing, false, nil
		}
	}
	return Decision{}, false, fmt.Errorf("cannot record a decision: %w", err)
}

// writeEdits adds edits to those of d, and stores each edit that has no name yet.
func (l *Ledger) writeEdits(d *Decision, added []Edit) error {
	d.Edits, d.Added, d.Names = Add(d.Edits, added...), len(added), nil
	for k := range d.Edits {
		e := &d.Edits[k]
		if e.Name == "" {
			value, _ := json.Marshal(e) // plain data
			name := "e" + Hash(string(value))
			if _, err := l.store.Swap(name, nil, value, l.keep); err != nil {
				return err
			}
			e.Name = name
		}
		d.Names = append(d.Names, e.Name)
	}
	return nil
}

// Restore marks the decision under a key as Undone: requests that continue its prefix are to be sent without its edits.
// It returns how many these are; 0 if there are none, or if the decision is not known or is Undone already.
func (l *Ledger) Restore(key string) (edits int, err error) {
	for {
		d, found, err := l.At(key)
		edits = len(d.Undo())
		if err != nil || !found || d.Undone || edits == 0 {
			return 0, err
		}
		d.Undone = true
		value, _ := json.Marshal(d) // plain data
		there, err := l.store.Swap(key, d.stored, value, l.keep)
		if err != nil || bytes.Equal(there, value) { // else another decision has just taken its place
			return edits, err
		}
	}
}

// Name returns the ID of a request's conversation. d must be the request's deepest decision. Without one the ID is a
// hash of the first head items, those before the model speaks. A request that continues the prefix of d like the first
// one to do so stays in the conversation of d. Any other begins a new conversation, and parent is the ID of d's. With an
// error the ID is that of d.
func (l *Ledger) Name(lane Lane, chain []conversation.Link, head int, d Decision) (id, parent string, err error) {
	if d.Items == 0 || d.Conversation == "" { // no ID: the ledger had failed when d was made
		return idOf(lane.Scope, lane.Dialect, string(chain[head][:])), "", nil
	}
	if d.Items == len(chain)-1 { // the request is the prefix itself: there is no item by which it could branch off
		return d.Conversation, "", nil
	}
	next := chain[d.Items+1]
	first, err := l.store.Swap(lane.shared(nextFact, chain[d.Items]), nil, next[:], l.keep)
	switch {
	case err != nil:
		return d.Conversation, "", fmt.Errorf("cannot record how a conversation goes on: %w", err)
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

// IsStale reports whether the edits of a decision have to be touched, long before they expire. Their artifacts are due
// at the same time.
func (l *Ledger) IsStale(d Decision, now time.Time) bool {
	const every = 10 * time.Minute                                   // or less where edits are kept for a short time
	return now.Round(0).Sub(d.Touched).Abs() > min(l.keep/32, every) // in the future if the clock was set back
}

// Touch prolongs the life of an edit. One that cannot be touched expires earlier, and its items are decided anew.
func (l *Ledger) Touch(e *Edit) { _ = l.store.Touch(e.Name, l.keep) }

// Binds reports whether a refusal has shown that a model accepts its thinking only behind an unchanged prefix, or may
// have shown it: if the store fails, thinking is better left out once than refused again.
func (l *Ledger) Binds(upstream, model string) bool {
	_, found, err := l.store.Get("t" + Hash(upstream, model)) // of all scopes: it tells nothing of a conversation
	return found || err != nil
}

// LearnBinds records such a refusal, so that Binds reports it from now on. If that fails, another refusal is needed.
func (l *Ledger) LearnBinds(upstream, model string) {
	_, _ = l.store.Swap("t"+Hash(upstream, model), nil, []byte{1}, l.keep)
}
