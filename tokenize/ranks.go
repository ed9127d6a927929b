package tokenize

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// noRank is no token's rank, and larger than any.
const noRank = 1<<31 - 1

// ranks says which byte strings are tokens, and in which order they are merged. It does not change once made.
//
// Nearly all time of a count is spent waiting for memory here, so a question touches as few places as can be: one for
// tokens of up to seven bytes, which are their own key, two for the others.
type ranks struct {
	keys  []uint64 // words that are tokens; open addressing, 0 is empty
	ranks []int32  // of the token in the same place of keys
	slots []uint64 // longer tokens, open addressing: upper half of the hash, and place in blob plus one; 0 is empty
	blob  []byte   // longer tokens: length in one byte, rank in three, and the token
	maybe []uint64 // a bit for each hash's top bits; where it is not set there is no token
	pairs []int32  // rank of two bytes, by their value as a number
	shift uint8    // brings a word's hash to a place in keys
	tail  uint64   // mask that brings a hash to a slot
	added int      // tokens so far
	most  int      // bytes of the longest token
}

// vocabularyFile is a published vocabulary and the checksum that its publisher gives for it.
type vocabularyFile struct {
	name   string
	sha256 string
	tokens int
}

// loadRanks reads a vocabulary out of the program.
func loadRanks(f vocabularyFile) (*ranks, error) {
	text, err := assets.Assets.ReadFile(f.name)
	if err != nil {
		return nil, fmt.Errorf("cannot read vocabulary %s: %w", f.name, err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != f.sha256 {
		return nil, fmt.Errorf("cannot use vocabulary %s: its checksum is %x, want %s", f.name, sum, f.sha256)
	}
	r := newRanks(f.tokens, len(text)/2)
	if err := r.addRows(text); err != nil {
		return nil, fmt.Errorf("cannot read vocabulary %s: %w", f.name, err)
	}
	return r, nil
}

// newRanks makes room for a vocabulary, at most about half of which is then taken: half of a vocabulary's tokens are
// words.
func newRanks(tokens, size int) *ranks {
	width := bits.Len(uint(tokens)) //nolint:gosec // a count
	r := &ranks{
		keys: make([]uint64, 1<<width), ranks: make([]int32, 1<<width),
		shift: uint8(64 - width), //nolint:gosec // at most 64
		slots: make([]uint64, 1<<width), tail: 1<<width - 1, blob: make([]byte, 0, size), pairs: make([]int32, 1<<16),
		maybe: make([]uint64, 1<<(maybeBits-6)),
	}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	return r
}

// addRows adds the rows of a vocabulary: the token in base64, a blank, its rank, and the end of the line. Ranks come in
// order.
func (r *ranks) addRows(rows []byte) error {
	room := make([]byte, 0, mostToken+3)
	for len(rows) > 0 {
		var row []byte
		row, rows, _ = bytes.Cut(rows, []byte{'\n'})
		text, digits, _ := bytes.Cut(row, []byte{' '})
		token, err := base64.StdEncoding.AppendDecode(room, text)
		rank, rankErr := strconv.Atoi(string(digits))
		if err != nil || rankErr != nil || len(token) == 0 || len(token) > mostToken || rank != r.added {
			return fmt.Errorf("row %d is %.300q", r.added+1, row)
		}
		r.add(token, int32(rank)) //nolint:gosec // counted from 0
	}
	return nil
}

// mostToken is as many bytes as a token may have: its length has one byte in blob.
const mostToken = 255

// add adds the next token.
func (r *ranks) add(token []byte, rank int32) {
	r.added++
	r.most = max(r.most, len(token))
	if len(token) == 2 {
		r.pairs[int(token[0])<<8|int(token[1])] = rank
	}
	if len(token) <= wordBytes {
		w := wordOf(token)
		r.note(w.hash())
		i := r.place(w)
		r.keys[i], r.ranks[i] = uint64(w), rank
		return
	}
	h := hashBytes(token)
	r.note(h)
	i := h & r.tail
	for r.slots[i] != 0 {
		i = (i + 1) & r.tail
	}
	r.slots[i] = h&^0xffffffff | uint64(len(r.blob)+1) //nolint:gosec // a length
	//nolint:gosec // a rank has 18 bits
	r.blob = append(r.blob, byte(len(token)), byte(rank), byte(rank>>8), byte(rank>>16))
	r.blob = append(r.blob, token...)
}

// wordBytes is the length of the longest word.
const wordBytes = 7

// word is a byte string of one to seven bytes: the bytes from the lowest on, the length in the highest.
type word uint64

// wordOf returns b, of one to seven bytes, as a word.
func wordOf(b []byte) word { return word(tail(b) | uint64(len(b))<<56) }

// wordAt returns the word of n bytes at b[i]. Eight bytes must be there to read.
func wordAt(b []byte, i, n int) word {
	return word(binary.LittleEndian.Uint64(b[i:])&(1<<(8*uint(n)&63)-1) | uint64(n)<<56) //nolint:gosec // at most 7
}

// hash returns a hash whose best bits are on top.
func (w word) hash() uint64 { return uint64(w^w>>29) * 0x9e3779b97f4a7c15 }

// hashBytes mixes eight bytes at a time. It need not withstand an enemy: the most he can do is make each lookup as slow
// as a miss.
func hashBytes(b []byte) uint64 {
	const k1, k2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h := uint64(len(b)) * k2
	for len(b) > 8 {
		h = bits.RotateLeft64((h^binary.LittleEndian.Uint64(b))*k1, 29)
		b = b[8:]
	}
	h = (h ^ tail(b)) * k1
	h ^= h >> 32
	return h * k2
}

// tail returns b, of at most eight bytes, as a number; the first byte is the lowest.
func tail(b []byte) uint64 {
	switch n := len(b); {
	case n == 8:
		return binary.LittleEndian.Uint64(b)
	case n >= 4: // two reads that overlap where their bytes are the same
		//nolint:gosec // at most 3
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*uint(n-4))
	case n >= 2:
		//nolint:gosec // at most 1
		return uint64(binary.LittleEndian.Uint16(b)) | uint64(binary.LittleEndian.Uint16(b[n-2:]))<<(8*uint(n-2))
	case n == 1:
		return uint64(b[0])
	}
	return 0
}

// maybeBits is the size of maybe, as a power of two. It is small enough to stay close to the processor, and large
// enough to say of most non-tokens that they are none; while merging, most questions are about those.
const maybeBits = 20

func (r *ranks) note(h uint64) {
	h >>= 64 - maybeBits
	r.maybe[h/64] |= 1 << (h % 64)
}

func (r *ranks) knows(h uint64) bool {
	h >>= 64 - maybeBits
	return r.maybe[h/64]>>(h%64)&1 != 0
}

// of returns the rank of a token, noRank for any other bytes.
func (r *ranks) of(b []byte) int32 {
	switch n := len(b); {
	case n > r.most:
		return noRank
	case n <= wordBytes:
		return r.ofWord(wordOf(b))
	}
	if h := hashBytes(b); r.knows(h) {
		return r.ofLong(b, h)
	}
	return noRank
}

// ofWord does what of does, for a word.
func (r *ranks) ofWord(w word) int32 {
	if !r.knows(w.hash()) {
		return noRank
	}
	if i := r.place(w); r.keys[i] != 0 {
		return r.ranks[i]
	}
	return noRank
}

// place returns the index of the word in keys, or the empty place where it would stand.
func (r *ranks) place(w word) uint64 {
	i := w.hash() >> r.shift
	for r.keys[i] != uint64(w) && r.keys[i] != 0 {
		i = (i + 1) & r.tail
	}
	return i
}

// ofLong does what of does, for a token longer than a word. h is the hash of b.
func (r *ranks) ofLong(b []byte, h uint64) int32 {
	for i := h & r.tail; ; i = (i + 1) & r.tail {
		slot := r.slots[i]
		if slot == 0 {
			return noRank
		}
		if slot>>32 != h>>32 {
			continue
		}
		at := r.blob[uint32(slot)-1:] //nolint:gosec // the lower half
		if int(at[0]) == len(b) && bytes.Equal(at[4:4+len(b)], b) {
			return int32(at[1]) | int32(at[2])<<8 | int32(at[3])<<16
		}
	}
}
