// Package rules reads a request of the Messages API as the server does, and refuses it with the server's words.
//
// It promises that Read refuses every body that the real server is known to refuse by what stands in it alone: names
// and types of fields, settings, blocks and their places, roles, calls and results, markers. A rule whose words are not
// known is refused in words of its own kind. Read is pure: it keeps no part of what it is given but the raw values.
//
// Consecutive messages of one role count as one (Groups). Two blocks are the same if their Canon is.
//
// Sources of the words: issues of clients that print them, the vendor's pages, its SDK's types; where a word may have
// changed since, the newest one that was seen counts.
package rules
