package proxy

import (
	"time"
)

// identify finds whose key the request came with, where clients have keys, and takes the key off.
func identify(x *exchange) error {
	whose, err := x.set.clients.Find(x.ctx.Request.Header.RawHeaders())
	x.event.Client = whose.Name()
	return err
}

// bytesPerToken is what a token is taken for where an answer does not tell: mode off is no way around a limit.
const bytesPerToken = 4

// spend counts what the exchange took against the limits of its client. A count of tokens takes none.
func spend(x *exchange) {
	e, whose := &x.event, x.set.clients.Lookup(x.event.Client)
	counts := x.dialect != nil && x.ear.dialect == nil
	if !whose.CountsTokens() || e.Status > 299 || e.FirstByte == 0 || counts {
		return
	}
	tokens := int64(e.Usage.Input) + int64(e.Usage.Output)
	if e.Usage.Source == "" && (e.Method == "POST" || e.Status == 101) {
		tokens = (e.RequestBytes + e.ResponseBytes) / bytesPerToken
	}
	whose.Spend(tokens, time.Now())
}
