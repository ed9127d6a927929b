package rewrite

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Ledger keeps decisions by key. What cannot be read is not found; what was added stays as it is until it is swapped.
type Ledger interface {
	Get(key string) (value []byte, version uint64, found bool)
	// Add sets value if there is none, and returns what stands there afterwards.
	Add(key string, value []byte) (standing []byte, version uint64, err error)
	// Swap sets value in the place of version old, and returns what stands there afterwards.
	Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error)
	// Touch lets what stands under the key live on. due says that this was not done for long, so that whatever hangs on the
	// key needs a touch as well.
	Touch(key string) (due bool)
}

// Shelf keeps what was taken out, by name.
type Shelf interface {
	// Name is the name of content; equal content has different names in different scopes.
	Name(scope string, content []byte) string
	// Address says where to find what has the name, for whoever reads a stub; empty if nothing can be said.
	Address(name string) string
	// Put keeps content under a name that Name or an earlier decision gave it. late allows for more than the quota.
	Put(name string, content []byte, late bool) error
	// Touch lets the content live on, and reports whether it is there.
	Touch(name string) bool
	// Full reports that new content is refused, but for what is late.
	Full() bool
}

// lane is where a conversation runs. Decisions are made for one lane; what a conversation is called is told by scope alone.
type lane struct {
	scope, upstream, model string
}

// ref names what is recorded under a hash of itself.
type ref [16]byte

func refOf(parts ...string) (r ref) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	copy(r[:], h.Sum(nil))
	return r
}

// The keys of what is recorded. The first byte says what it is, and a hash of the scope stands in each.
func (l lane) id() ref { return refOf(l.scope, l.upstream, l.model) }

func decisionKey(lane ref, at Link) string { return "d" + string(lane[:]) + string(at[:]) }

func (l lane) conversationKey(at Link) string { return "c" + l.scoped() + string(at[:]) }

func (l lane) nextKey(at Link) string { return "n" + l.scoped() + string(at[:]) }

func (l lane) formKey(f ref) string { return "f" + l.scoped() + string(f[:]) }

func (l lane) listKey(f ref) string { return "l" + l.scoped() + string(f[:]) }

func (l lane) scoped() string {
	s := refOf(l.scope)
	return string(s[:])
}

// decision says in what form each item of a prefix is sent. It does not change once it is recorded.
type decision struct {
	forms   []*form // of each item behind the head; nil is whole
	lists   []ref   // what together holds the forms, the latest first; none if all are whole
	version uint64  // of the record; 0 if it was not recorded

	outcomes outcomes // of the compactions until then
}

// depth is how many items the decision rules.
func (d *decision) depth() int { return len(d.forms) }

// formVersion is the first byte of everything recorded here; what has another one was written by another epitome, and is
// not understood.
const formVersion = 1

var errUnreadable = errors.New("a record is not as it was written")

// record is the value under a decision's key.
func (d *decision) record() []byte {
	latest := d.latest()
	b := append([]byte{formVersion}, latest[:]...)
	return d.outcomes.append(binary.AppendUvarint(b, uint64(d.depth())))
}

// latest is the list that leads to all forms; the zero ref if there are none.
func (d *decision) latest() (l ref) {
	if len(d.lists) > 0 {
		l = d.lists[0]
	}
	return l
}

// readRecord reads what record wrote; the forms come from the list.
func readRecord(b []byte) (d *decision, latest ref, err error) {
	if len(b) < 1+len(latest) || b[0] != formVersion {
		return nil, latest, errUnreadable
	}
	b = b[1+copy(latest[:], b[1:]):]
	depth, n := binary.Uvarint(b)
	if n <= 0 || depth > mostItems {
		return nil, latest, errUnreadable
	}
	all, err := readOutcomes(b[n:])
	return &decision{forms: make([]*form, depth), outcomes: all}, latest, err
}

const (
	mostLists = 32      // that are read for one decision; then all forms go into one list again
	mostItems = 1 << 24 // that a record may speak of; more is no record
)

// listed is an item's form in a list.
type listed struct {
	item int
	form ref
}

// encodeList writes a list of forms that follows another one, or none.
func encodeList(before ref, forms []listed) []byte {
	b := append([]byte{formVersion}, before[:]...)
	for _, f := range forms {
		b = append(binary.AppendUvarint(b, uint64(f.item)), f.form[:]...)
	}
	return b
}

func decodeList(b []byte) (before ref, forms []listed, err error) {
	if len(b) < 1+len(before) || b[0] != formVersion {
		return before, nil, errUnreadable
	}
	b = b[1+copy(before[:], b[1:]):]
	for len(b) > 0 {
		item, n := binary.Uvarint(b)
		if n <= 0 || len(b) < n+len(ref{}) {
			return before, nil, errUnreadable
		}
		f := listed{item: int(item)} //nolint:gosec // checked against the depth
		copy(f.form[:], b[n:])
		forms, b = append(forms, f), b[n+len(ref{}):]
	}
	return before, forms, nil
}

