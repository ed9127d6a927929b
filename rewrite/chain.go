package rewrite

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// Link names a prefix of a conversation: it is equal for two conversations only if the items of that prefix are the same.
type Link [sha256.Size]byte

// Chain gives, for each number of items behind the head, the link that names them: chain[0] is no item at all, and
// chain[i+1] adds item Head+i to chain[i]. The head itself, tools and everything else beside the messages stay out:
// agents put clocks in them.
func (r *Request) Chain() []Link {
	return r.chainFrom(make([]Link, 0, len(r.Items)-r.Head+1))
}

// chainFrom is the chain of which the first links are known.
func (r *Request) chainFrom(chain []Link) []Link {
	if len(chain) == 0 {
		chain = append(chain, sha256.Sum256([]byte("epitome chain 1")))
	}
	for _, it := range r.Items[r.Head+len(chain)-1:] {
		last := chain[len(chain)-1]
		_, item, err := r.digest(it.Start, 0)
		if err != nil { // something further in is odd, and counts as it stands
			item = leaf('?', it.Of(r.Body))
		}
		chain = append(chain, sha256.Sum256(append(last[:], item[:]...)))
	}
	return chain
}

// moves says which keys of an item, or of something so deep in it, change or go by themselves while the conversation stays
// the same, so that no link covers them: marks for a provider's cache, and reasoning, which clients send back or leave out
// as they like.
func moves(key string, depth int) bool {
	const part = 2 // of a content, or a call
	switch key {
	case "cache_control":
		return depth <= part
	case "reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking":
		return depth == 0
	}
	return false
}

// deep is where nothing moves any more.
const deep = 3

// digest covers the value that begins at body[i], so deep in its item, whatever its white space and the order of its keys,
// and says where it ends. It looks at every byte once: each level covers the digests of the one below.
func (r *Request) digest(i, depth int) (end int, d Link, err error) {
	switch r.Body[i] {
	case '{':
		return r.digestObject(i, depth)
	case '[':
		all := []byte{'['}
		end, err = elements(r.Body, i, func(i int) (int, error) {
			end, d, err := r.digest(i, depth+1)
			all = append(all, d[:]...)
			return end, err
		})
		return end, sha256.Sum256(all), err
	}
	if end, err = value(r.Body, i); err != nil {
		return 0, d, err
	}
	return end, leaf('v', r.Body[i:end]), nil
}

// member is a key with the digest of its value.
type member struct {
	key   string
	value Link
}

func (r *Request) digestObject(i, depth int) (end int, d Link, err error) {
	var list []member
	end, err = members(r.Body, i, func(key []byte, i int) (int, error) {
		if depth == 0 {
			if text, end := r.soleText(string(key), i); !text.Empty() { // the same as the text itself
				list = append(list, member{string(key), leaf('v', text.Of(r.Body))})
				return end, nil
			}
		}
		end, d, err := r.digest(i, depth+1)
		if !moves(string(key), depth) {
			list = append(list, member{string(key), d})
		}
		return end, err
	})
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.key, b.key) })
	all := []byte{'{'}
	for _, m := range list {
		all = append(binary.AppendUvarint(all, uint64(len(m.key))), m.key...)
		all = append(all, m.value[:]...)
	}
	return end, sha256.Sum256(all), err
}

// leaf is the digest of a value without values in it.
func leaf(kind byte, b []byte) (d Link) {
	h := sha256.New()
	h.Write([]byte{kind})
	h.Write(b)
	h.Sum(d[:0])
	return d
}
