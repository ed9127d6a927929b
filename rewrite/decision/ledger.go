package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"epitome/rewrite/conversation"
)

// Ledger keeps decisions by key. What cannot be read is not found; what was added stays as it is until it is swapped.
type Ledger interface {
	Get(key string) (value []byte, version uint64, found bool)
	// Add sets value if there is none, and returns what stands there afterwards.
	Add(key string, value []byte) (standing []byte, version uint64, err error)
	// Swap sets value in the place of version old, and returns what stands there afterwards.
	Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error)
	// Touch lets what stands under the key live on. due says that this was not done for long, so that whatever hangs on
	// the key needs a touch as well.
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

// FarShelf is a Shelf that may lie beyond a network, so that each question to it takes time.
type FarShelf interface {
	Shelf
	// Expect says that these names are asked for next, all together.
	Expect(names []string)
	// PutAll does what Put does with each artifact, and returns the error of one that cannot be kept.
	PutAll(list []Artifact, late bool) error
}

// Route is where a conversation runs. Decisions are made for one route; what a conversation is called is told by scope
// and dialect alone.
type Route struct {
	Scope, Upstream, Model string
	Dialect                string // its key

	id, scope Ref // hashes that each key needs; zero until Hash
}

// Hash is the route with what its keys need computed once, for all keys of a request.
func (l Route) Hash() Route {
	l.id, l.scope = l.ID(), l.scopeRef()
	return l
}

// Ref names what is recorded under a hash of itself.
type Ref [16]byte

// RefOf is the name of what consists of these parts.
func RefOf(parts ...string) (r Ref) {
	const most = 256 // bytes that need no memory of their own; keys of requests have fewer
	all := make([]byte, 0, most)
	for _, p := range parts {
		all = append(binary.AppendUvarint(all, uint64(len(p))), p...)
	}
	sum := sha256.Sum256(all)
	copy(r[:], sum[:])
	return r
}

// The keys of what is recorded. The first byte says what it is, and a hash of scope and dialect stands in each:
// dialects share no decisions, forms or names. A dialect whose key is empty adds nothing to the hash.

// ID names the route in keys and records.
func (l Route) ID() Ref {
	if l.id != (Ref{}) {
		return l.id
	}
	return RefOf(l.withDialect(l.Scope, l.Upstream, l.Model)...)
}

// scopeRef names scope and dialect.
func (l Route) scopeRef() Ref {
	if l.scope != (Ref{}) {
		return l.scope
	}
	return RefOf(l.withDialect(l.Scope)...)
}

// withDialect is what consists of these parts in this dialect.
func (l Route) withDialect(parts ...string) []string {
	if l.Dialect != "" {
		parts = append(parts, l.Dialect)
	}
	return parts
}

// DecisionKey is the key of the decision for a prefix on the route of that name.
func DecisionKey(route Ref, at conversation.Link) string {
	return "d" + string(route[:]) + string(at[:])
}

// BoundKey is the key of a model at an upstream that was seen to bind its thinking to what stands before it, whoever
// asks it.
func BoundKey(upstream, model string) string {
	name := RefOf(upstream, model)
	return "t" + string(name[:])
}

// WarningKey is the key of the smallest room that a request was told to go beyond on the route of that name.
func WarningKey(route Ref, at conversation.Link) string {
	return "w" + string(route[:]) + string(at[:])
}

// ConversationKey is the key of what conversation a prefix belongs to.
func (l Route) ConversationKey(at conversation.Link) string { return l.keyOf('c', at[:]) }

// NextKey is the key of how the conversation went on behind a prefix.
func (l Route) NextKey(at conversation.Link) string { return l.keyOf('n', at[:]) }

// AdditionKey is the key of what was added to conversations that begin with a prefix, by all that asked for it.
func AdditionKey(l Route, at conversation.Link) string { return l.keyOf('a', at[:]) }

// FormKey is the key of a form.
func (l Route) FormKey(f Ref) string { return l.keyOf('f', f[:]) }

// ListKey is the key of a list of forms.
func (l Route) ListKey(f Ref) string { return l.keyOf('l', f[:]) }

// keyOf is the key of what has the name, of one kind, in this scope and dialect.
func (l Route) keyOf(kind byte, name []byte) string {
	scope := l.scopeRef()
	key := make([]byte, 0, 1+len(scope)+len(name))
	key = append(append(key, kind), scope[:]...)
	return string(append(key, name...))
}

