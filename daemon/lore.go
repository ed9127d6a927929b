package daemon

import (
	"time"

	"epitome/console/learned"
	"epitome/rewrite/addition"
	"epitome/summarize/memory"
)

// Lore is what is known of all projects.
type Lore struct {
	Place func() memory.Place // where it is read; nil, or gives nil, while memories are off
	Local *memory.Local       // what can be listed and deleted
}

var (
	_ addition.Memories = Lore{}
	_ learned.Keeper    = Lore{}
)

// Remembers does what addition.Memories and learned.Keeper say.
func (l Lore) Remembers() bool { return l.Place != nil && l.Place() != nil }

// Recall does what addition.Memories says.
func (l Lore) Recall(scope, project string) (string, error) {
	if !l.Remembers() {
		return "", nil
	}
	known, err := l.Place().Read(memory.Owner{Scope: scope, Project: memory.ProjectOf(project)})
	if err != nil {
		return "", err
	}
	return known.Text(), nil
}

// List does what learned.Keeper says.
func (l Lore) List() ([]memory.Kept, error) { return l.Local.List() }

// Forget does what learned.Keeper says.
func (l Lore) Forget(o memory.Owner, id string) error { return l.Local.Forget(o, id) }

// loreOf is the lore in a store of which nothing is changed.
func loreOf(conf memory.Config, facts memory.Facts) Lore {
	local := memory.NewLocal(untouched{facts}, conf.Keep.D, time.Now)
	return Lore{Local: local, Place: func() memory.Place {
		if !conf.Enabled {
			return nil
		}
		return local
	}}
}

// loreLeft is the lore that an epitome which does not run has left in a store: it can be listed and deleted.
func loreLeft(conf memory.Config, facts memory.Facts) Lore {
	return Lore{Local: memory.NewLocal(facts, conf.Keep.D, time.Now)}
}

// untouched are facts that live no longer for being read.
type untouched struct{ memory.Facts }

// Touch leaves everything as it is.
func (untouched) Touch(string, time.Duration) (bool, error) { return true, nil }
