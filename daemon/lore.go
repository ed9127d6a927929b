package daemon

import (
	"time"

	"epitome/console/learned"
	"epitome/inject"
	"epitome/rewrite/addition"
)

// Lore is what is known of all projects.
type Lore struct {
	Place    func() *inject.Memory // where it is read; nil, or gives nil, while memories are off
	Local    *inject.Memory        // what can be listed and deleted
	ReadOnly bool                  // it lives no longer for being read
}

var (
	_ addition.Memories = Lore{}
	_ learned.Keeper    = Lore{}
)

// Remembers does what addition.Memories says.
func (l Lore) Remembers() bool { return l.On() }

// On does what learned.Keeper says.
func (l Lore) On() bool { return l.Place != nil && l.Place() != nil }

// Recall does what addition.Memories says.
func (l Lore) Recall(scope, project string) (string, error) {
	if !l.Remembers() {
		return "", nil
	}
	given := inject.Injector{Memory: l.Place(), ReadOnly: l.ReadOnly}
	added, err := given.For(scope, nil, project, false)
	return added.Text, err
}

// List does what learned.Keeper says.
func (l Lore) List() ([]inject.Notes, error) { return l.Local.List() }

// Forget does what learned.Keeper says.
func (l Lore) Forget(o inject.Owner, id string) error { return l.Local.Forget(o, id) }

// loreOf is the lore in a store of which nothing is changed.
func loreOf(conf inject.MemoryConfig, facts inject.Facts) Lore {
	local := inject.NewMemory(facts, conf, time.Now)
	return Lore{Local: local, ReadOnly: true, Place: func() *inject.Memory {
		if !conf.Enabled {
			return nil
		}
		return local
	}}
}

// loreLeft is the lore that an epitome which does not run has left in a store: it can be listed and deleted.
func loreLeft(conf inject.MemoryConfig, facts inject.Facts) Lore {
	return Lore{Local: inject.NewMemory(facts, conf, time.Now)}
}
