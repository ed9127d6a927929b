// Package excerpt finds the lines of a text that tell: what failed and why, warnings, totals, how it ended.
//
// It promises that it hands out whole lines only, in their order, with true counts of what is left out; that what it
// says of an outcome rests on a tool's own words at the place where that tool says it; and that its time grows with the
// text and no faster.
//
// A line is read once, for what it tells (judge.go: its kind, its weight, the row of a tool that it has the form of).
// Three questions are asked of that, each with an order of its own: which lines are shown of a text that must become
// shorter (score.go and choose.go, by scores); which few lines stand alone for what failed (telling.go, by ranks); and
// how it ended, with the one line that matters most (read.go).
package excerpt
