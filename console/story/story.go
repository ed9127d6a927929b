// Package story is what has happened, kept: events are numbered, priced, written down as lines of JSON and folded in
// memory, and questions about them are answered from the folds.
//
// It promises that an exchange waits for nothing but a send on a channel, that all sums are sums of the same numbers
// (each amount is rounded once, when its event is written down), that what it keeps is bounded in memory and on disk,
// and that a disk that is full, or a file that is damaged, costs figures and nothing else. It keeps nothing of what a
// body says, but for the name of the model and the title of a conversation.
package story
