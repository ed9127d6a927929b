// Package ledger records which edits were sent for a prefix of a conversation, and finds them again.
//
// An edit is recorded as text, never as a rule, so no later code, limit or preset changes what was sent: the same
// prefix is sent byte for byte as before, on the next turn, after a restart, on another replica. Of two requests that
// decide the same prefix at once the first wins, and the other adopts its decision.
//
// A conversation is known by its items alone: its system prompt, its tools and its model may change, and its edits are
// taken over. Only first requests, which have no answer of the model yet, are told apart by prompt and tools as well.
// Each prefix has one record, and those of a request are read at once.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/store"
)

// Decision is all edits for a prefix, and what later requests must know about the request that was sent with them.
type Decision struct {
	Items        int       `json:"items"`                // length of the prefix
	Lists        []string  `json:"lists,omitempty"`      // keys of lists of perList names of Edits
	Names        []string  `json:"names,omitempty"`      // of the other Edits, which come behind those
	Added        int       `json:"added,omitempty"`      // how many of Edits, the last ones, this decision added
	Conversation string    `json:"conversation"`         // ID of the conversation
	Upstream     string    `json:"upstream,omitempty"`   // of the request; so are Model and Leading
	Model        string    `json:"model,omitempty"`      //
	Leading      string    `json:"leading,omitempty"`    // see Request
	Opening      string    `json:"opening,omitempty"`    // of a first request: see Request
	Wish         string    `json:"wish,omitempty"`       // of the conversation's first request: see Request
	Ratio        float64   `json:"ratio,omitempty"`      // tokens of the model for one of the vocabulary
	Sent         time.Time `json:"sent,omitzero"`        // when the request was sent: a pause makes the cache cold
	Touched      time.Time `json:"touched,omitzero"`     // when its edits and their artifacts were touched last
	Tokens       int       `json:"tokens,omitempty"`     // of the model, sent since the last compaction
	Compacted    int       `json:"compacted,omitempty"`  // answers that there were at the last compaction
	Waits        bool      `json:"waits,omitempty"`      // the user knows that a compaction is due and waits
	Ahead        int       `json:"ahead,omitempty"`      // end of the items whose summary was begun ahead of need
	Undone       bool      `json:"undone,omitempty"`     // Restore took its edits back; Edits has them all the same
	Restored     int       `json:"restored,omitempty"`   // items that the user wants whole since then, if they fit
	Refused      bool      `json:"refused,omitempty"`    // the provider refused edits, and not for their size
	Pictures     int       `json:"pictures,omitempty"`   // how many were refused as too many or too large; 0: none
	Warned       bool      `json:"warned,omitempty"`     // the user knows that compaction cannot help
	NearlyFull   bool      `json:"nearlyFull,omitempty"` // the user knows that newest_messages will leave some out

	Edits      []Edit `json:"-"`
	OtherModel bool   `json:"-"` // it was recorded for another model or upstream

	Parent string `json:"-"` // ID of the conversation from which Record saw this one branch off
	Key    string `json:"-"` // of At and Restore; empty if it is not recorded

	found  int                 // Items as Find returned it
	stored []byte              // as it was read, by which Record notices that another one has replaced it
	lists  map[string][]string // by key
	record *record             // that holds it
}

// record is what the store has under the key of a prefix.
type record struct {
	key   string
	value []byte
	list  []Decision // without edits, the newest last
}

