package event

// Sources of a Usage.
const (
	UsageProvider = "provider" // the answer states it
	UsageCounted  = "counted"  // the answer does not: the input is our own count, and nothing else is known
)

// Usage is the tokens of a request and its answer, with one meaning for all APIs and providers.
type Usage struct {
	Source  string `json:"source,omitempty"`   // one of the sources; empty: nothing is known
	Input   int    `json:"input,omitempty"`    // of the request, with Read and writes
	Read    int    `json:"read,omitempty"`     // of Input, read from the provider's cache
	Write5m int    `json:"write_5m,omitempty"` // of Input, written to the cache for five minutes
	Write1h int    `json:"write_1h,omitempty"` // and for an hour
	Output  int    `json:"output,omitempty"`   // with what the model thought
	// CacheUnknown reports that the answer does not mention a cache: Read is not 0 but unknown.
	CacheUnknown bool  `json:"cache_unknown,omitempty"`
	Odd          bool  `json:"odd,omitempty"`          // the numbers contradict each other; they are not priced
	Cut          bool  `json:"cut,omitempty"`          // the answer broke off: Output is what it stated until then
	Charged      int64 `json:"charged_nano,omitempty"` // nano-dollars by the provider's own words; 0 if it has none
}

// Bill is what an exchange cost, in nano-dollars, by the prices in force when it ended. It is worked out once: sums are
// sums of these numbers. Raw and Sent price the request as the client sent it and as it was sent on by the same
// assumptions about the provider's cache, so that errors of these cancel out. Billed is what the provider's usage
// costs.
type Bill struct {
	Price    string `json:"price,omitempty"`       // ID of the price; empty: none is known, and amounts are unknown, not 0
	Unpriced string `json:"unpriced,omitempty"`    // why an amount is missing: one of the Unpriced reasons
	Raw      int64  `json:"raw_nano,omitempty"`    //
	Sent     int64  `json:"sent_nano,omitempty"`   //
	Billed   int64  `json:"billed_nano,omitempty"` //
	// AtLeast reports that Billed may be too low: the answer broke off, or says nothing of the cache, so that Billed is
	// with all of the request read from it.
	AtLeast  bool `json:"at_least,omitempty"`
	Ruled    bool `json:"ruled,omitempty"`    // Raw and Sent are known; else both are 0
	Measured bool `json:"measured,omitempty"` // Billed is known
	// Beyond reports that the original request is larger than its model's window, or than one that was refused as too
	// long: it would have been refused, and has no price.
	Beyond       bool `json:"beyond,omitempty"`
	Subscription bool `json:"subscription,omitempty"` // the upstream is not paid by tokens: amounts are list prices
}

// Saved is how much less the exchange cost for being shaped; negative if it cost more. Summaries are charged in
// Summary.
func (b Bill) Saved() int64 { return b.Raw - b.Sent }

// IsUnpriced reports whether an amount is missing though there was an answer to a conversation.
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
