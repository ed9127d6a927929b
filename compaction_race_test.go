//go:build race

package main

// longSession is how many messages a long session has; the race detector makes all of it ten times slower.
const longSession = 600
