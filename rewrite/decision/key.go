package decision

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
)

// Key is what the forms of a request are found by, and read with. Its text opens nothing to who has no ledger, and
// tells nothing of what a conversation says: all in it is hashed.
type Key struct {
	Dialect string  // the key of the one that the forms are written in
	Ratio   float64 // tokens of the model for each that the forms are counted in
	// by which items were sent before the decision that the request brought about; nil if it brought about none
	Before *Decision
	Tag    string // of the turn in which it was decided; empty where there are none

	scope, latest Ref
	depth         int
}

// perRatio is how many parts of a ratio's unit a key tells apart.
const perRatio = 10_000

// KeyOf is the text of the key of a decision on this route; empty if all items are sent whole. It finds the same forms
// whatever is decided for the request later.
func (l Route) KeyOf(d *Decision, k Key) string {
	if len(d.Lists) == 0 {
		return ""
	}
	scope := l.scopeRef()
	b := append(append(make([]byte, 0, 4*len(scope)), scope[:]...), d.Lists[0][:]...)
	b = binary.AppendUvarint(b, uint64(d.Depth()))
	b = binary.AppendUvarint(b, uint64(math.Round(k.Ratio*perRatio)))
	b = append(binary.AppendUvarint(b, uint64(len(k.Dialect))), k.Dialect...)
	if k.Before != nil {
		before := k.Before.latest()
		b = append(b, before[:]...)
	}
	text := base64.RawURLEncoding.EncodeToString(b)
	if k.Tag != "" {
		text += tagMark + k.Tag
	}
	return text
}

// tagMark parts the text of a key from the tag behind it.
const tagMark = "~"

// InPlaceOf is the text of a key whose decision has taken the place of the first one for a request: what is new in it
// is new against what stood before that one.
func InPlaceOf(first, text string) string {
	f, ok := ParseKey(first)
	k, known := ParseKey(text)
	if !ok || !known || f.Before == nil {
		return text
	}
	// both are as KeyOf has written them
	coded, tag, tagged := strings.Cut(text, tagMark)
	raw, _ := base64.RawURLEncoding.DecodeString(coded)
	if k.Before != nil {
		raw = raw[:len(raw)-len(Ref{})]
	}
	before := f.Before.latest()
	if text = base64.RawURLEncoding.EncodeToString(append(raw, before[:]...)); tagged {
		text += tagMark + tag
	}
	return text
}

// ParseKey reads the text of a key; ok is false if it is none.
func ParseKey(text string) (k Key, ok bool) {
	text, k.Tag, _ = strings.Cut(text, tagMark)
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) <= len(k.scope)+len(k.latest) {
		return Key{}, false
	}
	b = b[copy(k.scope[:], b):]
	b = b[copy(k.latest[:], b):]
	var numbers [3]uint64
	for i := range numbers {
		n := 0
		if numbers[i], n = binary.Uvarint(b); n <= 0 {
			return Key{}, false
		}
		b = b[n:]
	}
	depth, ratio, name := numbers[0], numbers[1], numbers[2]
	if depth > mostItems || k.latest == (Ref{}) || name > uint64(len(b)) {
		return Key{}, false
	}
	k.depth, k.Ratio, k.Dialect = int(depth), float64(ratio)/perRatio, string(b[:name]) //nolint:gosec // checked
	switch b = b[name:]; len(b) {
	case 0:
		return k, true
	case len(Ref{}):
		k.Before = &Decision{}
		if before := Ref(b); before != (Ref{}) {
			k.Before.Lists = []Ref{before}
		}
		return k, true
	}
	return Key{}, false
}

// Forms reads the forms of the request's items behind the head; found is false if one of them is not kept any more.
func (k Key) Forms(g Ledger) (forms []*Form, found bool) { return k.formsOf(g, k.latest) }

// FormsBefore reads in what forms the items were sent before, all of them whole if nothing was recorded. known is false
// if that is not kept any more, or if nothing was decided that could have changed it.
func (k Key) FormsBefore(g Ledger) (forms []*Form, known bool) {
	if k.Before == nil {
		return nil, false
	}
	return k.formsOf(g, k.Before.latest())
}

func (k Key) formsOf(g Ledger, latest Ref) ([]*Form, bool) {
	d := &Decision{Forms: make([]*Form, k.depth)}
	found := Route{scope: k.scope}.loadLists(g, d, latest)
	return d.Forms, found
}

// SendsAs reports whether an item in this form is sent as in the other one.
func (f *Form) SendsAs(other *Form) bool {
	if f == nil || other == nil {
		return f == other
	}
	if f.Gone != other.Gone || f.Fold != other.Fold || f.With != other.With || f.Said != other.Said ||
		len(f.Patches) != len(other.Patches) {
		return false
	}
	for i, q := range f.Patches {
		if q != other.Patches[i] {
			return false
		}
	}
	return true
}
