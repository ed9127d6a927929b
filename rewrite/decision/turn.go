package decision

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"epitome/rewrite/conversation"
)

// Turns is a Ledger that others share, behind a network. What one request asks of it is a Turn.
type Turns interface {
	Ledger
	// Turn begins one. What has the same tag may be written as one change.
	Turn(tag string) Turn
}

// Turn is a Ledger as one request asks it: what was read once is not asked for again, what is added waits for Commit,
// and an answer that does not come leaves all that follows unanswered. A Turn has one user at a time.
type Turn interface {
	Ledger
	// Failure is why not all that was asked is known; nil as long as it is. What is not known reads as not found.
	Failure() error
	// Read reads together what stands under those of the keys that were not asked for before.
	Read(keys []string)
	// Knows reports whether it was asked what stands under the key.
	Knows(key string) bool
	// Commit writes what was added, and behind it the records, up to the first under which something else stands. Get
	// and Add know then what stands. The error is ErrTie, ErrUnsure, or one after which nothing was written.
	Commit(records []Entry) error
	// Stamp notes a moment under a key. Nobody waits for that, and it may be lost.
	Stamp(key string, at time.Time)
	// Stamped returns the moment that was noted, by the clock of whoever asks; not found is also one behind which a
	// later one may be lost.
	Stamped(key string) (at time.Time, found bool)
}

// Entry is what is to stand under a key.
type Entry struct {
	Key   string
	Value []byte
}

var (
	// ErrTie says that somebody was faster: how a conversation goes on has to be asked again.
	ErrTie = errors.New("another request went on from here first")

	// ErrUnsure says that nobody knows whether a decision was recorded.
	ErrUnsure = errors.New("it is not known whether the decision was recorded")
)

// Tag names what conversations have in common that begin with the same item behind the head.
func (l Route) Tag(chain []conversation.Link) string {
	scope, first := l.scopeRef(), chain[min(1, len(chain)-1)]
	tag := RefOf("tag", string(scope[:]), string(first[:]))
	return hex.EncodeToString(tag[:8])
}

// AskedKey is the key of when a prefix was sent last on the route.
func (l Route) AskedKey(at conversation.Link) string {
	id := l.ID()
	return "p" + string(id[:]) + string(at[:])
}

// FirstLinks are how many links of a chain are read at first: nearly always one of them has a decision.
const FirstLinks = 16

// KeysAt are the keys of what is recorded of prefixes on this route.
func KeysAt(l Route, links []conversation.Link) []string {
	id := l.ID()
	keys := make([]string, 0, 4*len(links))
	for _, at := range links {
		keys = append(keys, DecisionKey(id, at), l.ConversationKey(at), l.NextKey(at), l.AskedKey(at))
	}
	return keys
}

// ahead reads a chain from its end on, many links at once, where each question costs time.
type ahead struct {
	turn  Turn // nil: no question does
	route Route
	chain []conversation.Link
	links int // that are read next
}

func newAhead(l Route, g Ledger, chain []conversation.Link) ahead {
	t, _ := g.(Turn)
	return ahead{t, l, chain, FirstLinks}
}

// reach sees to it that what stands at link i is known, and at those before it down to the least.
func (a *ahead) reach(i, least int) {
	if a.turn == nil || a.turn.Knows(a.route.ConversationKey(a.chain[i])) {
		return
	}
	a.turn.Read(KeysAt(a.route, a.chain[max(i-a.links, least)+1:i+1]))
	a.links *= 2
}

// RecordIn is the value under a decision's key in the ledger. Behind a network it names all forms, so that those are
// read together.
func (d *Decision) RecordIn(g Ledger) []byte {
	if _, far := g.(Turn); far {
		return d.wholeRecord()
	}
	return d.Record()
}

// wholeVersion is the first byte of a record that names all forms.
const wholeVersion = 2

// wholeRecord is a record that names all forms: each once, and then where it stands, in runs of items.
func (d *Decision) wholeRecord() []byte {
	latest := d.latest()
	b := append([]byte{wholeVersion}, latest[:]...)
	b = binary.AppendUvarint(b, uint64(d.Depth()))
	var names []Ref
	var runs []uint64 // items without a form before it, items that have it, its place in names
	end := 0
	for i := 0; i < d.Depth(); i++ {
		f := d.Forms[i]
		if f == nil {
			continue
		}
		first := i
		for i+1 < d.Depth() && d.Forms[i+1] != nil && d.Forms[i+1].Name == f.Name {
			i++
		}
		at := slices.Index(names, f.Name)
		if at < 0 {
			at, names = len(names), append(names, f.Name)
		}
		runs, end = append(runs, uint64(first-end), uint64(i+1-first), uint64(at)), i+1 //nolint:gosec // counts
	}
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, n := range names {
		b = append(b, n[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(runs)))
	for _, n := range runs {
		b = binary.AppendUvarint(b, n)
	}
	return d.Outcomes.Append(b)
}

// readWhole reads what wholeRecord wrote.
func readWhole(b []byte) (d *Decision, forms []listed, err error) {
	var latest Ref
	if len(b) < 1+len(latest) || b[0] != wholeVersion {
		return nil, nil, errUnreadable
	}
	r := reader{b[1+copy(latest[:], b[1:]):]}
	d = &Decision{Forms: make([]*Form, r.number(mostItems))}
	if latest != (Ref{}) {
		d.Lists = []Ref{latest}
	}
	names := make([]Ref, r.number(len(r.left)/len(Ref{})))
	for i := range names {
		copy(names[i][:], r.next(len(Ref{})))
	}
	item := 0
	for range r.number(len(r.left)) / 3 {
		item += r.number(d.Depth())
		count, at := r.number(d.Depth()-min(item, d.Depth())), r.number(len(names)-1)
		if r.left == nil {
			return nil, nil, errUnreadable
		}
		for range count {
			forms = append(forms, listed{item, names[at]})
			item++
		}
	}
	if r.left == nil {
		return nil, nil, errUnreadable
	}
	d.Outcomes, err = ReadOutcomes(r.left)
	return d, forms, err
}

// reader reads numbers and bytes; left is nil once something was not as it was written.
type reader struct{ left []byte }

// number reads one that is no more than most.
func (r *reader) number(most int) int {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || most < 0 || v > uint64(most) {
		r.left = nil
		return 0
	}
	if r.left = r.left[n:]; r.left == nil {
		r.left = []byte{}
	}
	return int(v) //nolint:gosec // checked
}

func (r *reader) next(n int) []byte {
	if len(r.left) < n {
		r.left = nil
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

// readForms has the forms of a list read together, where each question costs time.
func readForms(l Route, g Ledger, forms []listed) {
	t, far := g.(Turn)
	if !far {
		return
	}
	var keys []string
	for i, f := range forms {
		if i == 0 || forms[i-1].form != f.form {
			keys = append(keys, l.FormKey(f.form))
		}
	}
	t.Read(keys)
}

// Repair writes a decision again that was sent and is not found any more, with all that it needs, and returns what
// stands then: the decision, or nil if another one does.
func Repair(l Route, t Turn, d *Decision, at conversation.Link) *Decision {
	whole := &Decision{Forms: d.Forms, Outcomes: d.Outcomes}
	if l.Write(t, whole, &Decision{}) != nil {
		return d
	}
	key, value := DecisionKey(l.ID(), at), whole.RecordIn(t)
	err := t.Commit([]Entry{{key, value}})
	now, version, found := t.Get(key)
	switch {
	case err != nil || !found: // what is sent is remembered here, and put again with the next request
		return d
	case string(now) != string(value):
		return nil
	}
	whole.Version = version
	return whole
}
