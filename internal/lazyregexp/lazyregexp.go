// Package lazyregexp compiles regular expressions when they are first used, so that the start of the program does not
// wait for those that it may never need.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns expr, compiled at the first call. That call panics if expr cannot be compiled.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
