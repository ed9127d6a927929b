// An Account counts the tokens of a request of the Responses API, and says which of them come from the cache.

package rules
