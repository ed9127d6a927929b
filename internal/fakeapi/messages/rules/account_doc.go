// An Account counts tokens, and says which of them are read from the cache.
//
// It promises that an entry exists only where a marker stood in an earlier request that was answered, that it is found
// only within 20 positions before a marker, and that the four parts of Usage add up to all input. The rules stand in
// the doc of package messages.

package rules
