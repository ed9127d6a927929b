package daemon

import (
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/console/story"
	"epitome/event"
	"epitome/internal/health"
)

// openBook opens the record of events, from which log, metrics and traces get theirs.
func (d *Daemon) openBook(
	conf config.Config, folder string, kept *storage, counts *console.Metrics,
) (*story.Book, error) {
	c := story.Config{
		Version: Version(), Keep: conf.Store.Keep.D(), Quota: int64(conf.Events.Quota), Log: d.log,
		Sinks: event.Sinks{counts, console.NewLog(d.log)}, Now: time.Now,
		Mode: func() string { return d.config.Load().Mode }, State: kept.troubles, Prices: d.prices,
		Bill:   func(e *event.Exchange, pause time.Duration) { d.shapers.prices.Load().Bill(e, pause) },
		Charge: func(s *event.Summary) event.Charge { return d.shapers.prices.Load().Charge(s) }, Life: d.cacheLife,
	}
	if !kept.passing { // else another epitome may hold the folder
		c.Folder = filepath.Join(folder, EventFolder)
	}
	if endpoint := d.started.Otel.Endpoint; endpoint != "" {
		traces, err := console.NewTraces(endpoint, Version(),
			func(upstream string) string { return hostIn(d.config.Load().Upstreams[upstream].URL) }, d.log)
		if err != nil {
			return nil, err
		}
		d.traces, c.Sinks = traces, append(c.Sinks, traces)
	}
	return story.New(c), nil
}

// hostIn is the host in a base URL; empty if there is none, as of an upstream that is not configured any more.
func hostIn(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// cacheLife is how long the provider is believed to keep what it was sent.
func (d *Daemon) cacheLife() time.Duration {
	if life := d.config.Load().Rewrite.CacheLife.D(); life > 0 {
		return life
	}
	return math.MaxInt64
}

// closeBook ends what is kept and told, once all has happened.
func (d *Daemon) closeBook() {
	d.book.Close()
	if d.traces != nil {
		d.traces.Close()
	}
}

// EventFolder is the folder in the data folder that has what happened.
const EventFolder = "events"

// gauges are numbers for the metrics that no event tells.
func (d *Daemon) gauges(kept *storage) console.Gauges {
	g := console.Gauges{
		Version: Version(), InFlight: d.proxy.InFlight, Conversations: d.book.CountLive, Dropped: d.book.CountDropped,
		ArtifactBytes: kept.shelf.Used, ArtifactQuota: int64(d.started.Offload.Quota), Writable: kept.keeps,
	}
	if kept.shared != nil {
		g.SharedStore = func() bool { return kept.shared.State() != health.Away }
	}
	return g
}

// settled serves numbers once all that has happened is in them.
type settled struct {
	book *story.Book
	http.Handler
}

func (s settled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.book.Settle()
	s.Handler.ServeHTTP(w, r)
}