// Decision says in what form each item of a prefix is sent. It does not change once it is recorded.
type Decision struct {
	Forms   []*Form // of each item behind the head; nil is whole
	Lists   []Ref   // what together holds the forms, the latest first; none if all are whole
	Version uint64  // of the record; 0 if it was not recorded

	Outcomes Outcomes // of the compactions until then
}

// Depth is how many items the decision rules.
func (d *Decision) Depth() int { return len(d.Forms) }

// formVersion is the first byte of everything recorded here; what has another one was written by another epitome, and
// is not understood.
const formVersion = 1

var errUnreadable = errors.New("a record is not as it was written")

// Record is the value under a decision's key.
func (d *Decision) Record() []byte {
	latest := d.latest()
	b := append([]byte{formVersion}, latest[:]...)
	return d.Outcomes.Append(binary.AppendUvarint(b, uint64(d.Depth())))
}

// latest is the list that leads to all forms; the zero ref if there are none.
func (d *Decision) latest() (l Ref) {
	if len(d.Lists) > 0 {
		l = d.Lists[0]
	}
	return l
}

// readRecord reads what record wrote; the forms come from the list.
func readRecord(b []byte) (d *Decision, latest Ref, err error) {
	if len(b) < 1+len(latest) || b[0] != formVersion {
		return nil, latest, errUnreadable
	}
	b = b[1+copy(latest[:], b[1:]):]
	depth, n := binary.Uvarint(b)
	if n <= 0 || depth > mostItems {
		return nil, latest, errUnreadable
	}
	all, err := ReadOutcomes(b[n:])
	return &Decision{Forms: make([]*Form, depth), Outcomes: all}, latest, err
}

const (
	mostLists = 32      // that are read for one decision; then all forms go into one list again
	mostItems = 1 << 24 // that a record may speak of; more is no record
)

// listed is an item's form in a list.
type listed struct {
	item int
	form Ref
}

// encodeList writes a list of forms that follows another one, or none.
func encodeList(before Ref, forms []listed) []byte {
	b := append([]byte{formVersion}, before[:]...)
	for _, f := range forms {
		b = append(binary.AppendUvarint(b, uint64(f.item)), f.form[:]...)
	}
	return b
}

func decodeList(b []byte) (before Ref, forms []listed, err error) {
	if len(b) < 1+len(before) || b[0] != formVersion {
		return before, nil, errUnreadable
	}
	b = b[1+copy(before[:], b[1:]):]
	for len(b) > 0 {
		item, n := binary.Uvarint(b)
		if n <= 0 || len(b) < n+len(Ref{}) {
			return before, nil, errUnreadable
		}
		f := listed{item: int(item)} //nolint:gosec // checked against the depth
		copy(f.form[:], b[n:])
		forms, b = append(forms, f), b[n+len(Ref{}):]
	}
	return before, forms, nil
}

// LoadDecision reads the decision recorded under the key, with all its forms. A decision of which any part cannot be
// read is not found: a shallower one rules then.
func (l Route) LoadDecision(g Ledger, key string) (*Decision, bool) {
	value, version, found := g.Get(key)
	if !found {
		return nil, false
	}
	if len(value) > 0 && value[0] == wholeVersion {
		d, forms, err := readWhole(value)
		if err != nil || !l.loadForms(g, d, forms) {
			return nil, false
		}
		d.Version = version
		return d, true
	}
	d, at, err := readRecord(value)
	if err != nil {
		return nil, false
	}
	d.Version = version
	if !l.loadLists(g, d, at) {
		return nil, false
	}
	return d, true
}

// loadLists fills in the forms of a list and of all that it follows, and reports whether it could.
func (l Route) loadLists(g Ledger, d *Decision, at Ref) bool {
	for at != (Ref{}) {
		list, _, found := g.Get(l.ListKey(at))
		if !found || len(d.Lists) > mostLists {
			return false
		}
		d.Lists = append(d.Lists, at)
		before, forms, err := decodeList(list)
		if err != nil || !l.loadForms(g, d, forms) {
			return false
		}
		at = before
	}
	return true
}

