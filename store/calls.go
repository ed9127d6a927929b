package store

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Try runs a function, and returns a panic in it as an error. On a goroutine of its own a panic ends the process.
func Try(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return run()
}

// Calls run at the same time, mostly calls of stores that may be far away. A panic in one is its error.
type Calls struct{ group errgroup.Group }

// NewCalls returns Calls of which at most so many run at once.
func NewCalls(atOnce int) *Calls {
	c := &Calls{}
	c.group.SetLimit(atOnce)
	return c
}

// Go begins a call, and waits before that as long as too many run.
func (c *Calls) Go(call func() error) { c.group.Go(func() error { return Try(call) }) }

// Wait waits for all calls, and returns the first error.
func (c *Calls) Wait() error { return c.group.Wait() }
