// A Book knows what a server of the Responses API has issued: ids, opaque strings, and responses that it
// keeps.
//
// It promises that a reasoning item is accepted only in front of what it led to, and what it led to only behind it;
// that an opaque string is accepted only if a server of this package sealed it, for the same credentials; that what
// was not to be kept cannot be looked up by its id; and that a kept response stands for all that was said up to it.
//
// Items without an id, and those whose id nobody issued, are taken by value.

package rules
