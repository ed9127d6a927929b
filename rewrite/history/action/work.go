package action

import "epitome/rewrite/span"

// workOf is what reading the arguments of a call costs: one is a value of JSON, read a few times.
func workOf(arguments []byte) int {
	const bytesOfValue = 16 // that cost as much in a text
	return len(arguments)/bytesOfValue + span.CountValues(arguments)
}

// workOfAll is what a call costs beside its arguments: reading its commands, and watching its files to the end of the
// conversation. Most calls have one or two.
func (a *Action) workOfAll() int {
	const usual, workOfFile = 3, 30
	files := len(a.Reads) + len(a.Writes) + len(a.Deletes)
	return a.work + workOfFile*max(0, files-usual)
}
