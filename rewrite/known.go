package rewrite

import (
	"bytes"
	"slices"
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
	request  *conversation.Request // with a body of its own; nil if nothing is known
	chain    []conversation.Link
	calls    []activity.Call
	decision ledger.Decision // by which it was sent
	over     bool            // it was larger than usable
	used     time.Time
}

// size is about how many bytes it takes.
func (k *known) size() int { return len(k.request.Body) + 512*len(k.request.Items) }

// cache keeps the requests that were sent last.
type cache struct {
	keep time.Duration // a request lives no longer than what the ledger keeps of it; 0: for ever

	mu   sync.Mutex
	list []*known // the newest one last
	size int      // bytes of all, about
}

// find returns the request that has most in common with a body sent in a lane; an empty one if none begins alike.
func (c *cache) find(lane ledger.Lane, body []byte, now time.Time) *known {
	const begin, most = 256, 16 // bytes that are compared at first; requests that are compared as a whole
	var alike []*known
	c.mu.Lock()
	for _, k := range slices.Backward(c.list) {
		lane.Model = k.lane.Model
		isOld := c.keep > 0 && now.Sub(k.used) > c.keep
		begins := bytes.HasPrefix(body, k.request.Body[:min(len(k.request.Body), begin)])
		if len(alike) < most && !isOld && k.lane == lane && begins {
			alike = append(alike, k)
		}
	}
	c.mu.Unlock()
	if len(alike) == 1 {
		return alike[0]
	}
	best, longest := &known{}, 0
	for _, k := range alike {
		if n := conversation.CommonPrefix(k.request.Body, body); n > longest {
			best, longest = k, n
		}
	}
	return best
}

// put keeps a request in the place of the one that it continues, and of all others of its conversation: requests may
// come at the same time.
func (c *cache) put(k, before *known) {
	const most = 64 << 20 // bytes
	r := *k.request
	if before != nil && r.Reused == len(r.Items) { // it is the same
		r.Body = before.request.Body
	} else {
		r.Body = bytes.Clone(r.Body)
	}
	k.request = &r
	c.mu.Lock()
	defer c.mu.Unlock()
	id := k.decision.Conversation // empty while the ledger does not answer
	c.list = slices.DeleteFunc(c.list, func(o *known) bool {
		goes := o == before || o.lane == k.lane && o.decision.Conversation == id && id != ""
		if goes {
			c.size -= o.size()
		}
		return goes
	})
	c.list = append(c.list, k)
	for c.size += k.size(); c.size > most; c.list = slices.Delete(c.list, 0, 1) {
		c.size -= c.list[0].size()
	}
}
