package messages

import (
	"crypto/sha256"
	"errors"

	"epitome/pattern/lazy"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// marker is the key of a mark for the provider's cache, which moves from block to block.
const marker = "cache_control"

// loose is what digests of blocks leave out: marks for the cache, in a result's own blocks too.
type loose struct{}

// Moves reports whether a key of a block, or of a block in its content, does not count.
func (loose) Moves(key []byte, depth int) bool {
	const inner = 2 // of a block in a list in a block
	return string(key) == marker && (depth == 0 || depth == inner)
}

// SoleText is the text of a result whose content is a list of this text alone.
func (loose) SoleText(body, key []byte, i int) (text span.Span, end int) {
	if string(key) != "content" {
		return text, 0
	}
	return span.SoleText(body, i, plainText)
}

// plainText is the text of the block that begins at body[i], if it says no more than that; and where the block ends.
func plainText(body []byte, i int) (end int, text span.Span, err error) {
	if body[i] != '{' {
		end, err = span.EndOfValue(body, i)
		return end, text, err
	}
	plain, typed := true, false
	end, err = span.Members(body, i, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		switch {
		case err != nil:
		case string(key) == "text" && body[i] == '"':
			text = span.Span{Start: i, End: end}
		case string(key) == "type":
			typed = string(body[i:end]) == `"text"`
		default:
			plain = plain && string(key) == marker
		}
		return end, err
	})
	if !plain || !typed {
		text = span.Span{}
	}
	return end, text, err
}

// userSum is the digest of the user's role.
var userSum = lazy.Of(sumOfUser)

func sumOfUser() span.Sum { return span.LeafSum('v', []byte(`"user"`)) }

// Digest is a sum of an item: of a message, or of blocks of the user's. A text and a list of that text alone are one.
// What a message has beside role and content belongs to its last item.
func (Dialect) Digest(body []byte, it *conversation.Item) (_ span.Sum, err error) {
	list := make([]span.Member, 0, 4) // most messages have less
	switch {
	case it.Outer.Empty():
		list, err = appendMembers(list, body, it.Span, true)
	case it.Role == conversation.Tool:
		var sum span.Sum
		_, sum, err = span.Digest(body, it.Start, loose{})
		list = append(list, span.Member{Key: []byte("result"), Value: sum})
	default:
		said := newBlocks(body)
		err = span.Each(body, it.Content, said.read)
		list = append(list, span.Member{Key: []byte("content"), Value: said.sum()},
			span.Member{Key: []byte("role"), Value: userSum.Get()})
	}
	if last := span.SkipSpace(body, it.End); err == nil && !it.Outer.Empty() && body[last] == ']' {
		list, err = appendMembers(list, body, it.Outer, false)
	}
	return span.MemberSum(list), err
}

// appendMembers appends the members of the message at place: all but the marks, or only those beside role and content.
func appendMembers(list []span.Member, body []byte, place span.Span, all bool) ([]span.Member, error) {
	_, err := span.Members(body, place.Start, func(key []byte, i int) (end int, err error) {
		var sum span.Sum
		switch {
		case string(key) == marker, !all && (string(key) == "content" || string(key) == "role"):
			return span.EndOfValue(body, i)
		case string(key) == "content" && body[i] == '[':
			said := newBlocks(body)
			end, err = span.Elements(body, i, said.read)
			sum = said.sum()
		default:
			end, sum, err = span.Digest(body, i, nil)
		}
		list = append(list, span.Member{Key: key, Value: sum})
		return end, err
	})
	return list, err
}

// blocks are summed up one by one, but for what was thought: clients send that back or leave it out as they like. The
// first one waits for a second one, so that a long text which is all there is is summed up once.
type blocks struct {
	body  []byte
	sums  []byte
	count int
	first int       // where the first one begins
	sole  span.Span // the text of the first one, if it says no more than that
}

// newBlocks returns no blocks yet of a body.
func newBlocks(body []byte) blocks {
	return blocks{body: body, sums: append(make([]byte, 0, 1+4*sha256.Size), '[')}
}

// add sums up the block that begins at body[i].
func (b *blocks) add(i int) error {
	_, sum, err := span.Digest(b.body, i, loose{})
	b.sums = append(b.sums, sum[:]...)
	return err
}

// read takes the next block, which begins at body[i].
func (b *blocks) read(i int) (int, error) {
	next, err := readBlock(b.body, i)
	if err != nil || next.kind == thoughtBlock {
		return next.End, err
	}
	switch b.count++; {
	case b.count == 1 && next.kind == textBlock:
		if _, b.sole, err = plainText(b.body, i); err == nil && b.sole.Empty() {
			err = b.add(i)
		}
		b.first = i
	case b.count == 2 && !b.sole.Empty():
		err = errors.Join(b.add(b.first), b.add(i))
	default:
		err = b.add(i)
	}
	return next.End, err
}

// sum is a sum of all of them.
func (b *blocks) sum() span.Sum {
	if b.count == 1 && !b.sole.Empty() {
		return span.LeafSum('v', b.sole.Of(b.body))
	}
	return sha256.Sum256(b.sums)
}
