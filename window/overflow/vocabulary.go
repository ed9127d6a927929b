package overflow

import (
	"epitome/pattern"
)

// leastText is a number of characters: a text that may have so many is no name and no id.
const leastText = 100_000

// leastLength is a length below which it is that of a name, unless it is told in tokens.
const leastLength = 512

// How texts are made ready.
var (
	// asides are a status, what repeats what was said before, names of requests, and set phrases that speak of input
	// where none is meant.
	asides = pattern.Of(`(?i)^\W*(?:(?:http|error|status|code)\W*)*[45]\d\d\b|\(parameter=[^)]*\)*|\brequest[ _-]?id["']?[:=]? *\S+` +
		`|\binput validation error|\bvalidation errors?\b|\binput should\b|\binvalid input\b`)

	// asksForOutput is the name of a field that says how much may be answered; outputNames are such names in words.
	asksForOutput = pattern.Of(`(?:^|_)max_tokens(?:_to_sample)?$` +
		`|(?:^|_)(?:max|num|n)_(?:\w+_)?(?:completion|output|outputs|new|response|gen|generated|generation|predict|sample)(?:_tokens?|_len|_length)?$`)
	outputNames = pattern.Of(` (?:max|maximum) tokens (?:value|parameter|param|setting|field|option|you requested|must be|should be) `)

	// otherUnits are what numbers count besides tokens.
	otherUnits = pattern.Of(`^(?:b|kb|mb|gb|tb|kib|mib|gib|bytes?|kilobytes?|megabytes?|characters?|chars?|px|pixels?|ms|s|secs?|seconds?|mins?|` +
		`minutes?|h|hours?|days?|pages?|images?|usd|dollars?|cents?|items?|tools?|files?|requests?|dpi|hz|fps)$`)
)
