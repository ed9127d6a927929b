//go:build !race

package daemon

// longSession is how many messages a long session has.
const longSession = 3_000

// manyTurns is how many turns an agent takes in a window that nobody knows.
const manyTurns = 200

// atOnce is how many clients send one request at the same time.
const atOnce = 100

// farBelow is how many times smaller a window is than what a conversation has.
var farBelow = [...]int{2, 10, 100}

// raceDetector says that this test runs under it.
const raceDetector = false
