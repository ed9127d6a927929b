package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/view"
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
	Began        string    `json:"began,omitempty"`      // Leading of the conversation's first request
	Opening      string    `json:"opening,omitempty"`    // of a first request: see Request
	Additions    string    `json:"wish,omitempty"`       // of the conversation's first request: see Request
	Ratio        float64   `json:"ratio,omitempty"`      // tokens of the model for one of the vocabulary
	Sent         time.Time `json:"sent,omitzero"`        // when the request was sent: a pause makes the cache cold
	Touched      time.Time `json:"touched,omitzero"`     // when its edits and their artifacts were touched last
	Tokens       int       `json:"tokens,omitempty"`     // of the model, sent since the last compaction
	Compacted    int       `json:"compacted,omitempty"`  // answers that there were at the last compaction
	Waits        bool      `json:"waits,omitempty"`      // the user knows that a compaction is due and waits
	Prepared     int       `json:"ahead,omitempty"`      // items before the cut whose summary was begun ahead of need
	Undone       bool      `json:"undone,omitempty"`     // Restore took its edits back; Edits has them all the same
	Restored     int       `json:"restored,omitempty"`   // items that the user wants whole since then, if they fit
	Refused      bool      `json:"refused,omitempty"`    // the provider refused edits, and not for their size
	Pictures     int       `json:"pictures,omitempty"`   // how many were refused as too many or too large; 0: none
	Warned       bool      `json:"warned,omitempty"`     // the user knows that compaction cannot help
	NearlyFull   bool      `json:"nearlyFull,omitempty"` // the user knows that newest_messages will leave some out

	Edits      []view.Edit `json:"-"`
	OtherModel bool        `json:"-"` // it was recorded for another model or upstream

	Parent string `json:"-"` // ID of the conversation from which Record saw this one branch off
	Key    string `json:"-"` // of At and Restore; empty if it is not recorded
	origin
}

// origin is what a decision knows of the one in the store from which it goes on.
type origin struct {
	found   int                 // Items as Find returned it
	namesIn map[string][]string // names of edits, by the keys in Lists
	record  *record             // that holds it, by which Record notices that another one has replaced it
}

// InPlaceOf returns d, which could not be recorded, as what goes on from found.
func (d Decision) InPlaceOf(found Decision) Decision {
	d.Additions, d.Key, d.origin = found.Additions, found.Key, found.origin
	return d
}

// Undo takes the edits of messages out of d and returns them. What is added to the system prompt, or mends pairs,
// stays.
func (d *Decision) Undo() (undone []view.Edit) {
	edits := d.Edits
	d.Edits = nil
	for _, e := range edits {
		if e.Op == view.AppendSystem || e.Reason == event.CodeUnpaired {
			d.Edits = append(d.Edits, e)
		} else {
			undone = append(undone, e)
		}
	}
	return undone
}

// kind tells the decisions for one prefix apart: of each kind, the newest one is kept.
func (d *Decision) kind() string {
	return Hash(d.Upstream, d.Model, d.Additions, d.Opening, d.Began)
}

// record is what the store has under the key of a prefix.
type record struct {
	key   string
	value []byte
	list  []Decision // without edits, the newest last
}

// has reports whether the record has a decision, as it is stored.
func (r *record) has(d Decision) bool {
	text := func(d Decision) string { b, _ := json.Marshal(d); return string(b) } // plain data
	stored := text(d)
	return slices.ContainsFunc(r.list, func(o Decision) bool { return text(o) == stored })
}

// parse returns the decisions of a record, the newest last; none if it cannot be read.
func parse(record []byte, key string) (list []Decision) {
	if json.Unmarshal(record, &list) != nil {
		return nil
	}
	list = slices.DeleteFunc(list, func(d Decision) bool { return d.Items < 1 })
	for i := range list {
		list[i].Key, list[i].found = key+"/"+list[i].kind(), list[i].Items
	}
	return list
}

// Request is what the ledger needs to know of a request.
type Request struct {
	Scope, Dialect  string // requests that differ in these share nothing
	Upstream, Model string // decisions for others are taken over where these have none
	Leading         string // hash of system prompt, tools and settings
	Additions       string // names of what is to be added to the system prompt; empty if nothing is
	Machine         string // hash of what the agent is told of its machine; empty if it is told nothing
	Chain           []conversation.Link
	Head            int    // items before the model's first answer
	End             int    // items up to the last answer or result: see conversation.Request
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
	d.Began = cmp.Or(d.Began, r.Leading)
	if d.found == 0 {
		d.Additions = r.Additions
	}
	return d
}

// recordKey returns the key of the decisions for a prefix. Agents that begin alike in many folders have each a record of
// their own for their first requests: one record would not hold those of all.
func (r *Request) recordKey(items int) string {
	parts := []string{r.Scope, r.Dialect, string(r.Chain[items][:])}
	if items == r.Head && r.Machine != "" {
		parts = append(parts, r.Machine)
	}
	return "p" + Hash(parts...)
}

// Key returns the key under which Record puts a decision that was found for the request.
func (r Request) Key(d Decision) string {
	d = r.Own(d)
	return r.recordKey(d.Items) + "/" + d.kind()
}

// New returns the decision of a request of which nothing is recorded: it has the ID of a conversation that begins.
func (r *Request) New() Decision { return Decision{Conversation: r.id(), Began: r.Leading} }

func (r *Request) id() string {
	if r.Opening != "" {
		return idOf(r.Scope, r.Dialect, string(r.Chain[r.Head][:]), r.Leading, r.Additions)
	}
	return idOf(r.Scope, r.Dialect, string(r.Chain[min(r.Head+1, len(r.Chain)-1)][:]))
}

