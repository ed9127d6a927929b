//go:build !race

package main

// longSession is how many messages a long session has.
const longSession = 3_000
