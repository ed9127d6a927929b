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
type Calls struct{ errgroup.Group }

func (c *Calls) Go(call func() error) { c.Group.Go(func() error { return Try(call) }) }
