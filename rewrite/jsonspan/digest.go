package jsonspan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Sum is a digest of a value.
type Sum [sha256.Size]byte

// Member is a key with the digest of its value.
type Member struct {
	Key   []byte
	Value Sum
}

// Digest digests the value that begins at body[i], whatever its white space and the order of its keys, and returns the
// index behind it. Keys that skip reports do not count; their depth is 0 for those of the value itself, and one more at
// each level. skip may be nil.
func Digest(body []byte, i int, skip func(key []byte, depth int) bool) (end int, sum Sum, err error) {
	return digest(body, i, skip, 0)
}

func digest(body []byte, i int, skip func(key []byte, depth int) bool, depth int) (end int, sum Sum, err error) {
	switch {
	case depth > maxDepth:
		return 0, sum, errTooDeep
	case i < len(body) && body[i] == '{':
		list := make([]Member, 0, 8) // most have no more
		end, err = Members(body, i, func(key []byte, i int) (int, error) {
			if skip != nil && skip(key, depth) {
				return EndOfValue(body, i)
			}
			end, sum, err := digest(body, i, skip, depth+1)
			list = append(list, Member{key, sum})
			return end, err
		})
		return end, MemberSum(list), err
	case i < len(body) && body[i] == '[':
		list := make([]Sum, 0, 4)
		end, err = Elements(body, i, func(i int) (int, error) {
			end, sum, err := digest(body, i, skip, depth+1)
			list = append(list, sum)
			return end, err
		})
		return end, ListSum(list), err
	}
	if end, err = EndOfValue(body, i); err != nil {
		return 0, sum, err
	}
	return end, LeafSum(body[i:end]), nil
}

// LeafSum returns the digest of a value without values in it, as it is written.
func LeafSum(value []byte) Sum { return sha256.Sum256(value) }

// ListSum returns the digest of a list with these values.
func ListSum(list []Sum) Sum {
	all := append(make([]byte, 0, 1+4*len(Sum{})), '[')
	for i := range list {
		all = append(all, list[i][:]...)
	}
	return sha256.Sum256(all)
}

// MemberSum returns the digest of an object with these members, which it sorts.
func MemberSum(list []Member) Sum {
	slices.SortFunc(list, func(a, b Member) int { return bytes.Compare(a.Key, b.Key) })
	all := append(make([]byte, 0, 512), '{') // what most objects come to
	for _, m := range list {
		all = append(binary.AppendUvarint(all, uint64(len(m.Key))), m.Key...)
		all = append(all, m.Value[:]...)
	}
	return sha256.Sum256(all)
}
