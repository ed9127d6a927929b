package proxy

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/dialect/responses"
	"epitome/proxy/wire"
	"epitome/rewrite/ledger"
)

// makers are the domains of providers that make compactions, so that their answers need not be looked at.
var makers = []string{"openai.com", "chatgpt.com", "azure.com", "x.ai"}

// makesCompactions reports whether a host is one of makers.
func makesCompactions(host string) bool {
	return slices.ContainsFunc(makers, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

// learned is what was learned of others, by a key. All of it is forgotten when it becomes too much. The zero value is
// ready to use.
type learned[V any] struct {
	mu  sync.Mutex
	all map[string]V
}

func (n *learned[V]) put(key string, v V) {
	const most = 10_000
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil || len(n.all) >= most {
		n.all = map[string]V{}
	}
	n.all[key] = v
}

func (n *learned[V]) get(key string) V {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[key]
}

// lacksCompactions reports whether the upstream has shown in a scope that it makes none: a client's mistake is none of the
// others'. That is believed for an hour, as the upstream may begin to.
func (up *upstream) lacksCompactions(scope string) bool {
	return time.Since(up.lacking.get(scope)) < time.Hour
}

// How much of an answer is searched for a compaction, and how long it is held for that.
const (
	mostCompaction = 1 << 20 // bytes
	compactionFor  = 3 * time.Minute
)

// replaceCompaction passes an answer on, unless it shows that the upstream makes no compaction, which the request asks
// for. Then epitome answers (x.carried), or the request is sent once more without the member that asks for it.
func (x *exchange) replaceCompaction(up *upstream, target []byte, a *wire.Answer) (*wire.Answer, error) {
	if !x.asks || up.makes || x.lacks || len(x.foreign) > 0 {
		return a, nil
	}
	x.listen(a)
	lacks, isSure := x.showsLack(a)
	if !lacks {
		return a, nil
	}
	a.End()
	if isSure {
		up.lacking.put(x.scope, time.Now())
	}
	x.lacks, x.sent = true, nil
	err := x.shape(up, target)
	if err != nil || x.carried != nil {
		return nil, err
	}
	return up.pool.Do(x.life, x.outgoing(up, target))
}

// showsLack reports whether an answer has no compaction in it, which was asked for, and whether later requests can expect
// the same. The answer is held.
func (x *exchange) showsLack(a *wire.Answer) (lacks, isSure bool) {
	coding := string(wire.Values(a.Block, "content-encoding"))
	errorNames := func(words string) bool {
		content, _ := decode(coding, x.hold(a, mostOfError, errorFor, nil), mostOfError) // a part of it may tell enough
		return bytes.Contains(bytes.ToLower(content), []byte(words))
	}
	switch {
	case slices.Contains([]int{404, 405, 501}, a.Code):
		return x.asksNow, x.asksNow && !errorNames("model") // it may be the model that does not exist
	case slices.Contains([]int{400, 413, 422}, a.Code) && x.asksNow:
		return true, errorNames("compaction")
	case slices.Contains([]int{400, 422}, a.Code):
		names := errorNames("context_management")
		return names, names
	case a.Code < 200 || a.Code > 299 || a.Empty || !x.asksNow:
		return false, false
	}
	read := 0 // bytes of whole events
	hasItem := func(content []byte) bool {
		end := bytes.LastIndexByte(content, '\n') + 1
		sealed, _ := responses.CompactionsIn(content[read:end])
		read = end
		return len(sealed) > 0
	}
	if isEncoded([]byte(coding)) || !isOfType(a, "text/event-stream") {
		hasItem = nil
	}
	content, err := decode(coding, x.hold(a, mostCompaction, compactionFor, hasItem), mostCompaction)
	if err != nil || !a.IsComplete() {
		return false, false // who has not seen all of it does not know
	}
	sealed, isComplete := responses.CompactionsIn(content)
	return len(sealed) == 0 && isComplete, true
}

// serveCompaction answers a request for a compaction in the place of the upstream.
func (x *exchange) serveCompaction() error {
	c := responses.Compaction{
		ID: x.carried.Name, Sealed: x.carried.Sealed, Model: x.report.Model, Created: time.Now(),
		Input: x.report.TokensBefore.Total(), Output: x.carried.Tokens,
	}
	w := response{exchange: x, header: make(http.Header), status: http.StatusOK}
	w.header.Set("Content-Type", "application/json")
	switch {
	case x.atPath:
		body, _ := x.decoded() // it was read before
		w.body = c.OfPath(body)
	case x.report.Streams:
		w.header.Set("Content-Type", "text/event-stream")
		w.body = c.Stream()
	default:
		w.body = c.Whole()
	}
	x.event.Status, x.event.ResponseBytes = w.status, int64(len(w.body))
	x.event.Action = string(ledger.StepCompact)
	x.setExtra(x.event.Action)
	w.send(true)
	return w.err
}

// keyOf returns enough of a provider's compaction to tell it from all others.
func keyOf(sealed string) string { return sealed[max(0, len(sealed)-32):] }

// otherMaker returns the host that has made a compaction in the request, if it is not the upstream's; else "".
func (x *exchange) otherMaker(up *upstream) string {
	for _, sealed := range x.foreign {
		host := x.proxy.makers.get(keyOf(sealed))
		if host != "" && host != up.host {
			return host
		}
	}
	return ""
}

// noteMaker keeps who has made the compactions in an answer. If the answer refuses a request with one, the log says
// what may be the cause.
func (x *exchange) noteMaker(up *upstream, a *wire.Answer) {
	switch {
	case a.Code < 300 && len(x.made) > 0:
		content, _ := decode(string(wire.Values(a.Block, "content-encoding")), x.made, mostCompaction)
		sealed, _ := responses.CompactionsIn(content)
		for _, s := range sealed {
			x.proxy.makers.put(keyOf(s), up.host)
		}
	case len(x.foreign) > 0 && a.Code >= 400 && a.Code < 500:
		x.event.Err = "the request has a compaction of a provider, which no other provider can read"
	}
}
