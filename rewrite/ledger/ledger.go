// Package ledger records which edits were sent for a prefix of a conversation, and finds them again.
//
// An edit is recorded as text, never as a rule, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins, and the other adopts its decision.
//
// A conversation is known by its items: its system prompt, its tools and its model may change, and its edits are taken
// over. Those with equal items are told apart by prompt and tools: see ofConversation.
// Each prefix has one record; those of a request's newest prefixes are read at once.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"epitome/dialect/conversation"
	"epitome/rewrite/view"
	"epitome/store"
)

// Ledger keeps decisions in a store. Its methods may be called from any goroutine.
type Ledger struct {
	store store.Store
	keep  time.Duration
}

// New returns a ledger in which decisions live for keep after they were last used.
func New(s store.Store, keep time.Duration) *Ledger { return &Ledger{store: s, keep: keep} }

// Overlay returns a ledger with all decisions of this one that writes to notes alone, to try what would be decided.
func (l *Ledger) Overlay(notes store.Store) *Ledger { return New(overlay{notes, l.store}, l.keep) }

// Binds reports whether a refusal has shown that a model accepts its thinking only behind an unchanged prefix, or may
// have shown it: if the store fails, thinking is better left out once than refused again.
func (l *Ledger) Binds(upstream, model string) bool {
	fact, err := store.Get(l.store, "t"+Hash(upstream, model)) // of all scopes: it tells nothing of a conversation
	return fact != nil || err != nil
}

// LearnBinds records such a refusal, so that Binds reports it from now on. If that fails, another refusal is needed.
func (l *Ledger) LearnBinds(upstream, model string) {
	_, _ = l.store.Swap("t"+Hash(upstream, model), nil, []byte{1}, l.keep)
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

// idOf returns the ID of a conversation, as people see it: 16 hexadecimal digits.
func idOf(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", parts)))[:16]
}

// Find returns the decision to go on from, by rank: mostly the model's own for the longest prefix that has one. It
// has the ID of the request's conversation. Edits of known are not read again. If there is none, or after an error,
// the decision has no Items.
func (l *Ledger) Find(r Request, known Decision) (Decision, error) {
	const few, newest = 4, 32 // prefixes: mostly the request is a turn longer than the one before
	for _, n := range []int{few, newest} {
		if n >= len(r.Ends) {
			break
		}
		d, err := l.findAmong(&r, r.Ends[:n], known)
		// If it is the best one, none for a shorter prefix is better.
		isBest := r.rank(&d) == best && (d.Items < r.End || d.Leading == r.Leading)
		if err != nil || d.Items > 0 && (n == newest || isBest) {
			return d, err
		}
	}
	return l.findAmong(&r, r.Ends, known)
}

// findAmong is Find for the prefixes of those lengths. It skips decisions of which any edit is lost.
func (l *Ledger) findAmong(r *Request, ends []int, known Decision) (Decision, error) {
	var keys []string
	for _, n := range ends {
		keys = append(keys, r.recordKey(n))
	}
	records, err := l.store.GetMany(keys)
	if err != nil {
		return r.New(), err
	}
	var list []Decision
	for i, record := range records {
		list = append(list, parse(record, keys[i])...)
	}
	list = r.ofConversation(list)
	slices.SortStableFunc(list, r.compare)
	for _, d := range list {
		isWhole, err := l.readEdits(&d, known)
		if err != nil {
			return r.New(), err
		}
		if isWhole {
			d.OtherModel = !r.isOwnModel(&d)
			for _, o := range list { // the ID by which the conversation is known now, maybe as another model's
				if o.Opening == d.Opening && o.Additions == d.Additions && o.Items > d.from {
					d.from, d.Conversation = o.Items, o.Conversation
				}
			}
			return d, nil
		}
	}
	return r.New(), nil
}

// parse returns the decisions of a record, without their edits, the newest first; none if it cannot be read.
func parse(record []byte, key string) (list []Decision) {
	if json.Unmarshal(record, &list) != nil {
		return nil
	}
	for i := range list {
		list[i].Key, list[i].from = list[i].keyIn(key), list[i].Items
	}
	return list
}

// readEdits reads the edits of d, which was just parsed, but for those of known. It returns false if any is lost.
func (l *Ledger) readEdits(d *Decision, known Decision) (isWhole bool, err error) {
	switch d.List {
	case "":
		return true, nil
	case known.List:
		d.Edits, d.stored = known.stored, known.stored
		return true, nil
	}
	var names []string
	list, err := store.Get(l.store, d.List)
	if err != nil || json.Unmarshal(list, &names) != nil {
		return false, err
	}
	edits := map[string]view.Edit{}
	for _, e := range known.stored {
		edits[e.Name] = e
	}
	isKnown := func(name string) bool { return edits[name].Name != "" }
	unknown := slices.DeleteFunc(slices.Clone(names), isKnown)
	values, err := l.store.GetMany(unknown)
	for i, value := range values {
		e := view.Edit{Name: unknown[i]}
		if json.Unmarshal(value, &e) != nil {
			return false, nil
		}
		edits[e.Name] = e
	}
	for _, name := range names {
		d.Edits = append(d.Edits, edits[name])
	}
	d.stored = d.Edits
	return err == nil, err
}

// At returns the decision under a key, with all its edits.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	record, err := store.Get(l.store, recordOf(key))
	for _, d := range parse(record, recordOf(key)) {
		if d.Key == key {
			found, err = l.readEdits(&d, Decision{})
			return d, found, err
		}
	}
	return Decision{}, false, err
}

