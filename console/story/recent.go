package story

import (
	"encoding/json"
	"fmt"
	"sort"

	"epitome/event"
	"epitome/event/codec"
)

// chunkSize is how many bytes of packed events lie together.
const chunkSize = 64 << 10

// recent are the newest events in the order of their numbers. They lie packed: as they are, they would be most of what
// an idle program holds in memory.
type recent struct {
	packer codec.Packer
	places []place
	next   int // where the oldest one is, once it is full
	chunks []chunk
	free   []int // chunks without an event
	last   int   // the chunk that is written
	text   []byte

	troubles []uint64 // numbers of the newest exchanges that went wrong, the oldest first
}

// place is where an event is.
type place struct {
	seq   uint64
	chunk int32
	at    int32 // in the chunk
	size  int32
	plain bool // it is an exchange, packed; any other event is JSON
}

// chunk is some events, one behind the other.
type chunk struct {
	text []byte
	live int // events in it that are kept
}

// push adds the newest event. If it has taken the place of another one, full is true, with the number of that one and
// the id of its conversation.
func (r *recent) push(n Entry) (seq uint64, talk string, full bool) {
	if full = len(r.places) == mostEntries; full {
		old := r.places[r.next]
		seq, talk = old.seq, r.talkAt(old)
		r.let(old)
	}
	at := r.put(n)
	r.noteTrouble(n)
	if !full {
		r.places = append(r.places, at)
		return 0, "", false
	}
	r.places[r.next] = at
	r.next = (r.next + 1) % mostEntries
	return seq, talk, true
}

// put writes an event behind the others.
func (r *recent) put(n Entry) place {
	at := place{seq: n.Seq(), plain: n.Exchange != nil}
	if at.plain {
		r.text = r.packer.Pack(r.text[:0], n.Exchange)
	} else {
		var err error
		if r.text, err = json.Marshal(n); err != nil {
			r.text = []byte("{}") // append says so
		}
	}
	if len(r.chunks) == 0 || len(r.chunks[r.last].text)+len(r.text) > chunkSize {
		r.begin()
	}
	c := &r.chunks[r.last]
	at.chunk, at.at, at.size = int32(r.last), int32(len(c.text)), int32(len(r.text))
	c.text, c.live = append(c.text, r.text...), c.live+1
	return at
}

// begin goes on in a chunk that is empty.
func (r *recent) begin() {
	if n := len(r.free); n > 0 {
		r.last, r.free = r.free[n-1], r.free[:n-1]
		return
	}
	r.last = len(r.chunks)
	r.chunks = append(r.chunks, chunk{text: make([]byte, 0, chunkSize)})
}

// let lets go of an event.
func (r *recent) let(old place) {
	c := &r.chunks[old.chunk]
	if c.live--; c.live == 0 {
		c.text = c.text[:0]
		if int(old.chunk) != r.last {
			r.free = append(r.free, int(old.chunk))
		}
	}
}

func (r *recent) packed(at place) []byte { return r.chunks[at.chunk].text[at.at:][:at.size] }

// talkAt is the id of the conversation of an event.
func (r *recent) talkAt(at place) string {
	if at.plain {
		return string(codec.ConversationOf(r.packed(at)))
	}
	return r.read(at).talk()
}

// read is an event as it was.
func (r *recent) read(at place) (n Entry) {
	if at.plain {
		n.Exchange = &event.Exchange{}
		r.packer.Unpack(r.packed(at), n.Exchange)
		return n
	}
	if err := json.Unmarshal(r.packed(at), &n); err != nil {
		panic(fmt.Sprintf("BUG: an event that is kept cannot be read: %v", err))
	}
	return n
}

func (r *recent) count() int { return len(r.places) }

// placeOf is where the i-th one is, the oldest first.
func (r *recent) placeOf(i int) place { return r.places[(r.next+i)%len(r.places)] }

// at is the i-th one, the oldest first.
func (r *recent) at(i int) Entry { return r.read(r.placeOf(i)) }

// from is the index of the first one with at least that number.
func (r *recent) from(seq uint64) int {
	return sort.Search(r.count(), func(i int) bool { return r.placeOf(i).seq >= seq })
}

// find returns the event of that number, if it is kept.
func (r *recent) find(seq uint64) (n Entry, ok bool) {
	i := r.from(seq)
	if i == r.count() || r.placeOf(i).seq != seq {
		return n, false
	}
	return r.at(i), true
}
