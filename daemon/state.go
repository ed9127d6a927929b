package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/console"
	"epitome/dialect"
	"epitome/event"
	"epitome/event/journal"
	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/view"
	"epitome/store"
	"epitome/summarize"
)

// State says how an epitome runs. It tells its owner under /-/health.
type State struct {
	Status    string                 `json:"status"`
	Version   string                 `json:"version"`
	Mode      string                 `json:"mode"`
	Upstream  string                 `json:"upstream"` // the default one
	Named     bool                   `json:"named"`    // --upstream named it, so it serves every agent
	Upstreams map[string]string      `json:"upstreams"`
	Keyed     bool                   `json:"keyed"`   // clients need keys of epitome's
	Runtime   bool                   `json:"runtime"` // agents of "epitome run" are told about their machine
	Stale     bool                   `json:"stale"`   // its configuration file has changed since it was read
	Loading   bool                   `json:"loading"` // the record of earlier runs is being read: Totals and Newest are empty
	Totals    journal.Sums           `json:"totals"`  // of all requests since the start
	Newest    []journal.Conversation `json:"newest"`
}

// State returns how the daemon runs.
func (d *Daemon) State() State {
	conf := d.config.Load()
	s := State{
		Status: "ok", Version: Version(), Mode: conf.Mode, Upstream: conf.Upstream, Named: conf.Named,
		Upstreams: map[string]string{}, Keyed: len(conf.Clients) > 0, Runtime: conf.Context.Runtime,
		Loading: !d.book.Loaded(),
	}
	if !s.Loading {
		s.Totals = d.book.Totals()
		s.Newest = d.book.Conversations("", 0, 100).Items
	}
	for name, u := range conf.Upstreams {
		s.Upstreams[name] = u.URL
	}
	next, err := d.load()
	s.Stale = err != nil || !config.Same(*conf, next)
	return s
}

// Version is the module's version. A build from a checkout has the time and the start of its commit in it.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return b.Main.Version
}

// addGauges adds the metrics that are no sums of events.
func (d *Daemon) addGauges() {
	oneIf := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	m := d.metrics
	m.Gauge("exchanges_in_flight", "Exchanges under way.", func() float64 { return float64(d.proxy.InFlight()) })
	m.Gauge("live_conversations", "Conversations with an exchange in the last two minutes.",
		func() float64 { return float64(d.book.CountLive()) })
	if d.started.Offload.Bucket == "" { // of which nobody counts the bytes, and which has no quota
		m.Gauge("artifact_bytes", "Bytes of artifacts.", func() float64 { return float64(d.storage.shelf.Used()) })
		m.Gauge("artifact_quota_bytes", "Bytes that artifacts may take.",
			func() float64 { return float64(d.started.Offload.Quota) })
	}
	m.Gauge("artifacts_writable", "1 while artifacts can be stored, 0 on a full disk or without the bucket.",
		func() float64 { return oneIf(d.storage.keeps()) })
	if shared, ok := d.storage.store.(*store.Redis); ok {
		m.Gauge("shared_store_up", "1 while the shared store answers and takes writes.", func() float64 {
			state := shared.State()
			return oneIf(state != store.Away && state != store.Refuses)
		})
	}
	m.Gauge("shaping_in_flight", "Conversations that are shaped, or wait for it.",
		func() float64 { return float64(d.places.InFlight()) })
	m.Counter("shaping_waited_seconds_total", "Time that large conversations waited until they were shaped.",
		func() float64 { return d.places.Waited().Seconds() })
	m.Counter("shaping_budget_spent_total", "Conversations that have waited so long that code alone shortened them, or "+
		"nothing new was decided.", func() float64 { return float64(d.places.Spent()) })
	m.Gauge("reload_failed", "1 if the last reload of the configuration has failed.",
		func() float64 { return oneIf(d.reloadFailed.Load()) })
	m.Gauge("reload_seconds", "When the configuration in force was read, in seconds since 1970.",
		func() float64 { return float64(d.configured.Load()) })
	if d.started.TLS.IsSet() {
		m.Gauge("certificate_end_seconds", "When the certificate in [tls] expires, in seconds since 1970; 0 if it "+
			"cannot be read.", func() float64 { return float64(d.started.TLS.End()) })
	}
}

// CountDropped adds the metric of lines of the log that were dropped.
func (d *Daemon) CountDropped(lines *atomic.Int64) {
	d.metrics.Counter("log_lines_dropped_total", "Lines of the log that were dropped, as they could not be written in time.",
		func() float64 { return float64(lines.Load()) })
}

