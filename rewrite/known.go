package rewrite

import (
	"bytes"
	"hash/maphash"
	"sync"
	"time"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
)

// known is the last request of a conversation: what it holds needs not be read, counted or looked up again. It saves
// time and decides nothing, but where the ledger cannot be asked.
type known struct {
	lane     ledger.Lane
	request  *conversation.Request // with a body of its own
	calls    []activity.Call
	decision ledger.Decision // by which it was sent
	verified string          // the list of edits that was verified for it
	leading  uint64          // hash of system prompt, tools and settings
	name     string          // of those, as events tell it
	over     bool            // it was larger than usable
	used     time.Time
}

// size is about how many bytes it takes.
func (k *known) size() int { return len(k.request.Body) + itemSize*len(k.request.Items) }

// cache keeps the last requests of the conversations that were used last.
type cache struct {
	seed maphash.Seed
	keep time.Duration // a request lives no longer than what the ledger keeps of it; 0: for ever

	mu      sync.Mutex
	buckets map[uint64][]*known // by the beginning of the body
	size    int                 // bytes of all requests, about
}

const (
	maxCached     = 64 << 20 // bytes of requests
	maxCachedBody = 16 << 20 // a larger one is not kept
	itemSize      = 512      // bytes, about, that an item takes beside the body
	maxBucket     = 16       // requests that begin alike
	beginning     = 256      // bytes by which requests are found
)

func newCache(keep time.Duration) *cache {
	return &cache{seed: maphash.MakeSeed(), keep: keep, buckets: map[uint64][]*known{}}
}

// bucket is where requests of a scope, upstream and API lie that begin like this body.
func (c *cache) bucket(lane ledger.Lane, body []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, part := range []string{lane.Scope, lane.Upstream, lane.Dialect} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	_, _ = h.Write(body[:min(len(body), beginning)])
	return h.Sum64()
}

// find returns the request that has most in common with a body; nil if none has anything.
func (c *cache) find(bucket uint64, body []byte, now time.Time) (best *known) {
	c.mu.Lock()
	list := append([]*known(nil), c.buckets[bucket]...)
	c.mu.Unlock()
	most := 0
	for i := len(list) - 1; i >= 0; i-- {
		k := list[i]
		if c.keep > 0 && now.Sub(k.used) > c.keep {
			continue
		}
		if n := conversation.CommonPrefix(k.request.Body, body); n > most {
			most, best = n, k
		}
		if best == k && most > len(k.request.Body)*9/10 {
			break
		}
	}
	return best
}

// put keeps a request in the place of the one that it continues, if it does.
func (c *cache) put(at uint64, k, before *known) {
	if len(k.request.Body) > maxCachedBody {
		return
	}
	r := *k.request
	r.Body = bytes.Clone(r.Body)
	k.request = &r
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*known
	for _, other := range c.buckets[at] {
		if other != before {
			list = append(list, other)
		} else {
			c.size -= other.size()
		}
	}
	for len(list) >= maxBucket {
		c.size -= list[0].size()
		list = list[1:]
	}
	c.buckets[at] = append(list, k)
	for c.size += k.size(); c.size > maxCached; {
		c.dropOldestLocked()
	}
}

// dropOldestLocked forgets the request that was used longest ago.
func (c *cache) dropOldestLocked() {
	var oldest *known
	bucket := uint64(0)
	for at, list := range c.buckets {
		if oldest == nil || list[0].used.Before(oldest.used) {
			oldest, bucket = list[0], at
		}
	}
	c.size -= oldest.size()
	if c.buckets[bucket] = c.buckets[bucket][1:]; len(c.buckets[bucket]) == 0 {
		delete(c.buckets, bucket)
	}
}