// load reads the decision recorded under the key, with all its forms. A decision of which any part cannot be read is not
// found: a shallower one rules then.
func (l lane) load(g Ledger, key string) (*decision, bool) {
	value, version, found := g.Get(key)
	if !found {
		return nil, false
	}
	d, at, err := readRecord(value)
	if err != nil {
		return nil, false
	}
	d.version = version
	for at != (ref{}) {
		list, _, found := g.Get(l.listKey(at))
		if !found || len(d.lists) > mostLists {
			return nil, false
		}
		d.lists = append(d.lists, at)
		before, forms, err := decodeList(list)
		if err != nil || !l.loadForms(g, d, forms) {
			return nil, false
		}
		at = before
	}
	return d, true
}

// loadForms fills in the forms of a list, where no later list has spoken already.
func (l lane) loadForms(g Ledger, d *decision, forms []listed) bool {
	var last *form // many items that are left out have one form
	for _, f := range forms {
		if f.item >= d.depth() {
			return false
		}
		if d.forms[f.item] != nil {
			continue
		}
		if last != nil && last.name == f.form {
			d.forms[f.item] = last
			continue
		}
		value, _, found := g.Get(l.formKey(f.form))
		if !found {
			return false
		}
		form, err := decodeForm(value)
		if err != nil {
			return false
		}
		form.name = f.form
		d.forms[f.item], last = form, form
	}
	return true
}

// deepest finds the decision for the longest prefix of the chain. standing is one that is known already.
func (l lane) deepest(g Ledger, chain []Link, standing *decision) *decision {
	id := l.id()
	least := 0
	if standing != nil {
		least = standing.depth()
	}
	for i := len(chain) - 1; i > least; i-- {
		if d, ok := l.load(g, decisionKey(id, chain[i])); ok && d.depth() == i {
			return d
		}
	}
	if standing != nil {
		return standing
	}
	return l.ofAnotherModel(g, chain)
}

// ofAnotherModel finds the deepest decision of any upstream and model: the first request of another model begins with it.
func (l lane) ofAnotherModel(g Ledger, chain []Link) *decision {
	for i := len(chain) - 1; i > 0; i-- {
		value, _, found := g.Get(l.conversationKey(chain[i]))
		if !found {
			continue
		}
		c, err := readConversation(value)
		if err != nil {
			continue
		}
		if d, ok := l.load(g, decisionKey(c.lane, chain[i])); ok && d.depth() == i {
			d.version, d.outcomes = 0, nil // it is recorded in another lane
			return d
		}
	}
	return &decision{}
}

// write records the forms that d has and base has not, and then the list of them. It must come before the record itself.
func (l lane) write(g Ledger, d, base *decision) error {
	var added, all []listed
	var last *form
	for i, f := range d.forms {
		if f == nil {
			continue
		}
		if i >= base.depth() || base.forms[i] != f {
			if err := l.writeForm(g, f, last); err != nil {
				return err
			}
			last = f
			added = append(added, listed{i, f.name})
		}
		all = append(all, listed{i, f.name})
	}
	d.lists = base.lists
	if len(added) == 0 {
		return nil
	}
	before := base.lists
	value := encodeList(base.latest(), added)
	if len(before) >= mostLists {
		before, value = nil, encodeList(ref{}, all)
	}
	d.lists = append([]ref{refOf(string(value))}, before...)
	if _, _, err := g.Add(l.listKey(d.latest()), value); err != nil {
		return fmt.Errorf("cannot record the forms of a decision: %w", err)
	}
	return nil
}

// writeForm records a form, unless it is the one that was recorded last.
func (l lane) writeForm(g Ledger, f, last *form) error {
	if f == last {
		return nil
	}
	value := f.encode()
	f.name = refOf(string(value))
	if _, _, err := g.Add(l.formKey(f.name), value); err != nil {
		return fmt.Errorf("cannot record a form: %w", err)
	}
	return nil
}

// conversation is what a prefix belongs to.
type conversation struct {
	name ref
	lane ref // where a decision for the prefix was recorded first
}

func (c conversation) record() []byte {
	return append(append([]byte{formVersion}, c.name[:]...), c.lane[:]...)
}

func readConversation(b []byte) (c conversation, err error) {
	if len(b) != 1+len(c.name)+len(c.lane) || b[0] != formVersion {
		return c, errUnreadable
	}
	copy(c.name[:], b[1:])
	copy(c.lane[:], b[1+len(c.name):])
	return c, nil
}