// InPlaceOf returns d, which could not be recorded, as what goes on from found.
func (d Decision) InPlaceOf(found Decision) Decision {
	d.Wish, d.found, d.Key, d.stored = found.Wish, found.found, found.Key, found.stored
	d.lists, d.record = found.lists, found.record
	return d
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

// Request is what the ledger needs to know of a request.
type Request struct {
	Scope, Dialect  string // requests that differ in these share nothing
	Upstream, Model string // decisions for others are taken over where these have none
	Leading         string // hash of system prompt, tools and settings
	Wish            string // names of what is to be added to the system prompt; empty if nothing is
	Chain           []conversation.Link
	Head            int    // items before the model's first answer
	Ends            []int  // lengths, in items, of the prefixes that may have a decision, longest first
	Opening         string // tells requests apart that have no answer yet, and equal messages; empty once there is one
}

// IsFor reports whether two requests share decisions as far as their messages are the same.
func (r Request) IsFor(o Request) bool {
	return r.Scope == o.Scope && r.Dialect == o.Dialect && r.Upstream == o.Upstream && r.Model == o.Model
}

// recordKey returns the key of the decisions for a prefix.
func (r *Request) recordKey(items int) string {
	return "p" + Hash(r.Scope, r.Dialect, string(r.Chain[items][:]))
}

// Own returns d as a decision about the request, for which it was found.
func (r *Request) Own(d Decision) Decision {
	d.Upstream, d.Model, d.Leading, d.Opening, d.Parent = r.Upstream, r.Model, r.Leading, r.Opening, ""
	if d.found == 0 {
		d.Wish = r.Wish
	}
	return d
}

// Key returns the key under which Record puts a decision that was found for the request.
func (r Request) Key(d Decision) string {
	d = r.Own(d)
	return r.recordKey(d.Items) + "/" + d.kind()
}

// kind tells the decisions for one prefix apart: of each kind, the newest one is kept.
func (d *Decision) kind() string {
	return Hash(d.Upstream, d.Model, d.Wish, d.Opening)
}

// firstID returns the ID of the conversation that begins with the request's first messages.
func (r *Request) firstID() string {
	return idOf(r.Scope, r.Dialect, string(r.Chain[r.Head][:]), r.Leading, r.Wish)
}

// id returns the ID of a request's conversation if nothing is recorded of it.
func (r *Request) id() string {
	if r.Opening != "" {
		return r.firstID()
	}
	return idOf(r.Scope, r.Dialect, string(r.Chain[min(r.Head+1, len(r.Chain)-1)][:]))
}

// MayGoOn reports whether a decision about the request's messages is of its conversation, and not of another one.
func (r *Request) MayGoOn(d Decision) bool {
	return slices.Contains(r.Ends, d.Items) && r.rank(&d)[0] > otherWish
}

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

// idOf returns the ID of a conversation, as people see it: 16 hexadecimal digits.
func idOf(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// Find returns the decision to go on from, by rank: mostly the model's own for the longest prefix that has one. It has the
// ID of the request's conversation. Edits and lists of known are not read again. If there is none, or after an error, the
// decision has no Items.
func (l *Ledger) Find(r Request, known Decision) (Decision, error) {
	const few, newest = 4, 32 // prefixes that are read first: mostly the request is a turn longer than the one before
	var d Decision
	var list []Decision
	read := 0 // of r.Ends
	for _, upTo := range []int{few, newest, len(r.Ends)} {
		upTo = min(upTo, len(r.Ends))
		more, err := l.decisions(&r, r.Ends[read:upTo], known.record)
		list, read = append(list, more...), upTo
		if err == nil {
			d, err = l.best(&r, list, known)
		}
		if err != nil {
			return Decision{Conversation: r.id()}, fmt.Errorf("cannot look for a decision: %w", err)
		}
		isLast := read == len(r.Ends) || read == newest && len(list) > 0
		if isLast || r.isBest(d) {
			break
		}
	}
	return d, nil
}

// best returns the decision of the highest rank in the list of which no edit is lost; one without Items if there is
// none.
func (l *Ledger) best(r *Request, list []Decision, known Decision) (Decision, error) {
	slices.SortStableFunc(list, func(a, b Decision) int { return slices.Compare(r.rank(&b), r.rank(&a)) })
	for _, d := range list {
		if r.rank(&d)[0] < 0 {
			break
		}
		isRead, err := l.readEdits(&d, known)
		if err != nil {
			return d, err
		}
		if isRead {
			d.OtherModel = d.Upstream != r.Upstream || d.Model != r.Model
			r.identify(&d, list)
			return d, nil
		}
	}
	return Decision{Conversation: r.id()}, nil
}

// rank orders the decisions whose prefix a request has: the greatest is the one to go on from. The first number is
// negative if none may.
func (r *Request) rank(d *Decision) []int {
	number := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	isSame := d.Wish == r.Wish
	mayOmit := r.Wish == "" && r.Opening == "" // clients may name a wish in the first request alone
	class := otherWish
	switch {
	case d.Opening != "" && r.Opening != "" && (d.Opening != r.Opening || !isSame):
		class = otherWish - 2
	case d.Opening != "" && isSame:
		class = otherWish + 2
	case d.Opening != "" && mayOmit:
		class = otherWish + 1
	case d.Opening != "":
		class = otherWish - 1
	case isSame || mayOmit:
		class = ownWish
	}
	return []int{class, number(isSame), number(d.Opening != "" && d.Leading == r.Leading),
		number(d.Model == r.Model && d.Upstream == r.Upstream), d.Items}
}

// isBest reports whether no decision for a shorter prefix has a higher rank than d.
func (r *Request) isBest(d Decision) bool {
	return d.Items > 0 && slices.Equal(r.rank(&d), []int{ownWish, 1, 0, 1, d.Items})
}

// Classes, in rank: otherWish is that of decisions of conversations that began with another wish. Those of greater
// classes are the request's own, and ownWish is the highest: that of the request's own wish behind an answer.
const (
	otherWish = 1
	ownWish   = otherWish + 3
)

// identify sets the ID of d's conversation, as it is at the longest prefix in the list, be it another model's.
func (r *Request) identify(d *Decision, list []Decision) {
	alike := 0 // first requests with the same messages
	for _, o := range list {
		if o.Opening != "" {
			alike++
		}
		if d.Opening == "" && o.Opening == "" && o.Wish == d.Wish && o.Items > d.found {
			d.found, d.Conversation = o.Items, o.Conversation
		}
	}
	if d.Opening != "" && d.Leading != r.Leading && alike == mostAlike { // the first request was there, and is no more
		d.Conversation = r.firstID()
	}
}

// mostAlike is how many decisions for one prefix are kept: many conversations may have the same first request.
const mostAlike = 32

// decisions returns the decisions for prefixes, without their edits, and of each prefix the newest first. A record that is
// as known was is not parsed again; known may be nil.
func (l *Ledger) decisions(r *Request, ends []int, known *record) (all []Decision, err error) {
	var keys []string
	for _, n := range ends {
		keys = append(keys, r.recordKey(n))
	}
	values, err := l.store.GetMany(keys)
	for i, value := range values {
		is := known
		if is == nil || is.key != keys[i] || !bytes.Equal(is.value, value) {
			is = &record{keys[i], value, parse(value, keys[i])}
		}
		for _, d := range slices.Backward(is.list) {
			d.record = is
			all = append(all, d)
		}
	}
	return all, err
}

// parse returns the decisions of a record, the newest last; none if it cannot be read.
func parse(record []byte, key string) (list []Decision) {
	if json.Unmarshal(record, &list) != nil {
		return nil
	}
	list = slices.DeleteFunc(list, func(d Decision) bool { return d.Items < 1 })
	for i := range list {
		d := &list[i]
		d.stored, _ = json.Marshal(d) // plain data
		d.Key, d.found = key+"/"+d.kind(), d.Items
	}
	return list
}

// readEdits reads the edits of d, but for those of known. It returns false if any is lost.
func (l *Ledger) readEdits(d *Decision, known Decision) (isWhole bool, err error) {
	lists, isWhole, err := readAll(l.store, d.Lists, known.lists)
	if !isWhole {
		return false, err
	}
	d.lists = map[string][]string{}
	for i, key := range d.Lists {
		d.lists[key] = lists[i]
	}
	names := slices.Concat(append(lists, d.Names)...)
	same := 0 // edits at the start that are those of known
	for same < min(len(names), len(known.Edits)) && known.Edits[same].Name == names[same] {
		same++
	}
	d.Edits, names = slices.Clip(known.Edits[:same]), names[same:]
	if len(names) == 0 {
		return true, nil
	}
	edits := map[string]Edit{}
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

// Record writes d, with more edits added, as the decision for the first d.Items items of the request for which it was
// found. If there is one already, as an equal request was faster, that one stays: it is returned, and won is false. With
// replace, d takes the place of that decision, except where d was found for this very prefix and another request has
// replaced its decision since. The decision that is returned has the ID of the conversation, see branch.
func (l *Ledger) Record(r Request, d Decision, added []Edit, replace bool) (standing Decision, won bool, err error) {
	d = r.Own(d)
	d.Edits, d.Added = Add(d.Edits, added...), len(added)
	if err = l.putEdits(&d); err == nil {
		var branched Decision
		var work errgroup.Group // the two do not wait for each other: a shared store may be far away
		work.Go(func() error {
			branched = l.branch(&r, d)
			return nil
		})
		standing, won, err = l.put(&r, d, replace)
		_ = work.Wait() // it returns no error
		// The decision that stands may have been put before it was known that its conversation branches off.
		if err == nil && branched.Parent != "" && standing.Conversation == branched.Parent {
			standing.Conversation, standing.Parent = branched.Conversation, branched.Parent
			if won {
				_, _, _ = l.put(&r, standing, true) // else it keeps the ID that it has
			}
		}
	}
	if err != nil {
		return Decision{}, false, fmt.Errorf("cannot record a decision: %w", err)
	}
	return standing, won, nil
}

// branch returns d with the ID of the conversation of a request for which it was found. The first request that continues
// a prefix, and those that continue it alike, stay in its conversation. Any other begins a new one: it has a Parent. If
// the store fails, the request stays in the conversation: the decision is worth more than its ID.
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
	d.record = nil   // that of a shorter prefix
	var there []byte // the record to be replaced; the first attempt writes only if there is none
	for {
		list := parse(there, key)
		isKind := func(o Decision) bool { return o.kind() == d.kind() }
		if i := slices.IndexFunc(list, isKind); i >= 0 {
			standing = list[i]
			isNews := standing.Key == d.Key && !bytes.Equal(standing.stored, d.stored)
			isWhole, err := l.readEdits(&standing, d)
			if err != nil || isWhole && (!replace || isNews) { // a decision that has lost edits is replaced
				return standing, false, err
			}
			list = slices.Delete(list, i, i+1)
		}
		list = append(list[max(0, len(list)+1-mostAlike):], d)
		value, _ := json.Marshal(list) // plain data
		if there, err = l.store.Swap(key, there, value, l.keep); err != nil {
			return d, false, err
		}
		if bytes.Equal(there, value) {
			d.stored, _ = json.Marshal(d) // plain data
			d.Key, d.found = key+"/"+d.kind(), d.Items
			list[len(list)-1] = d
			d.record = &record{key, value, list}
			return d, true, nil
		}
	}
}

// atOnce is how many calls of the store run at the same time, for one request.
const atOnce = 16

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
	known := d.lists
	d.Lists, d.Names, d.lists = nil, nil, map[string][]string{}
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
			d.Lists, d.lists[key], d.Names = append(d.Lists, key), d.Names, nil
		}
	}
	return work.Wait()
}

