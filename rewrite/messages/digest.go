package messages

import (
	"crypto/sha256"
	"errors"

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

// Digest is a sum of an item: of a message, or of blocks of the user's. A text and a list of that text alone are one.
// What a message has beside role and content belongs to its last item.
func (Dialect) Digest(body []byte, it *conversation.Item) (sum span.Sum, err error) {
	var list []span.Member
	switch {
	case it.Outer.Empty():
		list, err = membersOf(body, it.Span, func(i int) (int, span.Sum, error) { return contentSum(body, i) })
	case it.Role == conversation.Tool:
		_, sum, err = span.Digest(body, it.Start, loose{})
		list = []span.Member{{Key: "result", Value: sum}}
	default:
		sum, err = blocksSum(body, func(f func(int) (int, error)) error { return span.Each(body, it.Content, f) })
		list = []span.Member{{Key: "content", Value: sum}, {Key: "role", Value: span.LeafSum('v', []byte(`"user"`))}}
	}
	if last := span.SkipSpace(body, it.End); err == nil && !it.Outer.Empty() && body[last] == ']' {
		var more []span.Member
		more, err = membersOf(body, it.Outer, nil)
		list = append(list, more...)
	}
	return sha256.Sum256(span.AppendMembers([]byte{'{'}, list)), err
}

// membersOf are the members of the message at place: all but the marks, its content as the reader sums it up. Without a
// reader they are those beside role and content.
func membersOf(
	body []byte, place span.Span, content func(i int) (int, span.Sum, error),
) (list []span.Member, err error) {
	_, err = span.Members(body, place.Start, func(key []byte, i int) (end int, err error) {
		var sum span.Sum
		switch {
		case string(key) == "content" && content != nil:
			end, sum, err = content(i)
		case content == nil && (string(key) == "content" || string(key) == "role"), string(key) == marker:
			return span.EndOfValue(body, i)
		default:
			end, sum, err = span.Digest(body, i, nil)
		}
		list = append(list, span.Member{Key: string(key), Value: sum})
		return end, err
	})
	return list, err
}

// contentSum is a sum of the content that begins at body[i].
func contentSum(body []byte, i int) (end int, sum span.Sum, err error) {
	if body[i] != '[' {
		return span.Digest(body, i, nil)
	}
	sum, err = blocksSum(body, func(f func(int) (int, error)) (err error) {
		end, err = span.Elements(body, i, f)
		return err
	})
	return end, sum, err
}

// blocksSum is a sum of the blocks that each gives, but for what was thought: clients send that back or leave it out as
// they like. The first block waits for a second one, so that a long text which is all there is is summed up once.
func blocksSum(body []byte, each func(f func(i int) (int, error)) error) (span.Sum, error) {
	all, n, first := []byte{'['}, 0, 0
	var sole span.Span
	add := func(i int) error {
		_, sum, err := span.Digest(body, i, loose{})
		all = append(all, sum[:]...)
		return err
	}
	err := each(func(i int) (int, error) {
		b, err := readBlock(body, i)
		if err != nil || b.kind == thoughtBlock {
			return b.End, err
		}
		switch n++; {
		case n == 1 && b.kind == textBlock:
			if _, sole, err = plainText(body, i); err == nil && sole.Empty() {
				err = add(i)
			}
			first = i
		case n == 2 && !sole.Empty():
			err = errors.Join(add(first), add(i))
		default:
			err = add(i)
		}
		return b.End, err
	})
	if err == nil && n == 1 && !sole.Empty() {
		return span.LeafSum('v', sole.Of(body)), nil
	}
	return sha256.Sum256(all), err
}
