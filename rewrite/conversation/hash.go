package conversation

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash is a digest of what an item shows to the model. Marks for the cache and reasoning are no part of it, as clients
// move the ones and leave out the others; a string and a list of one text part are equal.
type Hash [sha256.Size]byte

// hashOf hashes item i by its fields, or by its bytes where none was read. Each field comes behind its length, so that
// no two lists of fields are equal.
func (r *Request) hashOf(i int) Hash {
	it, h := &r.Items[i], sha256.New()
	number := func(n int) { h.Write(binary.AppendUvarint(nil, uint64(n))) }
	field := func(value []byte) {
		number(len(value))
		h.Write(value)
	}
	number(int(it.Role))
	if it.Role == Unknown || len(it.Parts)+len(it.Calls) == 0 {
		field(r.Source(i, i+1))
	}
	field([]byte(it.Name))
	field([]byte(it.Answers))
	if it.IsError {
		number(1)
	}
	number(len(it.Parts))
	for _, p := range it.Parts {
		shown := p.Span
		if p.Kind == TextPart || p.Empty() {
			shown = p.Value
		}
		number(int(p.Kind))
		field(r.unmarked(shown, r.Items[i:i+1]))
	}
	number(len(it.Calls))
	for _, c := range it.Calls {
		field([]byte(c.ID))
		field([]byte(c.Name))
		field(c.Arguments.Of(r.Body))
	}
	return Hash(h.Sum(nil))
}
