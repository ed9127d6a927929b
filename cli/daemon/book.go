package daemon

import (
	"math"
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
		Sinks: []event.Sink{counts, console.NewLog(d.log)}, Now: time.Now,
		Mode: func() string { return d.config.Load().Mode }, State: kept.troubles, Prices: d.prices,
		Bill:   func(e *event.Exchange, pause time.Duration) { d.shapers.prices.Load().Bill(e, pause) },
		Charge: func(s *event.Summary) event.Charge { return d.shapers.prices.Load().Charge(s) }, Life: d.cacheLife,
	}
	if !kept.passing { // else another epitome may hold the folder
		c.Folder = filepath.Join(folder, EventFolder)
	}
	if endpoint := d.started.Otel.Endpoint; endpoint != "" {
		traces, err := console.NewTraces(endpoint, Version(), d.log)
		if err != nil {
			return nil, err
		}
		d.traces, c.Sinks = traces, append(c.Sinks, traces)
	}
	return story.New(c), nil
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

// addGauges adds to the metrics what no event tells.
func (d *Daemon) addGauges(m *console.Metrics, kept *storage) {
	isOne := func(is bool) float64 { return map[bool]float64{true: 1}[is] }
	m.Gauge("exchanges_in_flight", "Exchanges under way.", func() float64 { return float64(d.proxy.InFlight()) })
	m.Gauge("live_conversations", "Conversations with an exchange in the last ten minutes.",
		func() float64 { return float64(d.book.CountLive()) })
	m.Gauge("artifact_bytes", "Bytes of artifacts.", func() float64 { return float64(kept.shelf.Used()) })
	m.Gauge("artifact_quota_bytes", "Bytes that artifacts may take.",
		func() float64 { return float64(d.started.Offload.Quota) })
	m.Gauge("artifacts_writable", "1 while artifacts can be stored, 0 on a full disk or without the bucket.",
		func() float64 { return isOne(kept.keeps()) })
	if kept.shared != nil {
		m.Gauge("shared_store_up", "1 while the shared store answers.",
			func() float64 { return isOne(kept.shared.State() != health.Away) })
	}
}