// Classes of decisions whose prefix a request has, the worst first.
const (
	otherFirst          = iota // of another first request: the request never goes on from it
	otherAdditions             // of a first request that asked for other additions to the system prompt
	otherBranch                // behind an answer, in a conversation that began with other additions
	unnamedOpening             // of a first request with additions, which later requests need not name
	ownOpening                 // of a first request with the same additions
	unnamedConversation        // behind an answer, with additions that the request need not name
	ownConversation            // behind an answer, with the same additions
)

func (r *Request) class(d *Decision) int {
	isSame := d.Additions == r.Additions
	mayOmit := r.Additions == "" && r.Opening == "" // clients may name additions in the first request alone
	isFirst := d.Opening != ""
	switch {
	case r.Opening != "" && isFirst && (d.Opening != r.Opening || !isSame):
		return otherFirst
	case isFirst && isSame:
		return ownOpening
	case isFirst && mayOmit:
		return unnamedOpening
	case isFirst && d.Leading != r.Leading: // of another agent, or its own is one of too many
		return otherFirst
	case isFirst:
		return otherAdditions
	case isSame:
		return ownConversation
	case mayOmit:
		return unnamedConversation
	}
	return otherBranch
}

// compare orders the decisions that a request may go on from: the greatest is the one to go on from.
func (r *Request) compare(a, b *Decision) int { return cmp.Or(r.rank(a)-r.rank(b), a.Items-b.Items) }

// rank orders decisions by their class, then by the model.
func (r *Request) rank(d *Decision) int {
	rank := 2 * r.class(d)
	if r.isOwnModel(d) {
		rank++
	}
	return rank
}

func (r *Request) isOwnModel(d *Decision) bool { return d.Model == r.Model && d.Upstream == r.Upstream }

// isBest reports whether no decision for a shorter prefix has a higher rank than d.
func (r *Request) isBest(d *Decision) bool {
	return d.Items > 0 && r.class(d) == ownConversation && r.isOwnModel(d) && (d.Items < r.End || d.Leading == r.Leading)
}

// MayGoOn reports whether a decision about the request's messages is of its conversation, and not of another one. found
// is the decision that Find returned.
func (r *Request) MayGoOn(d, found Decision) bool {
	isOwn := d.Began == found.Began || d.Leading == r.Leading
	return isOwn && slices.Contains(r.Ends, d.Items) && r.class(&d) > otherBranch
}

// apart returns the decisions in list that the request may go on from: those of its conversation. Others may have the
// same items, and differ in their prompts alone. Where two may be the request's own behind an answer, none is.
func (r *Request) apart(list []Decision) []Decision {
	var own Decision
	var others []string // Began of conversations that had all the items with another prompt
	most, isOne := 0, true
	for _, d := range list {
		evidence := 0 // that d is of the request's conversation
		switch {
		case d.Opening == "" && d.Began == r.Leading:
			evidence = 5
		case d.Opening == "" && d.Leading == r.Leading:
			evidence = 4
		case d.Opening == "" && d.Items < r.End && !slices.Contains(others, d.Began):
			evidence = 3 // its prompt may have changed with the newest items
		case d.Leading == r.Leading:
			evidence = 2
		case d.Opening == "":
			evidence = 1 // the client may have sent its last request again
			others = append(others, d.Began)
		}
		if evidence > most {
			own, most, isOne = d, evidence, true
		} else if evidence == most && d.Items == own.Items && d.Began != own.Began {
			isOne = false
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(d Decision) bool {
		isOther := !isOne || d.Began != own.Began
		return r.class(&d) == otherFirst || most > 0 && isOther
	})
}

// At returns the decision under a key, with all its edits.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	err = l.update(key, func(list []Decision, i int) ([]Decision, error) {
		d = list[i]
		found, err = l.readEdits(&d, Decision{})
		return nil, err
	})
	return d, found, err
}

// update puts the decisions that change returns in the place of those of the record that has the decision under a key;
// i is the index of that one. It does nothing if there is no such decision, or if change returns nil. If the record is
// replaced meanwhile, change is called once more.
func (l *Ledger) update(key string, change func(list []Decision, i int) ([]Decision, error)) error {
	recordKey, _, _ := strings.Cut(key, "/")
	for {
		record, _, err := l.store.Get(recordKey)
		if err != nil {
			return fmt.Errorf("cannot look for a decision: %w", err)
		}
		list := parse(record, recordKey)
		i := slices.IndexFunc(list, func(d Decision) bool { return d.Key == key })
		if i < 0 {
			return nil
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
		if isWhole {
			edits = len(d.Undo())
		}
		if err != nil || edits == 0 {
			return nil, err
		}
		d.Undone = true
		return list, nil
	})
	return edits, err
}

// Forget removes the decisions under keys, and edits by their names. Lists of names stay until they expire. A record
// without decisions goes too: in an Overlay it would hide the one below.
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

// Touch prolongs the life of a decision's edits. Those that cannot be touched expire earlier, and their items are
// decided anew.
func (l *Ledger) Touch(d Decision) {
	var work errgroup.Group
	work.SetLimit(atOnce)
	names := slices.Concat(d.Lists, d.Names)
	for _, inList := range d.namesIn {
		names = append(names, inList...)
	}
	for _, name := range names {
		work.Go(func() error { return l.store.Touch(name, l.keep) })
	}
	_ = work.Wait()
}
