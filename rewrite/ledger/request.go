package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"epitome/dialect/conversation"
)

// Request is what the ledger needs to know of a request.
type Request struct {
	Scope, Dialect  string // requests that differ in these share nothing
	Upstream, Model string // decisions for others are taken over where these have none
	Leading         string // hash of system prompt, tools and settings
	Additions       string // names of what is to be added to the system prompt; empty if nothing is
	Chain           []conversation.Link
	Head            int    // items before the model's first answer
	Ends            []int  // lengths, in items, of the prefixes that may have a decision, longest first
	Opening         string // tells requests apart that have no answer yet, and equal messages; empty once there is one
}

// IsFor reports whether two requests share decisions as far as their messages are the same.
func (r Request) IsFor(o Request) bool {
	return r.Scope == o.Scope && r.Dialect == o.Dialect && r.Upstream == o.Upstream && r.Model == o.Model
}

// Own returns d as a decision about the request, for which it was found.
func (r *Request) Own(d Decision) Decision {
	d.Upstream, d.Model, d.Leading, d.Opening, d.Parent = r.Upstream, r.Model, r.Leading, r.Opening, ""
	if d.found == 0 {
		d.Additions = r.Additions
	}
	return d
}

// recordKey returns the key of the decisions for a prefix.
func (r *Request) recordKey(items int) string {
	return "p" + Hash(r.Scope, r.Dialect, string(r.Chain[items][:]))
}

// Key returns the key under which Record puts a decision that was found for the request.
func (r Request) Key(d Decision) string {
	d = r.Own(d)
	return r.recordKey(d.Items) + "/" + d.kind()
}

// id returns the ID of a request's conversation if nothing is recorded of it.
func (r *Request) id() string {
	if r.Opening != "" {
		return r.firstID()
	}
	return idOf(r.Scope, r.Dialect, string(r.Chain[min(r.Head+1, len(r.Chain)-1)][:]))
}

// firstID returns the ID of the conversation that begins with the request's first messages.
func (r *Request) firstID() string {
	return idOf(r.Scope, r.Dialect, string(r.Chain[r.Head][:]), r.Leading, r.Additions)
}

// Classes of decisions whose prefix a request has, the worst first.
const (
	otherFirst      = iota // of another first request: the request never goes on from it
	otherAdditions         // of a first request that asked for other additions to the system prompt
	otherBranch            // behind an answer, in a conversation that began with other additions
	unnamedOpening         // of a first request with additions, which later requests need not name
	ownOpening             // of a first request with the same additions
	ownConversation        // behind an answer, with the same additions, or with ones that the request need not name
)

func (r *Request) class(d *Decision) int {
	isSame := d.Additions == r.Additions
	mayOmit := r.Additions == "" && r.Opening == "" // clients may name additions in the first request alone
	if d.Opening == "" {
		if isSame || mayOmit {
			return ownConversation
		}
		return otherBranch
	}
	switch {
	case r.Opening != "" && (d.Opening != r.Opening || !isSame):
		return otherFirst
	case isSame:
		return ownOpening
	case mayOmit:
		return unnamedOpening
	}
	return otherAdditions
}

// compare orders the decisions that a request may go on from: the greatest is the one to go on from.
func (r *Request) compare(a, b *Decision) int { return slices.Compare(r.rank(a), r.rank(b)) }

func (r *Request) rank(d *Decision) []int {
	number := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return []int{r.class(d), number(d.Additions == r.Additions), number(d.Opening != "" && d.Leading == r.Leading),
		number(r.isOwnModel(d)), d.Items}
}

func (r *Request) isOwnModel(d *Decision) bool { return d.Model == r.Model && d.Upstream == r.Upstream }

// isBest reports whether no decision for a shorter prefix has a higher rank than d.
func (r *Request) isBest(d *Decision) bool {
	return d.Items > 0 && d.Opening == "" && d.Additions == r.Additions && r.isOwnModel(d)
}

// MayGoOn reports whether a decision about the request's messages is of its conversation, and not of another one.
func (r *Request) MayGoOn(d Decision) bool {
	return slices.Contains(r.Ends, d.Items) && r.class(&d) > otherBranch
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

// update puts the decisions that change returns in the place of those of the record that has the decision under a key;
// i is the index of that one. It does nothing if there is no such decision, or if change returns nil. If the record is
// replaced meanwhile, change is called once more.
func (l *Ledger) update(key string, change func(list []Decision, i int) ([]Decision, error)) error {
	recordKey, _, _ := strings.Cut(key, "/")
	for {
		record, list, i, err := l.at(key)
		if err != nil || i < 0 {
			return err
		}
		list, err = change(list, i)
		if err != nil || list == nil {
			return err
		}
		value, _ := json.Marshal(list) // plain data
		there, err := l.store.Swap(recordKey, record, value, l.keep)
		if err != nil || bytes.Equal(there, value) {
			return err
		}
	}
}

// Restore marks the decision under a key as Undone: requests that continue its prefix are to be sent without its edits.
// It returns how many these are; 0 if there are none, or if the decision is not known or is Undone already.
func (l *Ledger) Restore(key string) (edits int, err error) {
	err = l.update(key, func(list []Decision, i int) ([]Decision, error) {
		d := &list[i]
		edits = 0
		if d.Undone {
			return nil, nil
		}
		isWhole, err := l.readEdits(d, Decision{})
		if err != nil || !isWhole {
			return nil, err
		}
		edits = len(d.Undo())
		if edits == 0 {
			return nil, nil
		}
		d.Undone = true
		return list, nil
	})
	return edits, err
}

// Forget removes the decisions under keys, and edits by their names. Lists of names stay until they expire.
func (l *Ledger) Forget(keys, edits []string) error {
	gone := slices.Clone(edits)
	for _, key := range keys {
		isLast := false // no other decision is in the record
		err := l.update(key, func(list []Decision, i int) ([]Decision, error) {
			isLast = len(list) == 1
			return slices.Delete(list, i, i+1), nil
		})
		if err != nil {
			return fmt.Errorf("cannot forget a decision: %w", err)
		}
		if isLast {
			recordKey, _, _ := strings.Cut(key, "/")
			gone = append(gone, recordKey)
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