// With returns the conversations that have an artifact for models, by the Hash of the ID, each with the key of the
// decision that named it first, but for those that branched off from one of them afterwards. Of several conversations
// it returns two. One that was forgotten may be among them, as others may have branched off from it.
func (l *Ledger) With(artifact string) (first map[string]string, err error) {
	fact, err := store.Get(l.store, artifact)
	first = map[string]string{}
	for line := range strings.Lines(string(fact)) {
		conversation, key, _ := strings.Cut(line, " ")
		first[conversation] = strings.TrimSpace(key)
	}
	return first, err
}

// addTo adds a decision under a key to what With returns for an artifact.
func (l *Ledger) addTo(artifact, conversation, key string) error {
	conversation = Hash(conversation)
	line := fmt.Appendf(nil, "%s %s\n", conversation, key)
	there, err := l.store.Swap(artifact, nil, line, l.keep)
	if err == nil && bytes.Count(there, []byte("\n")) == 1 && !bytes.HasPrefix(there, []byte(conversation)) {
		// Of another two that add themselves now, one is enough.
		_, err = l.store.Swap(artifact, there, slices.Concat(there, line), l.keep)
	}
	return err
}

// Restore marks the decision under a key as Undone: requests that continue its prefix are to be sent without its edits.
// It returns how many these are; 0 if there are none, or if the decision is not known or is Undone already.
func (l *Ledger) Restore(key string) (edits int, err error) {
	err = l.update(key, func(old *Decision) (*Decision, error) {
		edits = 0
		if old == nil || old.Undone {
			return old, nil
		}
		d := *old
		isWhole, err := l.readEdits(&d, Decision{})
		if isWhole {
			edits = len(d.Undo())
		}
		if edits == 0 {
			return old, err
		}
		d.Undone = true
		return &d, nil
	})
	return edits, err
}

// Forget removes the decisions under keys, and edits and what With returns for artifacts by their names. Lists of names
// stay until they expire.
func (l *Ledger) Forget(keys, names []string) error {
	for _, key := range keys {
		err := l.update(key, func(*Decision) (*Decision, error) { return nil, nil })
		if err != nil {
			return fmt.Errorf("cannot forget a decision: %w", err)
		}
	}
	return l.store.Delete(names...)
}

// update is change for a decision that is likely to be there.
func (l *Ledger) update(key string, to func(old *Decision) (*Decision, error)) error {
	record, err := store.Get(l.store, recordOf(key))
	if err == nil {
		_, err = l.change(key, record, to)
	}
	return err
}

// mostAlike is how many decisions for one prefix are kept: many conversations may have the same first request.
const mostAlike = 128

// change puts the decision that to returns in the place of the old one under a key, and reports whether it has; nil is
// none. Nothing is written if to returns the old one. If the record, which was read before, is replaced meanwhile, to
// is called once more. A record without decisions goes: in an Overlay it would hide the one below.
func (l *Ledger) change(key string, record []byte,
	to func(old *Decision) (*Decision, error)) (changed bool, err error) {
	for {
		var old *Decision
		var list []Decision // of the others
		for _, d := range parse(record, recordOf(key)) {
			if d.Key == key {
				old = &d
			} else {
				list = append(list, d)
			}
		}
		d, err := to(old)
		if err != nil || d == old {
			return false, err
		}
		if d != nil {
			list = slices.Insert(list, 0, *d)
		}
		value, _ := json.Marshal(list[:min(len(list), mostAlike)]) // plain data
		there, err := l.store.Swap(recordOf(key), record, value, l.keep)
		if err == nil && !bytes.Equal(there, value) {
			record = there
			continue
		}
		if err == nil && len(list) == 0 {
			err = l.store.Delete(recordOf(key))
		}
		return err == nil, err
	}
}

// recordOf returns the key of the record that has the decision with a key.
func recordOf(key string) string {
	record, _, _ := strings.Cut(key, "/")
	return record
}

// IsStale reports whether the edits of a decision have to be touched, long before they expire. Their artifacts are due
// at the same time.
func (l *Ledger) IsStale(d Decision, now time.Time) bool {
	const every = 10 * time.Minute                                   // or less where edits are kept for a short time
	return now.Round(0).Sub(d.Touched).Abs() > min(l.keep/32, every) // in the future if the clock was set back
}

