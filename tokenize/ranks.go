package tokenize

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"math/bits"
	"strconv"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// noRank is no token's rank, and larger than any.
const noRank = 1<<31 - 1

// ranks says which byte strings are tokens, and in which order they are merged. It does not change once made.
//
// A token is known by its keyed hash of 64 bits alone: that other bytes have the hash of a token, and are taken for it,
// is less likely than an error of the memory. Nearly all time of a count is spent waiting for memory here, so a lookup
// touches few places.
type ranks struct {
	seed  maphash.Seed
	keys  []uint64 // hashes of tokens, from the place on that their top bits name; 0 is an empty place
	ranks []int32  // of the token in the same place of keys
	shift int      // brings a hash to its place
	maybe []uint64 // a bit for each value of a hash's top maybeBits; where it is not set there is no token
	pairs []int32  // ranks of two bytes, by their value as a number
	most  int      // bytes of the longest token
}

// maybeBits is the size of maybe, as a power of two. It is small enough to stay close to the processor, and large
// enough to say of most bytes that they are no token; most lookups while merging are of such bytes.
const maybeBits = 20

// loadRanks reads a published vocabulary out of the program. Each row of the file has a token in base64, a blank and
// its rank; go.sum has the checksum of the module with the file.
func loadRanks(file string, tokens int) (*ranks, error) {
	rows, err := assets.Assets.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read vocabulary %s: %w", file, err)
	}
	width := bits.Len(uint(tokens)) + 1 //nolint:gosec // a count; with one bit more, at most half of the places are taken
	r := &ranks{
		seed: maphash.MakeSeed(), keys: make([]uint64, 1<<width), ranks: make([]int32, 1<<width), shift: 64 - width,
		maybe: make([]uint64, 1<<(maybeBits-6)), pairs: make([]int32, 1<<16),
	}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	var token []byte
	for row := range bytes.Lines(rows) {
		text, digits, _ := bytes.Cut(bytes.TrimSuffix(row, []byte{'\n'}), []byte{' '})
		token, err = base64.StdEncoding.AppendDecode(token[:0], text)
		rank, rankErr := strconv.Atoi(string(digits))
		if err != nil || rankErr != nil {
			return nil, fmt.Errorf("cannot read vocabulary %s: a row is %.300q", file, row)
		}
		r.add(token, int32(rank)) //nolint:gosec // less than tokens
	}
	return r, nil
}

func (r *ranks) add(token []byte, rank int32) {
	r.most = max(r.most, len(token))
	if len(token) == 2 {
		r.pairs[int(token[0])<<8|int(token[1])] = rank
	}
	h := r.hash(token)
	r.maybe[h>>(64-maybeBits)/64] |= 1 << (h >> (64 - maybeBits) % 64)
	i := r.place(h)
	r.keys[i], r.ranks[i] = h, rank
}

// hash returns the hash of b, which is never 0.
func (r *ranks) hash(b []byte) uint64 { return maphash.Bytes(r.seed, b) | 1 }

// place returns the index of a hash in keys, or of the empty place where it would stand.
func (r *ranks) place(h uint64) int {
	i := int(h >> r.shift) //nolint:gosec // less than len(r.keys)
	for r.keys[i] != h && r.keys[i] != 0 {
		i = (i + 1) & (len(r.keys) - 1)
	}
	return i
}

// of returns the rank of a token, noRank for any other bytes.
func (r *ranks) of(b []byte) int32 {
	if len(b) > r.most {
		return noRank
	}
	h := r.hash(b)
	if bit := h >> (64 - maybeBits); r.maybe[bit/64]>>(bit%64)&1 == 0 {
		return noRank
	}
	if i := r.place(h); r.keys[i] != 0 {
		return r.ranks[i]
	}
	return noRank
}
