//go:build race

package daemon

// longSession is how many messages a long session has; the race detector makes all of it ten times slower.
const longSession = 600

// manyTurns is how many turns an agent takes in a window that nobody knows.
const manyTurns = 40

// atOnce is how many clients send one request at the same time.
const atOnce = 25

// farBelow is how many times smaller a window is than what a conversation has.
var farBelow = [...]int{10}

// raceDetector says that this test runs under it.
const raceDetector = true
