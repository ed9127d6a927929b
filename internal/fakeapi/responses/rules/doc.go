// Package rules reads a request of the Responses API as the server does, and refuses it with the server's words.
//
// It promises that Read refuses every body that the real server is known to refuse by what stands in it alone: names
// and types of fields, settings, items and their parts; and that CheckPairs refuses every list of items in which a call
// has no output or an output no call. A rule whose words are not known is refused in words of its own kind. Both are
// pure.
//
// Two items are the same if their Canon is.
//
// Sources of the words: issues of clients that print them, the vendor's SDK's types; where a word may have changed
// since, the newest one that was seen counts.
package rules