// loadForms fills in the forms of a list, where no later list has spoken already.
func (l Route) loadForms(g Ledger, d *Decision, forms []listed) bool {
	readForms(l, g, forms)
	var last *Form // many items that are left out have one form
	for _, f := range forms {
		if f.item >= d.Depth() {
			return false
		}
		if d.Forms[f.item] != nil {
			continue
		}
		if last != nil && last.Name == f.form {
			d.Forms[f.item] = last
			continue
		}
		value, _, found := g.Get(l.FormKey(f.form))
		if !found {
			return false
		}
		form, err := decodeForm(value)
		if err != nil {
			return false
		}
		form.Name = f.form
		d.Forms[f.item], last = form, form
	}
	return true
}

// Deepest finds the decision for the longest prefix of the chain. standing is one that is known already.
func (l Route) Deepest(g Ledger, chain []conversation.Link, standing *Decision) *Decision {
	id := l.ID()
	least := 0
	if standing != nil {
		least = standing.Depth()
	}
	a := newAhead(l, g, chain)
	for i := len(chain) - 1; i > least; i-- {
		a.reach(i, least)
		if d, ok := l.LoadDecision(g, DecisionKey(id, chain[i])); ok && d.Depth() == i {
			return d
		}
	}
	if standing != nil {
		return standing
	}
	return l.ofAnotherModel(g, chain)
}

// ofAnotherModel finds the deepest decision of any upstream and model: the first request of another model begins with
// it.
func (l Route) ofAnotherModel(g Ledger, chain []conversation.Link) *Decision {
	for i := len(chain) - 1; i > 0; i-- {
		value, _, found := g.Get(l.ConversationKey(chain[i]))
		if !found {
			continue
		}
		c, err := ReadIdentity(value)
		if err != nil {
			continue
		}
		if d, ok := l.LoadDecision(g, DecisionKey(c.Route, chain[i])); ok && d.Depth() == i {
			d.Version, d.Outcomes = 0, nil // it is recorded in another lane
			return d
		}
	}
	return &Decision{}
}

// Write records the forms that d has and base has not, and then the list of them. It must come before the record
// itself.
func (l Route) Write(g Ledger, d, base *Decision) error {
	var added, all []listed
	var last *Form
	for i, f := range d.Forms {
		if f == nil {
			continue
		}
		if i >= base.Depth() || base.Forms[i] != f {
			if err := l.writeForm(g, f, last); err != nil {
				return err
			}
			last = f
			added = append(added, listed{i, f.Name})
		}
		all = append(all, listed{i, f.Name})
	}
	d.Lists = base.Lists
	if len(added) == 0 {
		return nil
	}
	before := base.Lists
	value := encodeList(base.latest(), added)
	if _, far := g.(Turn); far || len(before) >= mostLists {
		before, value = nil, encodeList(Ref{}, all)
	}
	d.Lists = append([]Ref{RefOf(string(value))}, before...)
	if _, _, err := g.Add(l.ListKey(d.latest()), value); err != nil {
		return fmt.Errorf("cannot record the forms of a decision: %w", err)
	}
	return nil
}

// writeForm records a form, unless it is the one that was recorded last.
func (l Route) writeForm(g Ledger, f, last *Form) error {
	if f == last {
		return nil
	}
	value := f.encode()
	f.Name = RefOf(string(value))
	if _, _, err := g.Add(l.FormKey(f.Name), value); err != nil {
		return fmt.Errorf("cannot record a form: %w", err)
	}
	return nil
}

// Crosses reports whether a form of the first n items stands for items behind those, too.
func (d *Decision) Crosses(n int) bool {
	for i, f := range d.Forms[:n] {
		if f == nil {
			continue
		}
		if i+max(f.Fold, f.Over) > n {
			return true
		}
	}
	return false
}

// NameForms gives the forms the names under which they would be recorded, where nothing can be.
func (d *Decision) NameForms() {
	for _, f := range d.Forms {
		if f != nil && f.Name == (Ref{}) {
			f.Name = RefOf(string(f.encode()))
		}
	}
}

// DropForm takes the form of item i away, with all that depends on it: a summary speaks of all that was left out with
// it, and what was left out before for another reason goes with the run that has taken it in.
func (d *Decision) DropForm(i int) {
	f := d.Forms[i]
	drop := func(k, run int) { clear(d.Forms[k:min(len(d.Forms), k+max(1, run))]) }
	drop(i, f.Fold)
	if f.Fold == 0 || f.Rung != RungCompact {
		return
	}
	for k, g := range d.Forms {
		if g != nil && g.Rung == RungCompact {
			drop(k, g.Fold)
		}
	}
}