// At returns the decision under a key, with all its edits.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	_, list, i, err := l.at(key)
	if err != nil || i < 0 {
		return Decision{}, false, err
	}
	found, err = l.readEdits(&list[i], Decision{})
	return list[i], found, err
}

// at returns the record that has the decision under a key, its decisions, and the index of that one; -1 if it has none.
func (l *Ledger) at(key string) (record []byte, list []Decision, i int, err error) {
	recordKey, _, _ := strings.Cut(key, "/")
	record, _, err = l.store.Get(recordKey)
	if err != nil {
		return nil, nil, -1, fmt.Errorf("cannot look for a decision: %w", err)
	}
	list = parse(record, recordKey)
	return record, list, slices.IndexFunc(list, func(d Decision) bool { return d.Key == key }), nil
}

// Restore marks the decision under a key as Undone: requests that continue its prefix are to be sent without its edits.
// It returns how many these are; 0 if there are none, or if the decision is not known or is Undone already.
func (l *Ledger) Restore(key string) (edits int, err error) {
	for {
		record, list, i, err := l.at(key)
		if err != nil || i < 0 || list[i].Undone {
			return 0, err
		}
		isWhole, err := l.readEdits(&list[i], Decision{})
		edits = len(list[i].Undo())
		if err != nil || !isWhole || edits == 0 {
			return 0, err
		}
		list[i].Undone = true
		value, _ := json.Marshal(list) // plain data
		recordKey, _, _ := strings.Cut(key, "/")
		there, err := l.store.Swap(recordKey, record, value, l.keep)
		if err != nil || bytes.Equal(there, value) { // else another decision has just taken its place
			return edits, err
		}
	}
}

