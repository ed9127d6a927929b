package tokenize

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// noRank is no token's rank, and larger than any.
const noRank = 1<<31 - 1

// ranks says which byte strings are tokens, and in which order they are merged. It does not change once made.
//
// A token is known by its keyed hash of 64 bits alone: that other bytes have the hash of a token, and are taken for it,
// is less likely than an error of the memory. Nearly all time of a count is spent waiting for memory here, so a lookup
// touches one place: a map takes half as long again.
//
// The lower bits of a token's hash say in which slot it stands, or behind which. The slot has the upper bits, and in the
// place of the lower ones its rank plus one; an empty slot has 0.
type ranks struct {
	seed  maphash.Seed
	slots [1 << slotBits]uint64
	pairs [1 << 16]int32 // ranks of two bytes, by their value as a number
	most  int            // bytes of the longest token
}

const (
	rankBits = 18 // for 200,000 tokens
	slotBits = 19 // more than half of the slots are empty
)

// vocabulary returns the published vocabulary. Each row of its file, which is in the program, has a token in base64, a
// blank and its rank; go.sum has the checksum of the module with the file.
var vocabulary = sync.OnceValue(func() *ranks {
	rows, err := assets.Assets.ReadFile(Vocabulary + ".tiktoken")
	if err != nil {
		panic(fmt.Sprintf("BUG: cannot read the vocabulary: %v", err))
	}
	r := &ranks{seed: maphash.MakeSeed()}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	var token []byte
	for row := range bytes.Lines(rows) {
		text, digits, _ := bytes.Cut(bytes.TrimSuffix(row, []byte{'\n'}), []byte{' '})
		token, err = base64.StdEncoding.AppendDecode(token[:0], text)
		rank, rankErr := strconv.Atoi(string(digits))
		if err != nil || rankErr != nil {
			panic(fmt.Sprintf("BUG: cannot read row %.300q of the vocabulary", row))
		}
		r.most = max(r.most, len(token))
		if len(token) == 2 {
			r.pairs[int(token[0])<<8|int(token[1])] = int32(rank)
		}
		h := r.hash(token)
		*r.slot(h) = h>>rankBits<<rankBits | uint64(rank+1) //nolint:gosec // the file has no negative rank
	}
	return r
})

func (r *ranks) hash(b []byte) uint64 { return maphash.Bytes(r.seed, b) }

// slot returns the slot of the token with a hash, or the empty one where it would stand.
func (r *ranks) slot(hash uint64) *uint64 {
	for i := hash; ; i++ {
		s := &r.slots[i%uint64(len(r.slots))]
		if *s == 0 || *s>>rankBits == hash>>rankBits {
			return s
		}
	}
}

// of returns the rank of a token, noRank for any other bytes.
func (r *ranks) of(b []byte) int32 {
	if len(b) > r.most {
		return noRank
	}
	s := *r.slot(r.hash(b))
	if s == 0 {
		return noRank
	}
	return int32(s&(1<<rankBits-1)) - 1
}
