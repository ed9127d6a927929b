package jsonspan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// Loose says what of a value a digest leaves out. The value has depth 0, and what stands in it one more at each level.
type Loose interface {
	// Moves reports whether a key at a depth, with its value, does not count.
	Moves(key []byte, depth int) bool
	// SoleText is the text under the key at depth 0 of which the value at body[i] says no more than that, and where the
	// value ends; nothing if it says more.
	SoleText(body, key []byte, i int) (text Span, end int)
}

// errMore ends a search for the one text of a list that has more in it.
var errMore = errors.New("there is more in the list")

// SoleText is the one text that is all of the list that begins at body[i], and where the list ends; nothing if there
// is more in it, or no list. plain reads a value: where it ends, and its text if it says no more than that.
func SoleText(
	body []byte, i int, plain func(body []byte, i int) (end int, text Span, err error),
) (text Span, end int) {
	if body[i] != '[' { // so it is most often, and nothing has to be made for it
		return Span{}, 0
	}
	return soleText(body, i, plain)
}

// soleText is SoleText for a list. It is apart because what it hands to the reader lies on the heap.
func soleText(
	body []byte, i int, plain func(body []byte, i int) (end int, text Span, err error),
) (text Span, end int) {
	end, err := Elements(body, i, func(i int) (int, error) {
		if !text.Empty() {
			return 0, errMore
		}
		end, found, err := plain(body, i)
		if err == nil && found.Empty() {
			err = errMore
		}
		text = found
		return end, err
	})
	if err != nil {
		return Span{}, 0
	}
	return text, end
}

// Sum is a digest of a value.
type Sum [sha256.Size]byte

// Digest digests the value that begins at body[i], whatever its white space and the order of its keys, and returns the
// index behind it. It looks at every byte once: each level covers the digests of the one below. loose may be nil: then
// all counts.
func Digest(body []byte, i int, loose Loose) (end int, d Sum, err error) {
	return digester{body, loose}.value(i, 0)
}

// digester digests the values of a body.
type digester struct {
	body  []byte
	loose Loose
}

func (g digester) value(i, depth int) (end int, d Sum, err error) {
	if i >= len(g.body) {
		return 0, d, ErrNoJSON
	}
	if depth > deepest {
		return 0, d, errTooDeep
	}
	switch g.body[i] {
	case '{':
		return g.object(i, depth)
	case '[':
		list := make([]Sum, 0, few)
		end, err = Elements(g.body, i, func(i int) (int, error) {
			end, d, err := g.value(i, depth+1)
			list = append(list, d)
			return end, err
		})
		return end, ListSum(list), err
	}
	if end, err = EndOfValue(g.body, i); err != nil {
		return 0, d, err
	}
	return end, LeafSum('v', g.body[i:end]), nil
}

// few is how many values most lists have at the most, and most objects half of their members.
const few = 4

// Member is a key with the digest of its value.
type Member struct {
	Key   []byte
	Value Sum
}

func (g digester) object(i, depth int) (end int, d Sum, err error) {
	var room [2 * few]Member
	list := room[:0]
	end, err = Members(g.body, i, func(key []byte, i int) (int, error) {
		if g.loose != nil && depth == 0 {
			if text, end := g.loose.SoleText(g.body, key, i); !text.Empty() { // the same as the text itself
				list = append(list, Member{key, LeafSum('v', text.Of(g.body))})
				return end, nil
			}
		}
		if g.loose != nil && g.loose.Moves(key, depth) {
			return EndOfValue(g.body, i)
		}
		end, d, err := g.value(i, depth+1)
		list = append(list, Member{key, d})
		return end, err
	})
	return end, MemberSum(list), err
}

// ListSum returns the digest of a list with these values.
func ListSum(list []Sum) Sum {
	all := append(make([]byte, 0, 1+few*len(Sum{})), '[')
	for i := range list {
		all = append(all, list[i][:]...)
	}
	return sha256.Sum256(all)
}

// MemberSum returns the digest of an object with these members, which it sorts.
func MemberSum(list []Member) Sum {
	all := make([]byte, 0, 512) // what most objects come to
	return sha256.Sum256(AppendMembers(append(all, '{'), list))
}

// AppendMembers writes members in the order of their keys.
func AppendMembers(dst []byte, list []Member) []byte {
	slices.SortFunc(list, func(a, b Member) int { return bytes.Compare(a.Key, b.Key) })
	for _, m := range list {
		dst = append(binary.AppendUvarint(dst, uint64(len(m.Key))), m.Key...)
		dst = append(dst, m.Value[:]...)
	}
	return dst
}

// LeafSum returns the digest of a value without values in it.
func LeafSum(kind byte, b []byte) (d Sum) {
	h := sha256.New()
	h.Write([]byte{kind})
	h.Write(b)
	h.Sum(d[:0])
	return d
}
