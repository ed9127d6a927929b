package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/store"
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
	report   Report                // on it
	held     bool                  // its decision could not be recorded
	steady   int                   // how many requests in a row, up to steadyTurns, have continued the one before them
	sent     time.Time             // Input.Now
	project  string                // Input.Project
	kept     atomic.Bool           // as Last.Kept has it
	life     atomic.Int64          // Decision.Life, once its own answer is known
	users    *atomic.Int32         // of the body: requests in memory that have it, and who got one by find or Newest

	credential any // of Input.Credential
}

// bytes returns about how much memory the request takes. With each item or edit go some 1,000 bytes.
func (l *lastRequest) bytes() (n int) {
	n = cap(l.request.Body) + 1000*(len(l.request.Items)+len(l.decision.Edits))
	for _, e := range l.decision.Edits {
		n += len(e.Text) + len(e.Words.Text)
	}
	return n
}

// requestCache keeps the last requests of the conversations that were active last, and the newest one of all up to 64 MiB.
type requestCache struct {
	most int // bytes of several

	mu   sync.RWMutex
	list []*lastRequest // the one that was put last comes last
	size int            // of all in list
}

// find returns the shaper's request of the same scope, upstream and dialect whose body has the longest beginning in
// common with body, and how many bytes that are. It may be for any model, as that is not read yet. If none is found,
// the result has a nil request. The caller uses it until it calls release.
func (c *requestCache) find(s *Shaper, of ledger.Request, body []byte, now time.Time) (best *lastRequest, shared int) {
	const least = 256 // bytes: bodies that have less in common begin alike by chance
	c.mu.RLock()
	defer c.mu.RUnlock()
	best = &lastRequest{}
	for _, l := range slices.Backward(c.list) {
		of.Model = l.subject.Model                                    // any model will do
		isExpired := s.deps.Keep > 0 && now.Sub(l.sent) > s.deps.Keep // so is its decision in the ledger
		if l.shaper != s || !of.IsFor(l.subject) || isExpired {
			continue
		}
		if shared > 0 && (shared >= min(len(l.request.Body), len(body)) || l.request.Body[shared] != body[shared]) {
			continue // it has no more in common, which is seen without comparing all
		}
		n := conversation.CommonPrefix(l.request.Body, body)
		if n >= least && n > shared {
			best, shared = l, n
		}
	}
	if best.request != nil {
		best.users.Add(1)
	}
	return best, shared
}

// release says that the caller uses l no more.
func (l *lastRequest) release() {
	if l.request != nil {
		l.users.Add(-1)
	}
}

// put adds l, and takes out the requests before it of the same conversation: several may be there, as requests that
// come at the same time may continue the same one. from is the one that the caller has from find; it may be nil. l
// gets a body of its own, as the memory of the one that it was read from belongs to the client's connection. It is that
// of from if both are equal. If nobody but the caller uses from, which l takes the place of, its memory becomes l's, and
// only what is new is copied.
func (c *requestCache) put(l, from *lastRequest) {
	const mostOfOne = 64 << 20
	id := l.decision.Conversation // empty while the ledger does not answer
	isBefore := func(o *lastRequest) bool {
		return id != "" && o.decision.Conversation == id && o.shaper == l.shaper && o.subject.IsFor(l.subject)
	}
	r := *l.request
	r.Items = slices.Clip(r.Items) // what is appended for the next request goes to an array of its own
	isEqual := from != nil && from.request != nil && r.Reused > 0 && r.Reused == len(r.Items)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case isEqual:
		r.Body, l.users = from.request.Body, from.users
	case slices.Contains(c.list, from) && isBefore(from) && from.users.Load() == 2 && r.TakeOver(from.request):
		l.users = from.users
	default: // a large body takes long; the room is for the next turns
		c.mu.Unlock()
		room := min(len(r.Body)/8, 1<<20)
		r.Body, l.users = append(make([]byte, 0, len(r.Body)+room), r.Body...), &atomic.Int32{}
		c.mu.Lock()
	}
	l.request = &r
	l.users.Add(1)
	c.remove(isBefore)
	c.list = append(c.list, l)
	c.size += l.bytes()
	// The size falls with each one that goes, until the rest fits. l itself goes only if it is too large alone.
	c.remove(func(o *lastRequest) bool { return o != l && c.size > c.most || c.size > max(c.most, mostOfOne) })
}

// remove takes out the requests that go; it asks for each, the oldest first. The caller holds c.mu.
func (c *requestCache) remove(goes func(*lastRequest) bool) {
	c.list = slices.DeleteFunc(c.list, func(l *lastRequest) bool {
		if !goes(l) {
			return false
		}
		c.size -= l.bytes()
		l.release()
		return true
	})
}

// Decision returns the key of the decision by which the newest request of a conversation is sent; empty if that is not
// in memory.
func (s *Shaper) Decision(conversation string) (key string) {
	s.recent.mu.RLock()
	defer s.recent.mu.RUnlock()
	for _, l := range s.recent.list {
		if l.decision.Conversation == conversation {
			key = l.decision.Key
		}
	}
	return key
}

