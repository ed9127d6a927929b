package conversation

import (
	"crypto/sha256"

	"epitome/rewrite/span"
)

// Link names a prefix of a conversation: it is equal for two conversations only if the items of that prefix are the
// same.
type Link [sha256.Size]byte

// ChainFrom returns, for each number of items behind the head, the link that names them: the first names no item at
// all, and link i+1 adds item Head+i to link i. chain holds the links that are known already; nil if none is. The head
// itself, tools and everything else beside the messages stay out: agents put clocks in them. What names messages that
// lie with the provider stands before the first.
func (r *Request) ChainFrom(chain []Link) []Link {
	if len(chain) == 0 {
		first := []byte("epitome chain 1")
		if !r.Upkeep.Before.Empty() {
			first = append(append(first, 0), r.Upkeep.Before.Of(r.Body)...)
		}
		chain = append(make([]Link, 0, len(r.Items)-r.Head+1), sha256.Sum256(first))
	}
	for i := r.Head + len(chain) - 1; i < len(r.Items); i++ {
		it, last := &r.Items[i], chain[len(chain)-1]
		item, err := r.Dialect.Digest(r.Body, it)
		if err != nil { // something further in is odd, and counts as it stands
			item = span.LeafSum('?', it.Of(r.Body))
		}
		chain = append(chain, sha256.Sum256(append(last[:], item[:]...)))
	}
	return chain
}
