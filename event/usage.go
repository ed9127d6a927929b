package event

// Sources of a Usage.
const (
	UsageProvider = "provider" // the answer tells it
	UsageCounted  = "counted"  // the answer does not: the input is our own count, and nothing else is known
)

// Usage is what an answer cost its model, in tokens, one meaning for all dialects and providers.
type Usage struct {
	Source  string `json:"source,omitempty"` // one of the sources; empty: nothing is known
	Input   int    `json:"input,omitempty"`  // of the request, with what the provider's cache had and took up
	Read    int    `json:"read,omitempty"`   // of Input, what the cache had
	Write5m int    `json:"write_5m,omitempty"`
	// of Input, what the cache took up, for five minutes and for an hour
	Write1h   int `json:"write_1h,omitempty"`
	Output    int `json:"output,omitempty"` // with what was thought
	Reasoning int `json:"reasoning,omitempty"`
	// CacheUnknown is that the answer says nothing of a cache: Read is not 0 but unknown.
	CacheUnknown bool `json:"cache_unknown,omitempty"`
	// Odd is that the numbers contradict each other (Read and writes are more than Input); they are not priced.
	Odd bool `json:"odd,omitempty"`
	// Cut is that the end of the answer did not come: Output and Reasoning are what it had told until then, at least.
	Cut bool `json:"cut,omitempty"`
	// Charged is what the provider says that it charged, in nano-dollars; 0 if it does not say.
	Charged int64 `json:"charged_nano,omitempty"`
}

// Bill is what an exchange cost, in nano-dollars, by the prices in force when it ended. It is worked out once, rounded
// once, and never again: sums are sums of these numbers.
//
// Raw and Sent price the request as it came and as it was sent by the same assumptions about the provider's cache, so
// that errors of these cancel out. Billed is what the provider's own usage costs.
type Bill struct {
	// which price it was; empty: no price is known, and the amounts are unknown, not 0
	Price string `json:"price,omitempty"`
	// Why nothing can be said of the amounts that are missing: one of the Unpriced reasons; empty if none is missing.
	Unpriced string `json:"unpriced,omitempty"`
	Raw      int64  `json:"raw_nano,omitempty"`
	Sent     int64  `json:"sent_nano,omitempty"`
	Billed   int64  `json:"billed_nano,omitempty"`
	// Most is above Billed where the answer says nothing of the cache: then Billed is as if all that may be cached was.
	Most int64 `json:"most_nano,omitempty"`
	// AtLeast is that Billed is of an answer that did not come whole: what its model wrote beyond what was told is in
	// neither Billed nor Most.
	AtLeast bool `json:"at_least,omitempty"`
	// Ruled reports that Raw and Sent are known; else both are 0.
	Ruled bool `json:"ruled,omitempty"`
	// Measured is that Billed is known.
	Measured bool `json:"measured,omitempty"`
	// Beyond is that the request as it came is more than its model's window, or than what the provider refused as too
	// long: it would have been refused, and has no price.
	Beyond bool `json:"beyond,omitempty"`
	// Subscription is that the upstream is not paid by tokens: the amounts are what list prices would be.
	Subscription bool `json:"subscription,omitempty"`
}

// Saved is what the exchange cost less for being shaped; negative if it cost more. What was asked of a model for
// summaries stands apart, in Summary.
func (b Bill) Saved() int64 { return b.Raw - b.Sent }

// IsUnpriced reports whether an amount is missing that there might be: there was an answer, of a conversation.
func (b *Bill) IsUnpriced() bool {
	return b.Unpriced != "" && b.Unpriced != UnpricedFailed && b.Unpriced != UnpricedOther
}

// Unpriced reasons: why an exchange, or a part of its bill, has no amount.
const (
	UnpricedModel  = "model"  // no price of the model is known
	UnpricedCached = "cached" // no price of what the cache has is known
	UnpricedUsage  = "usage"  // the answer says nothing of its tokens, and they cannot be counted
	UnpricedOdd    = "odd"    // what it says contradicts itself
	UnpricedFailed = "failed" // there was no answer to pay for
	UnpricedOther  = "other"  // the request is no conversation
)

// Miss is why the provider's cache had less of a request than the request before had put there: the first that fits.
type Miss string

// The misses. NoMiss is a hit, or nothing to hit.
const (
	NoMiss       Miss = ""
	MissFirst    Miss = "first"    // the first request of the conversation
	MissModel    Miss = "model"    // another model was asked before
	MissPause    Miss = "pause"    // the pause was longer than the cache lives
	MissOurs     Miss = "decision" // a new decision of epitome's changed what had been sent
	MissLeading  Miss = "leading"  // the client changed its system prompt, tools or settings
	MissClient   Miss = "client"   // the client changed an earlier message
	MissSmall    Miss = "small"    // the request is below what is cached at all
	MissProvider Miss = "provider" // the beginning was the same, and yet the provider had less than four fifths of it
	MissUnknown  Miss = "unknown"  // the answer says nothing of the cache
)
