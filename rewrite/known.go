package rewrite

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/rewrite/ledger"
)

// lastRequest is the last request of a conversation, so that the next one need not read, count and look up again what
// both have in common. It saves time; its decision is used only where the ledger does not answer or lacks it.
type lastRequest struct {
	shaper   *Shaper
	subject  ledger.Request
	request  *conversation.Request // with its own copy of the body; nil if the conversation has no last request here
	calls    []activity.Call       // of the request, so that only new items are read for calls
	decision ledger.Decision       // by which the request was sent
	overfull bool                  // it was sent larger than Report.Usable: the next one that is gets no second warning
	near     bool                  // it was near the end of its window: the next one that is gets no second warning
	held     bool                  // its decision could not be recorded
	steady   int                   // how many requests in a row, up to steadyTurns, have continued the one before them
	sent     time.Time             // Input.Now
	project  string                // Input.Project
	kept     atomic.Bool           // as Last.Kept has it

	credential any // of Input.Credential
}

// bytes returns about how much memory the request takes. With each item or edit go some 1,000 bytes.
func (l *lastRequest) bytes() (n int) {
	n = len(l.request.Body) + 1000*(len(l.request.Items)+len(l.decision.Edits))
	for _, e := range l.decision.Edits {
		n += len(e.Text) + len(e.Prose)
	}
	return n
}

// requestCache keeps the last requests of the conversations that were active last, up to 24 MiB.
type requestCache struct {
	keep time.Duration // how long a request is of use: as long as the ledger keeps its decision; 0: for ever

	mu   sync.Mutex
	list []*lastRequest // the one that was put last comes last
	size int            // of all in list
}

// find returns the shaper's request of the same scope, upstream and dialect whose body has the longest beginning in
// common with body. It may be for any model, as that is not read yet. If none is found, the result has a nil request.
func (c *requestCache) find(s *Shaper, of ledger.Request, body []byte, now time.Time) *lastRequest {
	c.mu.Lock()
	list := slices.Clone(c.list)
	c.mu.Unlock()
	best, longest := &lastRequest{}, 255 // bytes: bodies that have no more in common begin alike by chance
	for _, l := range slices.Backward(list) {
		of.Model = l.subject.Model // any model will do
		if l.shaper != s || !of.IsFor(l.subject) || c.keep > 0 && now.Sub(l.sent) > c.keep {
			continue
		}
		if n := conversation.CommonPrefix(l.request.Body, body); n > longest {
			best, longest = l, n
		}
	}
	return best
}

// put adds l, and takes out the requests before it of the same conversation: several may be there, as requests that come
// at the same time may continue the same one.
func (c *requestCache) put(l *lastRequest) {
	r := *l.request
	r.Body = bytes.Clone(r.Body)    // its memory is the caller's, who may use it for the next request
	r.Items = slices.Clone(r.Items) // without the room to grow that reading has left
	l.request = &r
	c.mu.Lock()
	defer c.mu.Unlock()
	id := l.decision.Conversation // empty while the ledger does not answer
	c.remove(func(o *lastRequest) bool {
		return o.shaper == l.shaper && o.subject.IsFor(l.subject) && o.decision.Conversation == id && id != ""
	})
	c.list = append(c.list, l)
	c.size += l.bytes()
	for ; c.size > 24<<20; c.list = slices.Delete(c.list, 0, 1) {
		c.size -= c.list[0].bytes()
	}
}

// remove takes out the requests that go. The caller holds c.mu.
func (c *requestCache) remove(goes func(*lastRequest) bool) {
	c.list = slices.DeleteFunc(c.list, func(l *lastRequest) bool {
		if !goes(l) {
			return false
		}
		c.size -= l.bytes()
		return true
	})
}

// Drop removes the requests of a conversation from memory.
func (s *Shaper) Drop(conversation string) {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.remove(func(l *lastRequest) bool { return l.decision.Conversation == conversation })
}

// Forget frees the memory of conversations that have rested since a time, but for the newest 4 MiB and for decisions
// that are nowhere else. The next requests of those forgotten are read as a whole. It reports whether there may be more
// to forget later.
func (s *Shaper) Forget(since time.Time) (more bool) {
	const rest = 4 << 20 // bytes
	c := s.recent
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(func(l *lastRequest) bool { return c.size > rest && !l.held && l.sent.Before(since) })
	return c.size > rest && slices.ContainsFunc(c.list, func(l *lastRequest) bool { return !l.held })
}

// Last is the newest request of a conversation, with what is needed to shape it again.
type Last struct {
	Scope, Dialect, Upstream string
	Conversation, Project    string
	Body                     []byte
	Credential               func() any                  // Input.Credential
	Kept                     func(is bool) (before bool) // sets whether the caller has kept the request; at first it has not
}

// Newest returns the newest requests of conversations in which the model has answered, as far as they are in memory.
func (s *Shaper) Newest() (list []Last) {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	for _, l := range s.recent.list {
		if id := l.decision.Conversation; id != "" && l.request.End() > l.request.Head {
			list = append(list, Last{l.subject.Scope, l.subject.Dialect, l.subject.Upstream, id, l.project,
				l.request.Body, func() any { return l.credential }, l.kept.Swap})
		}
	}
	return list
}
