package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"epitome/console/story/journal"
)

// snapshotVersion is that of what a snapshot holds. One of another version is set aside.
const snapshotVersion = 1

// snapshot is a past without its events.
type snapshot struct {
	Version int              `json:"version"`
	Seq     uint64           `json:"seq"`
	Since   int64            `json:"since"` // nanoseconds since 1970
	At      journal.Position `json:"at"`    // behind which there may be lines that are not in it
	Hours   []cell[slot]     `json:"hours"`
	Days    []cell[slot]     `json:"days"`
	Shares  []cell[share]    `json:"shares"` // null in one of an earlier version
	Rest    []daily          `json:"rest"`
	Talks   []savedTalk      `json:"talks"` // the one used longest ago first
}

// cell is the figures of one slot or share.
type cell[K comparable] struct {
	At      K       `json:"at"`
	Account account `json:"sums"`
}

// daily is the figures of one day.
type daily struct {
	Day     int64   `json:"day"`
	Account account `json:"sums"`
}

// savedTalk is a conversation without its turns.
type savedTalk struct {
	Line  Conversation `json:"line"`
	Prior *prior       `json:"prior,omitempty"`
	Died  bool         `json:"died,omitempty"`
	Days  []daily      `json:"days"`
}

// save makes a snapshot as JSON.
func (p *past) save(at journal.Position) ([]byte, error) {
	s := snapshot{
		Version: snapshotVersion, Seq: p.seq, At: at,
		Hours: cellsOf(p.hours), Days: cellsOf(p.days), Shares: cellsOf(p.shares), Rest: dailiesOf(p.rest),
	}
	if !p.since.IsZero() {
		s.Since = p.since.UnixNano()
	}
	for place := p.order.Back(); place != nil; place = place.Prev() {
		t := place.Value.(*talk) //nolint:forcetypeassert // nothing else is in it
		s.Talks = append(s.Talks, savedTalk{t.line, t.prior, t.died, dailiesOf(t.days)})
	}
	return json.Marshal(s)
}

func cellsOf[K comparable](accounts map[K]*account) []cell[K] {
	cells := make([]cell[K], 0, len(accounts))
	for at, a := range accounts {
		cells = append(cells, cell[K]{at, *a})
	}
	return cells
}

func dailiesOf(days map[int64]*account) (all []daily) {
	for day, a := range days {
		all = append(all, daily{day, *a})
	}
	return all
}

// Why a snapshot is of no use.
var (
	errVersion = errors.New("it is of another version")
	errFigures = errors.New("it has figures twice, or of no conversation")
)

// restore takes a snapshot into an empty past, or leaves it empty.
func (p *past) restore(text []byte) (at journal.Position, err error) {
	var s snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		return at, fmt.Errorf("it is no snapshot: %w", err)
	}
	if s.Version != snapshotVersion {
		return at, errVersion
	}
	restored := newPast(p.zone)
	restored.seq, restored.since = s.Seq, timeOf(s.Since)
	sound := fill(restored.hours, s.Hours) && fill(restored.days, s.Days) && fillDays(restored.rest, s.Rest) &&
		fill(restored.shares, s.Shares)
	for _, saved := range s.Talks {
		t := &talk{line: saved.Line, prior: saved.Prior, died: saved.Died, days: map[int64]*account{}}
		sound = sound && t.line.ID != "" && restored.talks[t.line.ID] == nil && fillDays(t.days, saved.Days)
		t.place = restored.order.PushFront(t)
		restored.talks[t.line.ID] = t
	}
	if !sound {
		return at, errFigures
	}
	for _, slots := range [...]map[slot]*account{restored.hours, restored.days} {
		for at := range slots {
			restored.models[at.Model] = true
		}
	}
	if s.Shares == nil {
		restored.shareOut()
	}
	restored.forgetTalks()
	p.take(restored)
	return s.At, nil
}

// take has the folds of another one from now on.
func (p *past) take(q *past) {
	p.seq, p.since, p.hours, p.days, p.rest, p.shares = q.seq, q.since, q.hours, q.days, q.rest, q.shares
	p.talks, p.order, p.models = q.talks, q.order, q.models
}

// shareOut has all figures under no client's name, as nobody has noted whose they are.
func (p *past) shareOut() {
	for _, slots := range [...]map[slot]*account{p.hours, p.days} {
		for at, a := range slots {
			accountAt(p.shares, share{Day: p.day(time.Unix(at.Start, 0))}).add(a)
		}
	}
}

func fill[K comparable](accounts map[K]*account, cells []cell[K]) bool {
	for i := range cells {
		if accounts[cells[i].At] != nil {
			return false
		}
		accounts[cells[i].At] = &cells[i].Account
	}
	return true
}

func fillDays(days map[int64]*account, all []daily) bool {
	for i := range all {
		if days[all[i].Day] != nil {
			return false
		}
		days[all[i].Day] = &all[i].Account
	}
	return true
}

// prepend puts events before those of this process, which are newer; their figures are counted already.
func (p *past) prepend(old []Entry) {
	newer, last := p.recent, uint64(0)
	p.recent = recent{}
	for _, n := range old {
		p.recent.push(n)
		last = n.Seq()
	}
	for i := newer.from(last + 1); i < newer.count(); i++ { // before it are the lines behind the snapshot
		p.recent.push(newer.at(i))
	}
	for _, t := range p.talks {
		t.events = nil
	}
	for i := range p.recent.count() {
		n := p.recent.at(i)
		if t := p.talks[n.talk()]; t != nil {
			t.events = append(t.events, n.Seq())
		}
	}
}
