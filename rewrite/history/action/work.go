package action

import "epitome/rewrite/span"

// workOf is what reading the arguments of a call costs: one is a value of JSON, read a few times.
func workOf(arguments []byte) int {
	const bytesOfValue = 16 // that cost as much in a text
	return len(arguments)/bytesOfValue + span.CountValues(arguments)
}
