//go:build race

package rewrite

// raced says that the race detector is on: it makes pools forget, and everything ten times slower.
const raced = true
