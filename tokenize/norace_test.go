//go:build !race

package tokenize_test

// raced says that the race detector is on: it makes pools forget, and everything ten times slower.
const raced = false