// edits reads the edits that a request was sent with, or in mode observe would have been, by the key of its decision. A
// request without edits of its messages has no key. What epitome adds to the system prompt edits no message.
func (d *Daemon) edits(decision string) (event.Edits, error) {
	all := event.Edits{List: []event.Edit{}} // not null in JSON
	if decision == "" {
		return all, nil
	}
	sent, found, err := d.observed.At(decision) // this ledger has the decisions of both modes
	if err == nil && !found {
		all.Missing = "the decision for this request is not kept any more: it has expired, or its store is gone"
	}
	firstNew := len(sent.Edits) - sent.Added                                     // the request's own edits come last
	ofModel := func(tokens int) int { return int(float64(tokens) * sent.Ratio) } // from tokens of the vocabulary
	for i, e := range sent.Edits {
		if e.Op == view.AppendSystem {
			continue
		}
		s := event.Edit{
			Item: e.Messages[0], Last: e.Messages[1], Rung: string(e.Step), Code: e.Reason, Reason: e.Reason.Sentence(),
			New: i >= firstNew, Before: ofModel(e.Tokens + e.Saved), After: ofModel(e.Tokens), Text: e.Text,
		}
		if len(e.Artifacts) > 0 {
			s.Artifact = e.Artifacts[0] // of two, the second has the JSON as the client sent it
		}
		all.List = append(all.List, s)
	}
	slices.SortStableFunc(all.List, func(a, b event.Edit) int { return cmp.Compare(a.Item, b.Item) })
	return all, err
}

// editsWith returns the edits of the conversation that has one with the artifact. Forks share transcripts: then these
// are the edits that all have. The artifact is of the scope of requests with the headers, if there are headers.
func (d *Daemon) editsWith(h http.Header, artifact string) (edits []event.Edit, err error) {
	time.Sleep(200 * time.Millisecond) // some agents call a tool before the exchange ends, from which its name is known
	if h != nil {
		scope, err := d.proxy.ScopeOf(h)
		if err != nil {
			return nil, err
		}
		content, _ := d.storage.shelf.Get(artifact) // without it, the names differ
		if d.storage.shelf.Name(scope, content) != artifact {
			return nil, offload.ErrUnknown
		}
	}
	if artifact == "" {
		return nil, offload.ErrUnknown
	}
	_, isShared := d.storage.store.(*store.Redis) // other replicas have conversations that this one does not know
	for _, c := range d.book.Conversations("", 0, 1<<30).Items {
		if c.Decision == "" { // nothing has left it
			continue
		}
		sent, err := d.edits(c.Decision)
		if err != nil {
			return nil, err
		}
		at := indexOf(artifact, sent.List)
		if at < 0 {
			continue
		}
		isTranscript := sent.List[at].Last > sent.List[at].Item
		if !isTranscript && (edits != nil || isShared) {
			return nil, console.BadRequest("other conversations may have this artifact: name a transcript")
		}
		if edits == nil {
			edits = slices.Clone(sent.List)
			if isShared { // those behind a transcript may be of one fork alone
				edits = edits[:at+1]
			}
		}
		edits = slices.DeleteFunc(edits, func(e event.Edit) bool { return e.Text == "" || indexOf(e.Artifact, sent.List) < 0 })
	}
	if edits == nil {
		return nil, offload.ErrUnknown
	}
	return edits, nil
}

// indexOf returns where the edit with an artifact and a text stands; negative if there is none. Of several edits with
// one artifact, only the first has a text.
func indexOf(artifact string, edits []event.Edit) int {
	return slices.IndexFunc(edits, func(e event.Edit) bool { return e.Artifact == artifact && e.Text != "" })
}

// restore has the next requests of a conversation sent without the edits that its newest one was sent with, as far as
// the window allows. It returns how many these are.
func (d *Daemon) restore(conversation string) (edits int, err error) {
	s, err := d.book.Conversation(conversation)
	if s.Decision != "" {
		edits, err = d.deps.Ledger.Restore(s.Decision)
	}
	if edits > 0 {
		d.log.Info("conversation_restored", "conversation", conversation, "edits", edits)
	}
	return edits, err
}

