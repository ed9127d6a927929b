package responses

import (
	"crypto/sha256"

	"epitome/pattern/lazy"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// breakpoint is the key of a mark for the provider's cache, which moves from part to part.
const breakpoint = "prompt_cache_breakpoint"

// loose is what digests of entries leave out: ids, which clients make anew, and marks for the cache.
type loose struct {
	message bool // what says its type may be left out
	byID    bool // it is told by its id
}

// Moves reports whether a key of an entry, or of a part of its content, does not count.
func (l loose) Moves(key []byte, depth int) bool {
	const inner = 2 // of a part in a list in an entry
	switch string(key) {
	case "id":
		return depth == 0 && !l.byID
	case "type":
		return depth == 0 && l.message
	case breakpoint:
		return depth == inner
	}
	return false
}

// SoleText is the text of a content or an output that is a list of this text alone.
func (loose) SoleText(body, key []byte, i int) (text span.Span, end int) {
	if string(key) != "content" && string(key) != "output" {
		return text, 0
	}
	return span.SoleText(body, i, plainText)
}

// plainText is the text of the part that begins at body[i], if it says no more than that; and where the part ends.
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
			typed = string(body[i:end]) == `"input_text"` || string(body[i:end]) == `"output_text"`
		case string(key) == "annotations" || string(key) == "logprobs":
			plain = plain && span.SkipSpace(body, i+1) == end-1 // an empty list
		default:
			plain = plain && string(key) == breakpoint
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

// Digest is a sum of an item, without what the model thought: clients send that back or leave it out as they like. A
// text and a list of that text alone are one, and so are an input that is a text and a message of the user's with it.
func (Dialect) Digest(body []byte, it *conversation.Item) (span.Sum, error) {
	all := append(make([]byte, 0, 1+4*sha256.Size), '[') // most items are of less entries
	if body[it.Start] == '"' {
		sum := span.MemberSum([]span.Member{
			{Key: []byte("content"), Value: span.LeafSum('v', it.Of(body))}, {Key: []byte("role"), Value: userSum.Get()}})
		return sha256.Sum256(append(all, sum[:]...)), nil
	}
	err := span.Each(body, it.Span, func(i int) (int, error) {
		e, err := readEntry(body, i)
		if err != nil || e.kind == reasoningEntry {
			return e.End, err
		}
		_, sum, err := span.Digest(body, i, loose{message: e.kind == messageEntry,
			byID: e.kind == referenceEntry || e.named})
		all = append(all, sum[:]...)
		return e.End, err
	})
	return sha256.Sum256(all), err
}
