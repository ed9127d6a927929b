// Package excerpt finds the lines of a text that tell: what failed and why, warnings, totals, how it ended.
//
// It promises that it hands out whole lines only, in their order, with true counts of what is left out; that what it
// says of an outcome rests on a tool's own words at the place where that tool says it; and that its time grows with the
// text and no faster.
package excerpt
