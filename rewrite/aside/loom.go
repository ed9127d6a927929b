package aside

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Facts is where records lie.
type Facts interface {
	// Find returns what was kept under key. An error says that it is not known.
	Find(key string) (value []byte, found bool, err error)
	// Keep keeps a value under key, for as long as decisions are kept.
	Keep(key string, value []byte) error
}

// Loom weaves asides into conversations. It does not change once made. Its methods may be called from any goroutine,
// if those of its parts may be.
type Loom struct {
	Facts    Facts
	Dialects map[string]Dialect // by the key of the conversation's
	Tool     Declaration
	// Answer answers a call with these arguments, in a step of one answer, counted from 1. It never fails: what is
	// wrong is what it answers.
	Answer func(arguments string, step int) string
}

// Ask is one request, as it came.
type Ask struct {
	Scope   string
	Dialect conversation.Dialect
	Body    []byte
	Replay  bool // it only asks about a conversation: nothing begins with it, and no call is answered
	Without bool // a conversation that begins with it is to have no tool
	// Room is an error if there is no room for a body of so many bytes: then nothing is decided. nil: there always is.
	Room func(size int) error
}

// Turn is one request and its answer, in a conversation that has the tool.
type Turn struct {
	Body    []byte // of the request, with all that the client does not know of
	Left    int    // records that have no place in it any more
	loom    *Loom
	dialect Dialect
	ask     Ask    // without its body
	alone   bool   // the client gets the last round alone
	shut    bool   // no call is answered
	place   string // key of what is recorded of the answer, but for what it says
	record  Record
	hearing Hearing

	answered int // calls
}

// Weave puts what is recorded of a conversation into its request. The turn is nil if the conversation is none that has
// the tool. An error says that it is not known what was recorded; with it, the turn has what is known.
func (l *Loom) Weave(a Ask) (t *Turn, err error) {
	defer func() {
		if bug := recover(); bug != nil { // it costs the request the tool, and nothing else
			t, err = nil, fmt.Errorf("panic while weaving: %v", bug)
		}
	}()
	d := l.Dialects[a.Dialect.Key()]
	if d == nil {
		return nil, nil
	}
	r, err := a.Dialect.Read(a.Body, nil)
	if err != nil || !span.Valid(a.Body) { // whoever shapes it says so
		return nil, nil //nolint:nilerr // it is no conversation to weave into
	}
	edits, ok := d.Declare(r, l.Tool)
	if !ok {
		return nil, nil
	}
	begins := ""
	links := r.ChainFrom(nil)
	t = &Turn{loom: l, dialect: d, ask: a, place: placeOf(&a, links[len(links)-1])}
	t.alone = d.Alone(r)
	t.shut = len(r.Items) > 0 && r.Items[len(r.Items)-1].Role == conversation.Assistant // its text goes on
	if t.ask.Body, t.ask.Room = nil, nil; !r.Upkeep.Before.Empty() {
		resumed, has, err := t.resume(r)
		if err != nil || !has {
			return nil, err
		}
		edits = append(edits, resumed...)
	} else if begins, ok, err = l.hasTool(&a, r, links); err != nil || !ok {
		return nil, err
	}
	woven, err := t.weave(&a, r, links)
	if t.Body, _ = span.Splice(a.Body, append(edits, woven...)); t.Body == nil {
		return nil, errors.New("cannot put what was recorded into the conversation: two records have one place")
	}
	if a.Room != nil {
		if full := a.Room(len(t.Body)); full != nil {
			return nil, full
		}
	}
	if begins != "" {
		if lost := l.Facts.Keep(begins, []byte{1}); lost != nil {
			return nil, lost
		}
	}
	return t, err
}

// kept is what is recorded of an answer that the provider keeps.
type kept struct {
	ID   string // of what was said last in it
	Last []Call // that were hidden there
}

// resume is what has a request go on from an answer that the provider keeps. has is false if that had not the tool.
func (t *Turn) resume(r *conversation.Request) (edits []span.Edit, has bool, err error) {
	d, keeps := t.dialect.(Keeping)
	if !keeps || d.Previous(r) == "" {
		return nil, false, nil
	}
	value, found, err := t.loom.Facts.Find(idKey(&t.ask, d.Previous(r)))
	var k kept
	if err != nil || !found || json.Unmarshal(value, &k) != nil {
		return nil, false, err
	}
	edits, has = d.Resume(r, k.ID, k.Last)
	return edits, has, nil
}

// Behind the place of a conversation's first answer: that it has the tool, and that one which began there declines it.
const hasIt, declinesIt = " tool", " none"

// IsBeginning reports whether a fact with this key is of how a conversation began: whoever asks for it too early finds
// none, and another replica may keep it at any time from then on.
func IsBeginning(key string) bool {
	return strings.HasSuffix(key, hasIt) || strings.HasSuffix(key, declinesIt)
}

