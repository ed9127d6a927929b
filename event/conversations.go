package event

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// ErrUnknown says that nothing is kept under an id.
var ErrUnknown = errors.New("nothing is known of it: it never was, or it is no longer kept")

// talk is a conversation as it is kept.
type talk struct {
	Conversation // without what view works out
	prior        *prior
	died         bool // one of its requests was larger than its window
}

// add takes over what an exchange tells of its conversation. died reports that it is the first one that was larger
// than its window.
func (t *talk) add(e *Exchange, end time.Time) (died bool) {
	if t.Turns == 0 {
		t.First = e.Start
	}
	t.Turns = max(t.Turns+1, e.Turn)
	t.Last = end
	t.Model, t.Upstream = e.Model, e.Upstream
	t.Dialect = cmp.Or(e.Dialect, t.Dialect)
	t.Title, e.Title = cmp.Or(e.Title, t.Title), "" // exchanges are shown to others than the owner, too
	t.Parent = cmp.Or(e.Parent, t.Parent)
	t.Session = cmp.Or(e.Session, t.Session)
	t.Client = cmp.Or(e.Client, t.Client)
	if e.TokensBefore.Total() > 0 {
		t.Tokens, t.Raw, t.Window = sent(e), e.TokensBefore.Total(), e.Window
	}
	if e.Decided && e.Mode == ModeOn {
		t.Latest = fmt.Sprintf("%s %d items, %.1fk tokens", cmp.Or(Step(e), e.Action), e.Offloaded+e.Cleared+e.Compacted,
			float64(e.TakenOut)/1000)
	}
	switch {
	case isAnswered(e):
		t.prior = priorOf(e)
	case t.prior != nil && e.Broke && e.Mode == ModeOn:
		t.prior.broke = true
	}
	died = t.ID != "" && !t.died && e.Bill.Beyond && e.Mode == ModeOn && e.ShapeTime > 0
	t.died = t.died || died
	return died
}

// Step returns the highest step of the ladder that an exchange newly took: rescue, compact, clear or offload; empty if
// there was none. Its Action is what the conversation carries from earlier exchanges, too.
func Step(e *Exchange) string {
	switch {
	case e.Rescue.Kind != "":
		return "rescue"
	case e.Compacted > 0:
		return "compact"
	case e.Cleared > 0:
		return "clear"
	case e.Offloaded > 0:
		return "offload"
	}
	return ""
}

// view returns a copy of the conversation with everything worked out.
func (t *talk) view(now time.Time) Conversation {
	c := t.Conversation
	c.Sums = Sums{}
	c.Sums.add(&t.Sums)
	c.Live, c.Cached = t.isLive(now), -1
	if c.Window > 0 {
		c.Share = float64(c.Tokens) / float64(c.Window)
	}
	if input := c.Sums.Usage.CacheInput; input > 0 {
		c.Cached = float64(c.Sums.Usage.Read) / float64(input)
	}
	return c
}

// isLive reports whether a conversation had an exchange in the last ten minutes.
func (t *talk) isLive(now time.Time) bool { return t.Turns > 0 && now.Sub(t.Last) < 10*time.Minute }

// CountLive returns the number of conversations with an exchange in the last ten minutes.
func (b *Book) CountLive() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.countLive()
}

func (b *Book) countLive() (n int) {
	for _, t := range b.talks {
		if t.isLive(b.Now()) {
			n++
		}
	}
	return n
}

// Conversations returns up to limit conversations whose id, model or upstream contains match, in either case, behind
// the first ones; the newest come first.
func (b *Book) Conversations(match string, first, limit int) Page[Conversation] {
	b.lock()
	defer b.mu.Unlock()
	now, match := b.Now(), strings.ToLower(match)
	var all []*talk
	for _, t := range b.talks {
		if t.Turns > 0 && strings.Contains(strings.ToLower(t.ID+"\n"+t.Model+"\n"+t.Upstream), match) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(x, y *talk) int { return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.ID, y.ID)) })
	first = min(max(first, 0), len(all))
	end := min(first+limit, len(all))
	page := Page[Conversation]{Items: []Conversation{}, Total: len(all)}
	for _, t := range all[first:end] {
		page.Items = append(page.Items, t.view(now))
	}
	if end < len(all) {
		page.Next = end
	}
	return page
}

// Conversation returns a conversation with its recent turns, or ErrUnknown.
func (b *Book) Conversation(id string) (Story, error) {
	b.lock()
	defer b.mu.Unlock()
	t := b.talks[id]
	if t == nil || t.Turns == 0 {
		return Story{}, ErrUnknown
	}
	s := Story{Conversation: t.view(b.Now()), Exchanges: []Exchange{}}
	for _, n := range b.recent {
		if n.Exchange != nil && n.Exchange.Conversation == id {
			s.Exchanges = append(s.Exchanges, *n.Exchange)
		}
	}
	s.Forgotten = s.Turns - len(s.Exchanges)
	return s, nil
}

// Status returns the state of a conversation, or ErrUnknown: of the one with the id, else of the newest one of the
// client's session, else of the newest one. A client may not name its session in requests: if no conversation has the
// session, the newest one without any is meant. Agents have conversations of one exchange, for a title: those give way
// to longer ones that are live.
func (b *Book) Status(id, session string) (Status, error) {
	b.lock()
	defer b.mu.Unlock()
	now, session := b.Now(), SessionOf(session)
	var best *talk
	bestRank := -1
	for _, t := range b.talks {
		rank := 0
		if id == "" && session != "" && t.Session == session {
			rank = 2
		}
		if t.Turns > 1 && t.isLive(now) {
			rank++
		}
		isMeant := t.ID == id || id == "" && (session == "" || t.Session == session || t.Session == "")
		if t.Turns > 0 && isMeant && (rank > bestRank || rank == bestRank && t.Last.After(best.Last)) {
			best, bestRank = t, rank
		}
	}
	if best == nil {
		return Status{}, ErrUnknown
	}
	c := best.view(now)
	s := Status{
		ID: c.ID, Model: c.Model, Tokens: c.Tokens, Window: c.Window, Share: c.Share, Cached: c.Cached,
		Last: c.Latest, AsOf: c.Last,
	}
	if money := c.Sums.Money; money.Ruled > 0 || money.Own > 0 {
		saved := float64(money.Saved) / 1e9
		s.Saved = &saved
	}
	return s, nil
}

// Since returns the events after a number, and the number of the newest event. whole is false if some of them are no
// longer kept, or if there was no event of that number yet. The caller must not change the events.
func (b *Book) Since(seq uint64) (after []Entry, newest uint64, whole bool) {
	<-b.loaded
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq > b.seq {
		return nil, b.seq, false
	}
	first := sort.Search(len(b.recent), func(i int) bool { return *b.recent[i].Seq() > seq })
	after = slices.Clone(b.recent[first:])
	return after, b.seq, uint64(len(after)) == b.seq-seq
}

// Troubles returns the newest hundred exchanges that failed, or that went on as they came because epitome failed; the
// newest first.
func (b *Book) Troubles() []Exchange {
	b.lock()
	defer b.mu.Unlock()
	all := []Exchange{}
	for _, n := range slices.Backward(b.recent) {
		if e := n.Exchange; e != nil && (isFailed(e) || e.Action == ActionBypass) && len(all) < 100 {
			all = append(all, *e)
		}
	}
	return all
}
