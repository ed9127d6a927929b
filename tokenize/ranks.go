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
type ranks struct {
	seed  maphash.Seed
	slots [1 << slotBits]slot
	pairs [1 << 16]int32 // ranks of two bytes, by their value as a number
	most  int            // bytes of the longest token
}

// slot has a token. It stands at the top slotBits of its hash, or behind that.
type slot struct {
	hash uint64 // 0: the slot is empty
	rank int32
}

const slotBits = 19 // for 200,000 tokens: more than half of the slots are empty

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
		*r.slot(h) = slot{h, int32(rank)}
	}
	return r
})

// hash returns the hash of b, which is never 0.
func (r *ranks) hash(b []byte) uint64 { return maphash.Bytes(r.seed, b) | 1 }

// slot returns the slot of the token with a hash, or the empty one where it would stand.
func (r *ranks) slot(hash uint64) *slot {
	i := hash >> (64 - slotBits)
	for r.slots[i].hash != hash && r.slots[i].hash != 0 {
		i = (i + 1) % uint64(len(r.slots))
	}
	return &r.slots[i]
}

// of returns the rank of a token, noRank for any other bytes.
func (r *ranks) of(b []byte) int32 {
	if len(b) > r.most {
		return noRank
	}
	h := r.hash(b)
	if s := r.slot(h); s.hash != 0 {
		return s.rank
	}
	return noRank
}
