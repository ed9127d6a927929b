package proxy

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"epitome/dialect/answer"
	"epitome/dialect/responses"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/rewrite/view"
)

// compactionFor is how long an answer is held to look for a compaction in it.
const compactionFor = 3 * time.Minute

// checkCompactions refuses a request with a compaction that epitome cannot read, and one that begins with a context that
// is gone.
func (x *exchange) checkCompactions() error {
	if errors.Is(x.shaped.Refused, rewrite.ErrNoFiles) {
		return refuse(400, "bad_request", x.shaped.Refused.Error())
	}
	if x.shaped.Refused != nil {
		return refuse(400, "compaction_not_readable", x.shaped.Refused.Error(), noRetry)
	}
	return nil
}

// replaceCompaction passes an answer on, unless it shows that the upstream makes no compaction, which the request asks
// for. Then epitome answers (x.shaped.Carried), or the request is sent once more without the member that asks for it.
func (x *exchange) replaceCompaction(a *wire.Answer) (*wire.Answer, error) {
	if !x.shaped.Asks || x.lacks {
		return a, nil
	}
	if len(x.shaped.Foreign) > 0 { // the upstream has made one in this conversation, or cannot read it
		return a, nil
	}
	lacks, isSure := x.showsLack(a)
	if !lacks || !isSure && x.upstream.makes.Load() { // it has made some, and refuses this request alone
		return a, nil
	}
	a.End()
	if isSure {
		x.upstream.lacked.Store(time.Now().UnixNano())
		x.upstream.makes.Store(false)
	}
	x.lacks = true // so that shape no longer leaves the compaction to the upstream
	if err := x.shape(); err != nil || x.shaped.Carried != nil {
		return nil, err
	}
	return x.send()
}

// showsLack reports whether an answer has no compaction in it, which was asked for, and whether later requests can
// expect the same. The answer is held.
func (x *exchange) showsLack(a *wire.Answer) (lacks, isSure bool) {
	asksNow := x.shaped.AsksNow
	switch a.Code {
	case 404, 405, 501:
		return asksNow, asksNow && !errorNames(a, "model") // it may be the model that does not exist
	case 400, 413, 422:
		if asksNow {
			return true, errorNames(a, "compaction")
		}
		names := a.Code != 413 && errorNames(a, "context_management")
		return names, names
	}
	if a.Code < 200 || a.Code > 299 || a.Empty || !asksNow || x.upstream.makes.Load() {
		return false, false
	}
	var hasItem func(content []byte) bool
	if isStream(a) && !isEncoded(codingOf(a)) {
		hasItem = x.compactionFinder()
	}
	said, err := answer.Read(x.dialect, hold(a, compactionFor, hasItem))
	if said.Compacted {
		x.upstream.makes.Store(true)
		return false, true
	}
	// Who has not seen all of the answer does not know.
	return a.IsComplete() && err == nil && said.Error == nil && !said.Cut, true
}

// errorNames reports whether the text of an error has the words, which are in lower case.
func errorNames(a *wire.Answer, words string) bool {
	return bytes.Contains(bytes.ToLower(hold(a, errorFor, nil)), []byte(words))
}

// compactionFinder returns a function that reports whether a stream has a compaction. Each call has more of the stream.
func (x *exchange) compactionFinder() func(content []byte) bool {
	read := 0 // bytes of whole events
	return func(content []byte) bool {
		end := bytes.LastIndexByte(content, '\n') + 1
		said, _ := answer.Read(x.dialect, content[read:end]) // mostly it goes on
		read = end
		return said.Compacted
	}
}

// serveCompaction answers a request for a compaction in the place of the upstream.
func (x *exchange) serveCompaction() error {
	carried, report := x.shaped.Carried, &x.shaped.Report
	c := responses.Compaction{
		ID: carried.Name, Sealed: carried.Sealed, Model: report.Model, Created: time.Now(),
		Input: report.TokensBefore.Total(), Output: carried.Tokens,
	}
	content := "application/json"
	var written []byte
	path, _, _ := bytes.Cut(x.target, []byte("?"))
	switch {
	case x.dialect.API().Compacts(path):
		body, _ := x.decoded() // it was read before
		written = c.OfPath(body)
	case report.Streams:
		content = "text/event-stream"
		written = c.Write("stream")
	default:
		written = c.Write("whole")
	}
	x.event.ResponseBytes = int64(len(written))
	x.event.Action = string(view.StepCompact)
	x.setExtra(x.event.Action)
	return x.answer(http.StatusOK, content, written)
}
