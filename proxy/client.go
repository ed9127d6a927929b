package proxy

import (
	"time"

	"epitome/event"
)

// identify finds whose key the request came with, where clients have keys, and takes the key off.
func identify(x *exchange) error {
	whose, err := x.set.clients.Find(x.ctx.Request.Header.RawHeaders())
	x.event.Client = whose.Name()
	return err
}

// bytesPerToken is what a token is taken for where an answer does not tell: mode off is no way around a limit.
const bytesPerToken = 4

// spend counts what the exchange took against the limits of its client, also of one that left before it was answered. A
// count of tokens takes none.
func spend(x *exchange) {
	e, whose := &x.event, x.set.clients.Lookup(x.event.Client)
	counts := x.dialect != nil && !x.ear.Hears()
	if !whose.CountsTokens() || e.Status > 299 || e.Sent == 0 || counts {
		return
	}
	output := int64(e.Usage.Output)
	if e.Usage.Cut { // it may have written more than it has told
		output = max(output, e.ResponseBytes/bytesPerToken)
	}
	tokens := int64(e.Usage.Input) + output
	if e.Usage.Source != event.UsageProvider && (e.Method == "POST" || e.Status == 101) {
		own, bytes := int64(max(ownCount(e), e.Usage.Input)), e.ResponseBytes // Input is that of all rounds
		if own == 0 {
			bytes += e.RequestBytes
		}
		tokens = own + bytes/bytesPerToken
	}
	whose.Spend(tokens, time.Now())
}