// hasTool reports whether the conversation has the tool. Its first request decides: begins is the key under which that
// is to be kept.
func (l *Loom) hasTool(
	a *Ask, r *conversation.Request, links []conversation.Link,
) (begins string, has bool, err error) {
	first := r.Head
	for first < len(r.Items) && r.Items[first].Role != conversation.Assistant {
		first++
	}
	place := placeOf(a, links[first-r.Head])
	key, begin := place+hasIt, first == len(r.Items)
	if a.Without {
		has, err = l.hasDeclined(a, place, key, begin)
		return "", has, err
	}
	_, found, err := l.Facts.Find(key)
	if err != nil || found || !begin || a.Replay {
		return "", found, err
	}
	return key, true, nil
}

// hasDeclined reports whether a conversation has the tool whose client declines it. One that began so never has it;
// another one that began with the same words may. One that began with the tool keeps it.
func (l *Loom) hasDeclined(a *Ask, place, key string, begin bool) (has bool, err error) {
	declined := place + declinesIt
	if begin {
		if !a.Replay {
			err = l.Facts.Keep(declined, []byte{1})
		}
		return false, err
	}
	if _, none, err := l.Facts.Find(declined); err != nil || none {
		return false, err
	}
	_, has, err = l.Facts.Find(key)
	return has, err
}

// weave is what puts the records into the answers that they belong to.
func (t *Turn) weave(a *Ask, r *conversation.Request, links []conversation.Link) (edits []span.Edit, failed error) {
	for _, g := range r.Groups() {
		if !r.Items[g.First].Begins {
			continue
		}
		value, found, err := t.loom.Facts.Find(keyOf(placeOf(a, links[g.First-r.Head]), saidIn(r, g)))
		if err != nil {
			failed = err
		}
		if !found {
			continue
		}
		var rec Record
		more, ok := []span.Edit(nil), json.Unmarshal(value, &rec) == nil
		if ok {
			more, ok = t.dialect.Weave(r, g, &rec)
		}
		if !ok {
			t.Left++
			continue
		}
		edits = append(edits, more...)
	}
	return edits, failed
}

// saidIn is what a client says that it was given in an answer.
func saidIn(r *conversation.Request, g conversation.Group) (said Given) {
	for i := g.First; i < g.End; i++ {
		it := &r.Items[i]
		if it.Role != conversation.Assistant {
			continue
		}
		for _, text := range r.TextSpans(it) {
			if !text.Empty() {
				said.Text += string(span.TextOf(text.Of(r.Body)))
			}
		}
		for _, call := range it.Calls {
			said.Calls = append(said.Calls, call.ID)
		}
	}
	return said
}

// placeOf names a place in a conversation.
func placeOf(a *Ask, at conversation.Link) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%d %s%x", len(a.Scope), a.Scope, len(a.Dialect.Key()), a.Dialect.Key(), at))
	return "a" + hex.EncodeToString(sum[:])
}

// idKey names an answer that the provider keeps.
func idKey(a *Ask, id string) string { return placeOf(a, sha256.Sum256([]byte("answer "+id))) + " id" }

// keyOf names an answer at a place.
func keyOf(place string, said Given) string {
	sum := sha256.Sum256([]byte(said.essence()))
	return place + " " + hex.EncodeToString(sum[:16])
}

// Hear begins to hear the next round.
func (t *Turn) Hear() Hearing {
	if t.hearing == nil {
		t.hearing = t.dialect.Hear()
	}
	t.hearing.Begin(t.shut || len(t.record.Rounds) >= MostRounds)
	return t.hearing
}

// Alone reports whether the client gets the last round alone. Of any other it must be given nothing.
func (t *Turn) Alone() bool { return t.alone }

// Answered is how many calls were answered.
func (t *Turn) Answered() int { return t.answered }

// Next answers what the model called in the round that has ended, and makes the next request. ok is false if the answer
// is over.
func (t *Turn) Next() (ok bool, err error) {
	r, ok := t.hearing.Round()
	if !ok {
		return false, nil
	}
	if t.answer(r.Calls); t.alone {
		r.Given, r.Marks = "", nil
		t.hearing.Anew()
	}
	if t.Body, err = t.dialect.Next(t.Body, r); err != nil {
		return false, fmt.Errorf("cannot go on with the answer: %w", err)
	}
	t.record.Rounds = append(t.record.Rounds, *r)
	return true, nil
}

// answer answers calls, which are of the next step.
func (t *Turn) answer(calls []Call) {
	t.answered += len(calls)
	for i := range calls {
		calls[i].Result = t.loom.Answer(calls[i].Arguments, len(t.record.Rounds)+1)
	}
}

// Keep records the answer, unless it has failed. It is called before the client gets the end of it, once.
func (t *Turn) Keep() error {
	given, hidden, ok := t.hearing.Answer()
	if !ok {
		return nil
	}
	t.answer(hidden)
	t.record.Last, t.record.Thought = hidden, t.alone && given.Thought
	var err error
	if !t.record.Empty() && given.essence() != "" {
		err = t.keep(keyOf(t.place, given), t.record)
	}
	if given.ID != "" && err == nil {
		err = t.keep(idKey(&t.ask, given.ID), kept{ID: given.Real, Last: hidden})
	}
	if err != nil {
		return fmt.Errorf("cannot record what the model looked up within its answer: %w", err)
	}
	return nil
}

// keep keeps what is recorded under a key.
func (t *Turn) keep(key string, record any) error {
	value, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return t.loom.Facts.Keep(key, value)
}