// Drop removes the requests of a conversation from memory, and what was asked for it.
func (s *Shaper) Drop(conversation string) {
	s.asks.Delete(conversation)
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.remove(func(l *lastRequest) bool { return l.decision.Conversation == conversation })
}

// Answered notes how long the provider keeps the newest request of a conversation in its cache, as its answer says.
func (s *Shaper) Answered(conversation string, life time.Duration) {
	s.recent.mu.RLock()
	defer s.recent.mu.RUnlock()
	for _, l := range s.recent.list {
		if l.decision.Conversation == conversation {
			l.life.Store(int64(life))
		}
	}
}

// Forget frees the memory of conversations that have rested since a time, but for the newest 4 MiB and for decisions
// that are nowhere else. The next requests of those forgotten are read as a whole. It returns how many bytes it freed.
func (s *Shaper) Forget(since time.Time) (freed int) {
	const rest = 4 << 20 // bytes
	c := s.recent
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.size
	c.remove(func(l *lastRequest) bool { return c.size > rest && !l.held && l.sent.Before(since) })
	return before - c.size
}

// Last is the newest request of a conversation, with what is needed to shape it again.
type Last struct {
	Scope, Dialect, Upstream string
	Conversation, Project    string
	Body                     []byte
	Credential               func() any                  // Input.Credential
	Kept                     func(is bool) (before bool) // sets whether the caller has kept the request
}

// Newest returns the newest requests of conversations in which the model has answered, as far as they are in memory:
// those that were sent until a time, and those that newer ones may soon drive out. Their bodies are valid until the
// loop ends.
func (s *Shaper) Newest(until time.Time) iter.Seq[Last] {
	safe := s.recent.most / 2 // bytes of the newest requests that nothing drives out for now
	return func(yield func(Last) bool) {
		var list []*lastRequest
		s.recent.mu.RLock()
		size := s.recent.size // of a request and those that are newer
		for _, l := range s.recent.list {
			isDue := size > safe || !l.sent.After(until)
			if isDue && l.decision.Conversation != "" && l.request.End() > l.request.Head {
				l.users.Add(1)
				defer l.release()
				list = append(list, l)
			}
			size -= l.bytes()
		}
		s.recent.mu.RUnlock()
		for _, l := range list {
			goesOn := yield(Last{Scope: l.subject.Scope, Dialect: l.subject.Dialect, Upstream: l.subject.Upstream,
				Conversation: l.decision.Conversation, Project: l.project, Body: l.request.Body,
				Credential: func() any { return l.credential }, Kept: l.kept.Swap})
			if !goesOn {
				return
			}
		}
	}
}

// atOnce is how many calls of the shelf run at the same time: each may have to wait for a bucket behind a network.
const atOnce = 16