// Forget removes the decisions under keys, and edits by their names. Lists of names stay until they expire.
func (l *Ledger) Forget(keys, edits []string) error {
	gone := slices.Clone(edits)
	for _, key := range keys {
		for record, list, i, err := l.at(key); err != nil || i >= 0; record, list, i, err = l.at(key) {
			if err != nil {
				return err
			}
			recordKey, _, _ := strings.Cut(key, "/")
			list = slices.Delete(list, i, i+1)
			value, _ := json.Marshal(list) // plain data
			if _, err = l.store.Swap(recordKey, record, value, l.keep); err != nil {
				return fmt.Errorf("cannot forget a decision: %w", err)
			}
			if len(list) == 0 {
				gone = append(gone, recordKey)
			}
		}
	}
	return l.store.Delete(gone...)
}

// IsStale reports whether the edits of a decision have to be touched, long before they expire. Their artifacts are due
// at the same time.
func (l *Ledger) IsStale(d Decision, now time.Time) bool {
	const every = 10 * time.Minute                                   // or less where edits are kept for a short time
	return now.Round(0).Sub(d.Touched).Abs() > min(l.keep/32, every) // in the future if the clock was set back
}

// Touch prolongs the life of a decision's edits. Those that cannot be touched expire earlier, and their items are decided
// anew.
func (l *Ledger) Touch(d Decision) {
	var work errgroup.Group
	work.SetLimit(atOnce)
	for _, name := range slices.Concat(append(slices.Collect(maps.Values(d.lists)), d.Names, d.Lists)...) {
		work.Go(func() error { return l.store.Touch(name, l.keep) })
	}
	_ = work.Wait()
}

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
