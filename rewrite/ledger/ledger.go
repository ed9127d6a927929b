// Package ledger records which edits were sent for a prefix of a conversation, and finds them again.
//
// An edit is recorded as text, never as a rule, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins, and the other adopts its decision.
//
// A conversation is known by its items: its system prompt, its tools and its model may change, and its edits are taken
// over. Those with equal items are told apart by prompt and tools: see apart.
// Each prefix has one record; those of a request's newest prefixes are read at once.
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

	"golang.org/x/sync/errgroup"

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
	_, found, err := l.store.Get("t" + Hash(upstream, model)) // of all scopes: it tells nothing of a conversation
	return found || err != nil
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
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// Find returns the decision to go on from, by rank: mostly the model's own for the longest prefix that has one. It
// has the ID of the request's conversation. Edits and lists of known are not read again. If there is none, or after
// an error, the decision has no Items.
func (l *Ledger) Find(r Request, known Decision) (Decision, error) {
	const newest = 32 // prefixes that are read first
	few := newest
	if known.record != nil {
		few = 4 // mostly the request is a turn longer than the one before
	}
	var d Decision
	var list []Decision
	read := 0 // of r.Ends
	for _, upTo := range []int{few, newest, len(r.Ends)} {
		upTo = min(upTo, len(r.Ends))
		more, err := l.decisions(&r, r.Ends[read:upTo], known.record)
		list = append(list, more...)
		read = upTo
		if err == nil {
			d, err = l.best(&r, list, known)
		}
		if err != nil {
			return r.New(), fmt.Errorf("cannot look for a decision: %w", err)
		}
		isLast := read == len(r.Ends) || read == newest && len(list) > 0
		if isLast || r.isBest(&d) {
			break
		}
	}
	return d, nil
}

// best returns the decision of the highest rank in a list, which has the longest prefixes first, of which no edit is
// lost; one without Items if there is none.
func (l *Ledger) best(r *Request, list []Decision, known Decision) (Decision, error) {
	list = r.apart(list)
	slices.SortStableFunc(list, func(a, b Decision) int { return r.compare(&b, &a) })
	for _, d := range list {
		isWhole, err := l.readEdits(&d, known)
		if err != nil {
			return d, err
		}
		if isWhole {
			d.OtherModel = !r.isOwnModel(&d)
			r.identify(&d, list)
			return d, nil
		}
	}
	return r.New(), nil
}

// identify sets the ID of d's conversation, as it is at the longest prefix in the list, be it another model's.
func (r *Request) identify(d *Decision, list []Decision) {
	for _, o := range list {
		isSame := o.Additions == d.Additions && o.Began == d.Began
		if d.Opening == "" && o.Opening == "" && isSame && o.Items > d.found {
			d.found, d.Conversation = o.Items, o.Conversation
		}
	}
}

// mostAlike is how many decisions for one prefix are kept: many conversations may have the same first request.
const mostAlike = 128

// decisions returns the decisions for the prefixes of those lengths, without their edits, and of each prefix the newest
// first. A record that is as known was is not parsed again; known may be nil.
func (l *Ledger) decisions(r *Request, ends []int, known *record) (all []Decision, err error) {
	var keys []string
	for _, n := range ends {
		keys = append(keys, r.recordKey(n))
	}
	values, err := l.store.GetMany(keys)
	for i, value := range values {
		found := known
		if known == nil || known.key != keys[i] || !bytes.Equal(known.value, value) {
			found = &record{key: keys[i], value: value, list: parse(value, keys[i])}
		}
		for _, d := range slices.Backward(found.list) {
			d.record = found
			all = append(all, d)
		}
	}
	return all, err
}

// readEdits reads the edits of d, but for those of known. It returns false if any is lost.
func (l *Ledger) readEdits(d *Decision, known Decision) (isWhole bool, err error) {
	lists, isWhole, err := readAll(l.store, d.Lists, known.namesIn)
	if !isWhole {
		return false, err
	}
	d.namesIn = map[string][]string{}
	for i, key := range d.Lists {
		d.namesIn[key] = lists[i]
	}
	names := slices.Concat(append(lists, d.Names)...)
	same := 0 // edits at the start that are those of known
	for same < min(len(names), len(known.Edits)) && known.Edits[same].Name == names[same] {
		same++
	}
	d.Edits = slices.Clip(known.Edits[:same])
	names = names[same:]
	if len(names) == 0 {
		return true, nil
	}
	edits := map[string]view.Edit{}
	for _, e := range known.Edits {
		edits[e.Name] = e
	}
	others, isWhole, err := readAll(l.store, names, edits)
	for i := range others {
		others[i].Name = names[i]
	}
	d.Edits = append(d.Edits, others...)
	return isWhole, err
}

// readAll returns the values under keys, of which those that are known are not read. It returns false if any is lost.
func readAll[T any](s store.Store, keys []string, known map[string]T) (values []T, isWhole bool, err error) {
	var unknown []string
	for _, key := range keys {
		if _, isKnown := known[key]; !isKnown {
			unknown = append(unknown, key)
		}
	}
	read, err := s.GetMany(unknown)
	if err != nil {
		return nil, false, err
	}
	for _, key := range keys {
		value, isKnown := known[key]
		if !isKnown {
			if json.Unmarshal(read[0], &value) != nil {
				return nil, false, nil
			}
			read = read[1:]
		}
		values = append(values, value)
	}
	return values, true, nil
}