// inputOf returns how the conversation in the body is shaped for the headers of a request to epitome itself. The query
// may name its API and its upstream.
func (d *Daemon) inputOf(r *http.Request, body []byte) (rewrite.Input, error) {
	h := r.Header.Clone()
	h.Del(console.OwnerHeader) // it is no setting
	query := r.URL.Query()
	api, err := dialect.Of(query.Get("dialect"), body)
	if err != nil {
		return rewrite.Input{}, err
	}
	return d.proxy.InputOf(api, h, query.Get("upstream"), body)
}

// compress answers POST /-/v1/compress: it shapes the conversation in the body as if it were on its way to the upstream
// of its model. Decisions are recorded, so that the next call repeats them. Code writes summaries, as a gateway sends
// no credential with which a model could be asked. After a failure, what was decided before is repeated.
func (d *Daemon) compress(r *http.Request, body []byte) (rewrite.Output, error) {
	asked, err := d.inputOf(r, body)
	if err != nil {
		return rewrite.Output{}, err
	}
	asked.Now = time.Now()
	s := d.gateway.Shape(asked)
	if s.Report.Err != nil {
		d.log.Warn("cannot shape what a gateway sent", "error", s.Report.Err.Error())
	}
	if s.Report.Items == 0 || !gjson.GetBytes(body, "messages").IsArray() {
		return s, errors.New(`cannot read the body: send {"messages": [...], "model": "..."}`)
	}
	return s, nil
}

// compact answers POST /-/compact: it compacts the conversation in the body as the proxy would for the same headers,
// whatever its size, or to the tokens that the query has as "to". It decides by what was decided for the conversation,
// and records nothing, because the result is a conversation of its own. Artifacts are kept, as the client may ask for
// them.
func (d *Daemon) compact(r *http.Request, body []byte) (rewrite.Output, error) {
	asked, err := d.inputOf(r, body)
	if err != nil {
		return rewrite.Output{}, err
	}
	asked.Compact = true
	if to := r.URL.Query().Get("to"); to != "" {
		if asked.CompactTo, err = proxy.ReadCompactTo(to); err != nil {
			return rewrite.Output{}, fmt.Errorf("cannot compact: %w", err)
		}
	}
	s := rewrite.NewShaper(overlay(d.deps)).Shape(asked)
	if s.Report.Items == 0 && s.Report.Err == nil {
		return rewrite.Output{}, fmt.Errorf("cannot compact the body: %s; send a request of Chat Completions, "+
			"Anthropic Messages or OpenAI Responses", s.Report.Reason)
	}
	return s, nil
}

// spareMemory is what the program may take besides the bodies under way, in bytes, before it collects garbage more
// often.
const spareMemory = 256 << 20

// boundMemory keeps garbage, which is mostly bodies that were sent, from growing far beyond what is allowed for those
// under way and for those that wait to be summarised.
func boundMemory(conf config.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(conf.Proxy.MaxInFlight+summarize.MaxPending) + spareMemory)
	}
}

// paceGarbage is called every few seconds with the GOGC in force, and returns the next one: Go itself lets garbage grow as
// large as what is in use.
func paceGarbage(percent uint64) uint64 {
	const garbage = 32 << 20 // bytes between collections
	if os.Getenv("GOGC") != "" {
		return percent
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	percent = min(max(garbage*(100+percent)/max(m.NextGC, 1), 50), 100)
	debug.SetGCPercent(int(percent)) //nolint:gosec // at most 100
	return percent
}

// crashFile gets the last words of a process in which a bug, or an error of the disk in a mapped file, has ended all.
const crashFile = "crash.log"

// tellCrash logs that the epitome before this one has crashed in a data folder, and has the last words of this one
// written there: its log may have no reader, and takes no line after a crash. A second epitome with the folder does
// neither.
func (d *Daemon) tellCrash(folder string) {
	if !d.card.lock.Locked() {
		return
	}
	path := filepath.Join(folder, crashFile)
	text, _ := os.ReadFile(path) // there is none after an orderly end
	if len(text) > 0 && os.Rename(path, path+".old") == nil {
		why, _, _ := strings.Cut(string(text), "\n\n") // behind it are the goroutines; Go gives some reasons to stderr alone
		d.log.Error("the epitome before this one has crashed", "why", event.Clip(why), "where", path+".old")
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // the standard error has to do
	}
	_ = debug.SetCrashOutput(file, debug.CrashOptions{}) // likewise
	_ = file.Close()                                     // it was duplicated
	d.atEnd(func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = os.Remove(path)
	})
}
