package decision

import (
	"fmt"
	"slices"

	"epitome/rewrite/conversation"
)

// Identity is what a prefix belongs to.
type Identity struct {
	Name  Ref
	Route Ref // where a decision for the prefix was recorded first
}

// Record is the value under a ConversationKey.
func (c Identity) Record() []byte {
	return append(append([]byte{formVersion}, c.Name[:]...), c.Route[:]...)
}

// ReadIdentity reads what Record wrote.
func ReadIdentity(b []byte) (c Identity, err error) {
	if len(b) != 1+len(c.Name)+len(c.Route) || b[0] != formVersion {
		return c, errUnreadable
	}
	copy(c.Name[:], b[1:])
	copy(c.Route[:], b[1+len(c.Name):])
	return c, nil
}

// Prefix is a conversation in the ledger: the links of all its prefixes, and where it runs.
type Prefix struct {
	Ledger Ledger
	Route  Route
	Chain  []conversation.Link
}

// Named is what a conversation is called.
type Named struct {
	Name Ref
	// Left is the conversation that it has begun with, of which it is known here for the first time that it goes on
	// otherwise; the zero ref if that is not so. Shared items are those of both.
	Left   Ref
	Shared int
}

// Name finds out which conversation the first end items belong to, and notes that they and the whole do. known items
// are known to belong to the one called name; none if known is 0. A conversation that goes on otherwise than one before
// is another one.
func (p Prefix) Name(end, known int, name Ref) (n Named, err error) {
	from, name := p.longestNamed(known, name)
	last := len(p.Chain) - 1
	switch {
	case from >= end && from > 0: // more may be known of what goes on here than may be decided on
		return Named{Name: name}, p.note(name, end)
	case from == 0:
		name = RefOf(p.Route.withDialect(p.Route.Scope, string(p.Chain[last][:]))...)
	default:
		// The first to go on from here is the conversation; whoever goes on otherwise has left it.
		next, _, err := p.Ledger.Add(p.Route.NextKey(p.Chain[from]), p.Chain[from+1][:])
		if err != nil {
			return Named{}, fmt.Errorf("cannot record how a conversation goes on: %w", err)
		}
		if string(next) != string(p.Chain[from+1][:]) {
			n.Left, n.Shared = name, from
			name = RefOf(string(name[:]), string(p.Chain[from+1][:]))
		}
	}
	n.Name = name
	return n, p.note(name, slices.Compact([]int{end, last})...)
}

// note records that the prefixes of so many items belong to the conversation called name, where nothing is known of
// them.
func (p Prefix) note(name Ref, ends ...int) error {
	record := Identity{Name: name, Route: p.Route.ID()}.Record()
	for _, i := range ends {
		key := p.Route.ConversationKey(p.Chain[i])
		if _, _, known := p.Ledger.Get(key); known {
			continue
		}
		if _, _, err := p.Ledger.Add(key, record); err != nil {
			return fmt.Errorf("cannot record which conversation a request belongs to: %w", err)
		}
	}
	return nil
}

// longestNamed finds the longest prefix whose conversation is known, and its name; no items if none is. It looks behind
// what may be decided on too, as known does: who remembers nothing finds the same name.
func (p Prefix) longestNamed(known int, name Ref) (items int, found Ref) {
	a := newAhead(p.Route, p.Ledger, p.Chain)
	for i := len(p.Chain) - 1; i > known; i-- {
		a.reach(i, known)
		value, _, ok := p.Ledger.Get(p.Route.ConversationKey(p.Chain[i]))
		if !ok {
			continue
		}
		if c, err := ReadIdentity(value); err == nil {
			return i, c.Name
		}
	}
	return known, name
}
