// Package lazy makes values when they are first used: tables that most processes never look into. Made when the process
// starts, they would delay each of them.
//
// It promises that a value is made once, whoever asks at the same time, and that asking for it again costs one look at
// a pointer. A package variable that Of makes costs nothing when the process starts: the compiler lays it out. That
// holds for a function with a name; one that is written where it is handed over would be put there at start.
package lazy

import (
	"sync"
	"sync/atomic"
)

// Value is made when it is first used. Goroutines may share it; nobody changes what it holds.
type Value[T any] struct {
	build func() T
	built atomic.Pointer[T]
	mu    sync.Mutex // held by who builds
}

// Of returns the value that a function makes. If it panics, whoever asks next calls it again.
func Of[T any](build func() T) *Value[T] { return &Value[T]{build: build} }

// Get returns the value.
func (v *Value[T]) Get() T {
	if built := v.built.Load(); built != nil {
		return *built
	}
	return v.first()
}

func (v *Value[T]) first() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.built.Load() == nil {
		built := v.build()
		v.built.Store(&built)
	}
	return *v.built.Load()
}