// restoreArtifacts prolongs the life of the replayed edits and of the artifacts that they name, if that was last done
// some time ago. If the shelf has lost any, their content is taken from the request and put once more.
func (x *shaping) restoreArtifacts() error {
	d, now := &x.known.Before, x.in.Now.Round(0)
	isDue := len(x.found.view.Edits) > 0 && !now.IsZero() && x.deps.Ledger.IsStale(*d, now)
	if !isDue || x.place.isSpent() {
		return nil
	}
	d.Touched, x.decision.Touched = now, now
	x.deps.Ledger.Touch(*d)
	edits := x.found.view.Edits
	lost := make([]bool, len(edits)) // by edit: an artifact of it is not on the shelf
	var work store.Calls
	work.SetLimit(atOnce)
	for k := range edits {
		work.Go(func() error {
			for _, name := range edits[k].Artifacts {
				lost[k] = !x.deps.Shelf.Touch(name) || lost[k] // each one is touched, even if one before is lost
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("cannot prolong the life of what was taken out: %w", err)
	}
	for k := range edits {
		if lost[k] {
			x.known.KeepAgain(&x.found.view, edits[k])
		}
	}
	return x.keepArtifacts(true) // a full shelf must take them too: texts that were sent before name these artifacts
}

// keepArtifacts puts the content that edits take out of the request on the shelf, before the decision is recorded: no
// text that is sent may name an artifact that is not there. Urgent content cannot wait for room; for other content a shelf
// that is half full is an error, and the request is sent without new edits.
func (x *shaping) keepArtifacts(urgent bool) error {
	content, edits := x.known.Artifacts.Content, x.plan.View.Edits
	var work store.Calls
	work.SetLimit(atOnce)
	var late error
	for name, content := range content {
		if !x.isVital() && x.place.isSpent() {
			late = errSpent
			break
		}
		isNamed := func(e view.Edit) bool { return slices.Contains(e.Artifacts, name) }
		if slices.ContainsFunc(edits, isNamed) { // else the edit that named it was taken back or covered by another
			work.Go(func() error { return x.deps.Shelf.Put(name, content, urgent) })
		}
	}
	if err := cmp.Or(work.Wait(), late); err != nil {
		return fmt.Errorf("cannot keep what was taken out: %w", err)
	}
	clear(content)
	return nil
}

// decided returns the decision as it is to be recorded: for the prefix up to the last answer or result, or for the
// whole request if a message of the user at its end is edited.
func (x *shaping) decided() ledger.Decision {
	k, p := x.known, &x.plan
	d := x.subject.Own(k.Before)
	d.Edits, d.Added = p.View.Edits, p.View.New
	d.Items = x.request.End()
	for n := range d.Edits {
		if d.Edits[n].End() > d.Items {
			d.Items = len(x.request.Items)
		}
	}
	d.Sent = x.in.Now.Round(0) // the store keeps wall clocks only
	if d.Touched.IsZero() {
		d.Touched = d.Sent // its edits are stored with it, or since the request before
	}
	d.Prepared, d.Pictures, d.Ratio = p.Prepared, p.Pictures, k.Scale.Ratio
	d.NearlyFull = d.NearlyFull || p.NearlyFull > 0
	d.Warned = d.Warned || p.Reason == event.CodeOverhead
	due := x.waits()
	d.Waits = d.Waits || due != "" && due != event.ReasonAgent
	if p.Compaction != nil && p.Compaction.Kind == event.CompactionCompleted {
		d.Tokens, d.Compacted, d.Waits = 0, k.Answers(), false
	}
	d.Tokens += k.OfModel(p.View.Total)
	return d
}

// record records the decision. If an equal request was recorded first, its decision holds, and the body is built by it.
// Nothing is recorded while the ledger does not say what was decided before. After an error the next request of the
// conversation finds the decision in memory (remember): it records it once the ledger answers, or adopts what was
// recorded for a longer prefix.
func (x *shaping) record() error {
	d := x.decided()
	isShared := d.Items <= x.request.Lead // a prefix of system items alone is that of other conversations as well
	if isShared && x.found.err == nil {
		return nil
	}
	x.decision, x.held = d, true
	if x.found.err != nil {
		return errors.New("the ledger did not say what was decided before")
	}
	isUnwanted := x.known.Demand.Asked || x.known.Demand.Refused || x.found.discarded // the recorded decision
	inForce, won, err := x.deps.Ledger.Record(x.subject, d, isUnwanted)
	if err != nil {
		return err
	}
	x.decision, x.held = inForce, false
	if won {
		x.plan.View.Edits = inForce.Edits // with their names
		return nil
	}
	x.plan.View = x.known.View(inForce.Edits)
	x.out.Report.Code = event.CodeMeanwhile
	return x.build()
}

// settle records the decision of a rescue (see Output.Settle) once the provider has accepted the request. A form that
// the provider refuses too is never recorded, so the decision recorded before stays in force.
func (x *shaping) settle() (recorded bool) {
	if x.in.Rescue.NoThinking { // the refusal has shown that the model binds its thinking to the prefix
		x.deps.Ledger.LearnBinds(x.in.Upstream, x.request.Model)
	}
	recorded = store.Try(x.record) == nil
	x.remember(nil) // Shape has released the last request
	return recorded
}

// fallBack builds a request for which a step failed, with the replayed edits and no new ones. It records that if it
// can: items that are sent whole now stay whole. No edit at all is made if the replayed ones fail too; in a replay, as
// the step that failed found or built just these; and in a rescue, as the provider refused the form with these.
func (x *shaping) fallBack(why error) {
	p := &x.plan
	isPlain := !x.in.Replay && x.in.Rescue == nil
	p.View, p.Stage = x.known.View(nil), ladder.StageNone
	if isPlain {
		p.View = x.found.view
	}
	x.out.Body, x.out.Changed = x.in.Body, len(x.earlier) > 0 // sent if no edits can be built
	p.Fail(why)
	if err := x.build(); err != nil {
		why = errors.Join(why, err)
		p.View = x.known.View(nil)
	}
	if isPlain {
		_ = x.record() // else the decision is held
	}
	x.out.Report.fail(why)
}

// remember keeps the request in memory for the next one; not with ServerState, as the next body lacks its items then.
// from is the last request, as long as it is not released.
func (x *shaping) remember(from *lastRequest) {
	if !x.request.ServerState.Empty() {
		return
	}
	l := &lastRequest{
		shaper: x.Shaper, subject: x.subject, request: x.request, calls: x.known.Calls, decision: x.decision,
		report: x.out.Report,
		held:   x.held, steady: x.steady(), sent: x.in.Now, project: x.in.Project,
	}
	if x.in.Credential != nil {
		l.credential = x.in.Credential()
	}
	l.decision.Edits, l.decision.Leading = x.plan.View.Edits, x.subject.Leading
	l.life.Store(int64(x.decision.Life))
	x.recent.put(l, from)
}
