package conversation

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Hash is a digest of what an item shows to the model. Marks for the cache and reasoning are no part of it, as clients
// move the ones and leave out the others; a string and a list of one text part are equal.
type Hash [sha256.Size]byte

// hashOf hashes an item by its fields, or by its bytes where none was read.
func (r *Request) hashOf(it *Item) Hash {
	d := digest{sha256.New()}
	d.number(int(it.Role))
	if it.Role == Unknown || len(it.Parts)+len(it.Calls) == 0 {
		d.field(r.unmarked(it.Span, []Item{*it}))
	}
	d.field([]byte(it.Name))
	d.field([]byte(it.Answers))
	if it.IsError {
		d.number(1)
	}
	d.number(len(it.Parts))
	for _, p := range it.Parts {
		shown := p.Span
		if p.Kind == TextPart || p.Empty() {
			shown = p.Value
		}
		d.number(int(p.Kind))
		d.field(r.unmarked(shown, []Item{*it}))
	}
	d.number(len(it.Calls))
	for _, c := range it.Calls {
		d.field([]byte(c.ID))
		d.field([]byte(c.Name))
		d.field(c.Arguments.Of(r.Body))
	}
	return Hash(d.Sum(nil))
}

// digest hashes fields so that no two lists of them are equal.
type digest struct{ hash.Hash }

func (d digest) number(n int) { d.Write(binary.AppendUvarint(nil, uint64(n))) }

func (d digest) field(value []byte) {
	d.number(len(value))
	d.Write(value)
}