// atOnce is how many calls of the store run at the same time, for one request: mostly all that it has.
const atOnce = 64

// Touch prolongs the life of a decision's edits. Those that cannot be touched expire earlier, and their items are
// decided anew.
func (l *Ledger) Touch(d Decision) {
	if d.List == "" {
		return
	}
	var work store.Calls
	work.SetLimit(atOnce)
	touch := func(key string) { work.Go(func() error { return l.store.Touch(key, l.keep) }) }
	touch(d.List)
	for _, e := range d.stored {
		touch(e.Name)
		if len(e.Artifacts) > 0 {
			touch(e.Artifacts[0])
		}
	}
	_ = work.Wait()
}

// Record writes d as the decision for the first d.Items items of the request for which it was found. If there is one
// already, as an equal request was faster, that one stays: it is returned, and won is false. With replace, d takes the
// place of that decision, except where d was found for this very prefix and another request has replaced its decision
// since. The decision that is returned has the ID of the conversation, see branch.
func (l *Ledger) Record(r Request, d Decision, replace bool) (standing Decision, won bool, err error) {
	found, list := d.Key, d.List
	d = r.Own(d)
	key := r.Key(d)
	err = l.putEdits(&d, key)
	if err == nil {
		l.branch(&r, &d)
		d.Key, d.from = key, d.Items
		won, err = l.change(key, nil, func(old *Decision) (*Decision, error) {
			if old == nil {
				return &d, nil
			}
			standing = *old
			isWhole, err := l.readEdits(&standing, d)
			isNews := old.Key == found && old.List != list
			if err != nil || isWhole && (!replace || isNews) {
				return old, err
			}
			return &d, nil // a decision that has lost edits is replaced
		})
	}
	if err != nil {
		return Decision{}, false, fmt.Errorf("cannot record a decision: %w", err)
	}
	if won {
		standing = d
	}
	return standing, won, nil
}

// branch sets the ID of the conversation of a request for which d was found. The first request that continues a prefix,
// and those that continue it alike, stay in its conversation. Any other begins a new one: it has a Parent. If the store
// fails, the request stays in the conversation: the decision is worth more than its ID.
func (l *Ledger) branch(r *Request, d *Decision) {
	end := min(d.Items, r.End) // the client may take back what is behind, as a reminder
	if d.from == 0 || d.from >= end {
		return
	}
	next := r.Chain[end] // with the next answer: the user may have it made again behind the same words
	key := "n" + Hash(r.Scope, r.Dialect, d.Conversation, string(r.Chain[d.from][:]))
	first, err := l.store.Swap(key, nil, next[:], l.keep)
	isAlike := func(l conversation.Link) bool { return bytes.Equal(first, l[:]) } // the first one may have been shorter
	if err == nil && !slices.ContainsFunc(r.Chain[d.from+1:end+1], isAlike) {
		d.Parent, d.Conversation = d.Conversation, idOf(d.Conversation, string(next[:]))
	}
}

// putEdits stores the edits of d, which has a key, that have no name yet, and the list of all names, unless the store
// has the same list already.
func (l *Ledger) putEdits(d *Decision, key string) error {
	isSame := func(a, b view.Edit) bool { return a.Name == b.Name }
	if slices.EqualFunc(d.Edits, d.stored, isSame) {
		return nil
	}
	var work store.Calls
	work.SetLimit(atOnce)
	put := func(kind string, v any) (key string) {
		value, _ := json.Marshal(v) // plain data
		key = kind + Hash(string(value))
		work.Go(func() error {
			_, err := l.store.Swap(key, nil, value, l.keep) // one that is there is the same
			return err
		})
		return key
	}
	d.Edits = slices.Clone(d.Edits) // others may share them
	var names []string
	for k := range d.Edits {
		e := &d.Edits[k]
		if e.Name == "" {
			e.Name = put("e", e)
			if len(e.Artifacts) > 0 { // the first one is that for models
				work.Go(func() error { return l.addTo(e.Artifacts[0], d.Conversation, key) })
			}
		}
		names = append(names, e.Name)
	}
	d.List, d.stored = "", d.Edits
	if len(names) > 0 {
		d.List = put("l", names)
	}
	return work.Wait()
}

// overlay reads from the embedded store, else from the one below, and writes to the embedded one.
type overlay struct {
	store.Store
	below store.Store
}

func (o overlay) GetMany(keys []string) ([][]byte, error) {
	values, err := o.Store.GetMany(keys)
	if err != nil {
		return nil, err
	}
	below, err := o.below.GetMany(keys)
	for i := range below {
		if values[i] != nil {
			below[i] = values[i]
		}
	}
	return below, err
}

func (o overlay) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	there, err := store.Get(o, key)
	if err != nil || !bytes.Equal(there, old) {
		return there, err
	}
	own, _ := store.Get(o.Store, key)
	return o.Store.Swap(key, own, value, keep)
}