// Record writes d as the decision for the first d.Items items of the request for which it was found. If there is one
// already, as an equal request was faster, that one stays: it is returned, and won is false. With replace, d takes the
// place of that decision, except where d was found for this very prefix and another request has replaced its decision
// since. The decision that is returned has the ID of the conversation, see branch.
func (l *Ledger) Record(r Request, d Decision, replace bool) (standing Decision, won bool, err error) {
	d = r.Own(d)
	d.Edits = slices.Clone(d.Edits) // they get names, and others may share them
	err = l.putEdits(&d)
	var branched Decision
	if err == nil {
		var work sync.WaitGroup // the two do not wait for each other: a shared store may be far away
		work.Go(func() { branched = l.branch(&r, d) })
		standing, won, err = l.put(&r, d, replace)
		work.Wait()
	}
	if err != nil {
		return Decision{}, false, fmt.Errorf("cannot record a decision: %w", err)
	}
	// The decision that stands may have been put before it was known that its conversation branches off.
	if branched.Parent != "" && standing.Conversation == branched.Parent {
		standing.Conversation, standing.Parent = branched.Conversation, branched.Parent
		if won {
			_, _, _ = l.put(&r, standing, true) // after an error it keeps the ID that it has
		}
	}
	return standing, won, nil
}

// branch returns d with the ID of the conversation of a request for which it was found. The first request that
// continues a prefix, and those that continue it alike, stay in its conversation. Any other begins a new one: it has
// a Parent. If the store fails, the request stays in the conversation: the decision is worth more than its ID.
func (l *Ledger) branch(r *Request, d Decision) Decision {
	if d.found == 0 || d.found >= d.Items {
		return d
	}
	next := r.Chain[d.Items] // with the next answer: the user may have it made again behind the same words
	key := "n" + Hash(r.Scope, r.Dialect, d.Conversation, string(r.Chain[d.found][:]))
	first, err := l.store.Swap(key, nil, next[:], l.keep)
	if err == nil && !bytes.Equal(first, next[:]) {
		d.Parent, d.Conversation = d.Conversation, idOf(d.Conversation, string(next[:]))
	}
	return d
}

// put makes d the decision of its kind for its prefix, unless another one stays: see Record.
func (l *Ledger) put(r *Request, d Decision, replace bool) (standing Decision, won bool, err error) {
	key := r.recordKey(d.Items)
	known := d.record // of this prefix, or of a shorter one
	d.record = nil
	var there []byte // the record to be replaced; the first attempt writes only if there is none
	for {
		list := parse(there, key)
		i := slices.IndexFunc(list, func(o Decision) bool { return o.kind() == d.kind() })
		if i >= 0 {
			standing = list[i]
			isNews := replace && standing.Key == d.Key && known != nil && !known.has(standing)
			isWhole, err := l.readEdits(&standing, d)
			if err != nil {
				return standing, false, err
			}
			if isWhole && (!replace || isNews) { // a decision that has lost edits is replaced
				return standing, false, nil
			}
			list = slices.Delete(list, i, i+1)
		}
		list = append(list[max(0, len(list)+1-mostAlike):], d)
		value, _ := json.Marshal(list) // plain data
		there, err = l.store.Swap(key, there, value, l.keep)
		if err != nil {
			return d, false, err
		}
		if bytes.Equal(there, value) {
			d.Key, d.found = key+"/"+d.kind(), d.Items
			list[len(list)-1] = d
			d.record = &record{key: key, value: value, list: list}
			return d, true, nil
		}
	}
}

// atOnce is how many calls of the store run at the same time, for one request: mostly all that it has.
const atOnce = 64

// perList is how many names of edits a list has, so that a record has few names, and each turn writes few bytes.
const perList = 32

// putEdits stores the edits of d that have no name yet, and names all: full lists of names are stored like edits.
func (l *Ledger) putEdits(d *Decision) error {
	var work errgroup.Group
	work.SetLimit(atOnce)
	put := func(key string, value []byte) {
		work.Go(func() error {
			_, err := l.store.Swap(key, nil, value, l.keep) // one that is there is the same
			return err
		})
	}
	known := d.namesIn
	d.Lists, d.Names, d.namesIn = nil, nil, map[string][]string{}
	for k := range d.Edits {
		e := &d.Edits[k]
		if e.Name == "" {
			value, _ := json.Marshal(e) // plain data
			e.Name = "e" + Hash(string(value))
			put(e.Name, value)
		}
		d.Names = append(d.Names, e.Name)
		if len(d.Names) == perList {
			key := "l" + Hash(d.Names...)
			if _, isKnown := known[key]; !isKnown {
				value, _ := json.Marshal(d.Names) // plain data
				put(key, value)
			}
			d.namesIn[key] = d.Names
			d.Lists, d.Names = append(d.Lists, key), nil
		}
	}
	return work.Wait()
}

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
