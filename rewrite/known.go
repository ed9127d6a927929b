package rewrite

import (
	"bytes"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/rewrite/ledger"
)

// lastRequest is the last request of a conversation, so that the next one need not read, count and look up again what
// both have in common. It saves time; its decision is used only where the ledger does not answer or lacks it. It never
// changes while anyone else uses it: see requestCache.put.
type lastRequest struct {
	shaper   *Shaper
	subject  ledger.Request
	request  *conversation.Request // with its own copy of the body; nil if the conversation has no last request here
	calls    []activity.Call       // of the request, so that only new items are read for calls
	decision ledger.Decision       // by which the request was sent
	overfull bool                  // it was sent larger than Report.Usable: the next one that is gets no second warning
	tokens   int                   // of the model, as the client sent it
	near     bool                  // it was near the end of its window: the next one that is gets no second warning
	held     bool                  // its decision could not be recorded
	steady   int                   // how many requests in a row, up to steadyTurns, have continued the one before them
	sent     time.Time             // Input.Now
	project  string                // Input.Project
	kept     atomic.Bool           // as Last.Kept has it
	users    atomic.Int32          // how many read it now that have it from find or Newest

	credential any // of Input.Credential
}

// bytes returns about how much memory the request takes. With each item or edit go some 1,000 bytes.
func (l *lastRequest) bytes() (n int) {
	n = cap(l.request.Body) + 1000*(len(l.request.Items)+len(l.decision.Edits))
	for _, e := range l.decision.Edits {
		n += len(e.Text) + len(e.Prose)
	}
	return n
}

// requestCache keeps the last requests of the conversations that were active last, up to 24 MiB, and the newest one of
// all up to 64 MiB.
type requestCache struct {
	keep time.Duration // how long a request is of use: as long as the ledger keeps its decision; 0: for ever

	mu   sync.RWMutex
	list []*lastRequest // the one that was put last comes last
	size int            // of all in list
}

// find returns the shaper's request of the same scope, upstream and dialect whose body has the longest beginning in
// common with body. It may be for any model, as that is not read yet. If none is found, the result has a nil request.
// The caller uses it until it calls release.
func (c *requestCache) find(s *Shaper, of ledger.Request, body []byte, now time.Time) *lastRequest {
	const least = 256       // bytes: bodies that have less in common begin alike by chance
	const enough = 64 << 10 // bytes: bodies that have less in common are soon compared
	c.mu.RLock()
	defer c.mu.RUnlock()
	best, longest := &lastRequest{}, least-1
	start := body[:min(len(body), enough)]
	for _, l := range slices.Backward(c.list) {
		of.Model = l.subject.Model // any model will do
		if l.shaper != s || !of.IsFor(l.subject) || c.keep > 0 && now.Sub(l.sent) > c.keep {
			continue
		}
		n := conversation.CommonPrefix(l.request.Body, start)
		isLonger := n > longest
		if n == enough && longest == enough {
			isLonger = conversation.CommonPrefix(l.request.Body, body) > conversation.CommonPrefix(best.request.Body, body)
		}
		if isLonger {
			best, longest = l, n
		}
	}
	best.users.Add(1)
	return best
}

// release says that the caller uses l no more.
func (l *lastRequest) release() { l.users.Add(-1) }

// put adds l, and takes out the requests before it of the same conversation: several may be there, as requests that come
// at the same time may continue the same one. from is the one that the caller has from find; it may be nil. l gets a
// body of its own, as the memory of the one that it was read from belongs to the client's connection. If nobody but the
// caller uses from, which l takes the place of, its memory becomes l's, and only what is new is copied.
func (c *requestCache) put(l, from *lastRequest) {
	const most, mostOfAll = 64 << 20, 24 << 20 // bytes of the newest request, and of several
	r := *l.request
	r.Items = slices.Clip(r.Items)
	id := l.decision.Conversation // empty while the ledger does not answer
	isReplaced := false
	c.mu.Lock()
	c.remove(func(o *lastRequest) bool {
		is := o.shaper == l.shaper && o.subject.IsFor(l.subject) && o.decision.Conversation == id && id != ""
		isReplaced = isReplaced || is && o == from
		return is
	})
	c.mu.Unlock()
	if isReplaced && from.users.Load() == 1 {
		r.Body = r.TakeOver(from.request)
	} else {
		r.Body = bytes.Clone(r.Body)
	}
	l.request = &r
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, l)
	c.size += l.bytes()
	isTooMuch := func() bool { return c.size > most || c.size > mostOfAll && len(c.list) > 1 }
	for isTooMuch() {
		c.size -= c.list[0].bytes()
		c.list = slices.Delete(c.list, 0, 1)
	}
}

// renew makes l the newest request, as it was sent once more.
func (c *requestCache) renew(l *lastRequest, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.sent = now
	if i := slices.Index(c.list, l); i >= 0 {
		c.list = append(slices.Delete(c.list, i, i+1), l)
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

// Newest returns the newest requests of conversations in which the model has answered, as far as they are in memory:
// those that were sent until a time, and those that newer ones may soon drive out. The body of each is valid until the
// next one.
func (s *Shaper) Newest(until time.Time) iter.Seq[Last] {
	const safe = 12 << 20 // bytes of the newest requests that nothing drives out for now
	return func(yield func(Last) bool) {
		var list []*lastRequest
		s.recent.mu.RLock()
		size := s.recent.size // of a request and those that are newer
		for _, l := range s.recent.list {
			if size > safe || !l.sent.After(until) {
				l.users.Add(1)
				list = append(list, l)
			}
			size -= l.bytes()
		}
		s.recent.mu.RUnlock()
		goesOn := true
		for _, l := range list {
			if id := l.decision.Conversation; goesOn && id != "" && l.request.End() > l.request.Head {
				goesOn = yield(Last{l.subject.Scope, l.subject.Dialect, l.subject.Upstream, id, l.project,
					l.request.Body, func() any { return l.credential }, l.kept.Swap})
			}
			l.release()
		}
	}
}
