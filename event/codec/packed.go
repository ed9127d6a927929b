package codec

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"epitome/event"
)

// mostNames bounds how many texts lie in memory once for all that have them; further ones stand where they are said.
const mostNames = 1024

// Packer packs exchanges, and unpacks those that it has packed. Any number of goroutines may unpack while none packs.
// The zero value is ready.
type Packer struct {
	names   []string // that many have in common; the number of one is its index, from 1
	numbers map[string]int
	packing coder
}

// Pack appends an exchange to dst. What is not written down of it, the ids of its trace, is left out.
func (p *Packer) Pack(dst []byte, e *event.Exchange) []byte {
	p.packing = coder{b: dst, packer: p, packs: true}
	p.packing.exchange(e)
	return p.packing.b
}

// Unpack fills e with what was packed. Its texts are not those that were packed, but equal to them.
func (p *Packer) Unpack(packed []byte, e *event.Exchange) {
	*e = event.Exchange{}
	c := coder{b: packed, packer: p}
	c.exchange(e)
}

// ConversationOf returns the id of the conversation of an exchange that was packed, as a part of packed.
func ConversationOf(packed []byte) []byte {
	size, at := binary.Uvarint(packed)
	return packed[at:][:size]
}

// number is that of a name, which gets one if there is room; 0 if not.
func (p *Packer) number(name string) int {
	if n := p.numbers[name]; n > 0 || len(p.names) >= mostNames {
		return n
	}
	if p.numbers == nil {
		p.numbers = map[string]int{}
	}
	name = string([]byte(name)) // it may be a part of something large
	p.names = append(p.names, name)
	p.numbers[name] = len(p.names)
	return len(p.names)
}

// coder goes through the fields of an exchange, to pack or to unpack them.
type coder struct {
	b      []byte // what is packed so far; what is still to be unpacked
	packer *Packer
	packs  bool
}

func (c *coder) uint(n uint64) uint64 {
	switch {
	case c.packs && n < 0x80: // most are
		c.b = append(c.b, byte(n))
		return n
	case c.packs:
		c.b = binary.AppendUvarint(c.b, n)
		return n
	case c.b[0] < 0x80:
		n, c.b = uint64(c.b[0]), c.b[1:]
		return n
	}
	n, size := binary.Uvarint(c.b)
	c.b = c.b[size:]
	return n
}

func (c *coder) int(n int64) int64 {
	if !c.packs {
		zigzag := c.uint(0)
		return int64(zigzag>>1) ^ -int64(zigzag&1)
	}
	c.uint(uint64(n)<<1 ^ uint64(n>>63))
	return n
}

// number is a field that is one.
func number[T ~int | ~int8 | ~uint16 | ~int32 | ~int64 | ~uint64](c *coder, field *T) {
	*field = T(c.int(int64(*field)))
}

// text is a field that differs from exchange to exchange.
func text(c *coder, field *string) {
	size := c.uint(uint64(len(*field)))
	if c.packs {
		c.b = append(c.b, *field...)
		return
	}
	*field, c.b = string(c.b[:size]), c.b[size:]
}

// name is a field that many exchanges have in common.
func name[T ~string](c *coder, field *T) {
	n := 0
	if c.packs && *field != "" {
		n = c.packer.number(string(*field))
	}
	// 0 is a text that stands here, 1 the empty one
	switch at := c.uint(nameAt(n, *field == "")); {
	case c.packs && n > 0, at == 1:
	case at > 1:
		*field = T(c.packer.names[at-2])
	default:
		s := string(*field)
		text(c, &s)
		*field = T(s)
	}
}

func nameAt(number int, empty bool) uint64 {
	switch {
	case empty:
		return 1
	case number > 0:
		return uint64(number) + 1
	}
	return 0
}

// flags are fields that are true or false.
func flags(c *coder, fields ...*bool) {
	var all uint64
	for i, field := range fields {
		if *field {
			all |= 1 << i
		}
	}
	all = c.uint(all)
	for i, field := range fields {
		*field = all&(1<<i) != 0
	}
}

// part goes through the fields of a part of an exchange, unless that is zero.
func part[T comparable](c *coder, field *T, fields func(*coder, *T)) {
	var zero T
	there := uint64(0)
	if *field != zero {
		there = 1
	}
	if c.uint(there) != 0 {
		fields(c, field)
	}
}

// fraction is a field that need not be whole. Those that are short in decimal are not short in binary, but many are 0.
func fraction(c *coder, field *float64) {
	*field = math.Float64frombits(bits.ReverseBytes64(c.uint(bits.ReverseBytes64(math.Float64bits(*field)))))
}

// Zones of a time; greater ones are an offset.
const (
	zoneHere = iota
	zoneUTC
	zoneOther
)

// instant is a time without a reading of the monotonic clock.
func instant(c *coder, field *time.Time) {
	seconds, nanoseconds, zone := c.int(field.Unix()), c.int(int64(field.Nanosecond())), uint64(zoneHere)
	switch field.Location() {
	case time.Local:
	case time.UTC:
		zone = zoneUTC
	default:
		zone = zoneOther
	}
	zone = c.uint(zone)
	at := time.Unix(seconds, nanoseconds)
	switch zone {
	case zoneUTC:
		at = at.UTC()
	case zoneOther:
		_, offset := field.Zone()
		at = at.In(time.FixedZone("", int(c.int(int64(offset)))))
	}
	if !c.packs {
		*field = at
	}
}
