package daemon

import (
	"time"

	"epitome/store"
)

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
		m.Gauge("artifact_bytes", "Bytes of artifacts.", func() float64 { return float64(d.shelf.Used()) })
		m.Gauge("artifact_quota_bytes", "Bytes that artifacts may take.",
			func() float64 { return float64(d.started.Offload.Quota) })
	}
	m.Gauge("artifacts_writable", "1 while artifacts can be stored, 0 on a full disk or without the bucket.",
		func() float64 { return oneIf(d.service.Keeps()) })
	if shared, ok := d.store.(*store.Redis); ok {
		m.Gauge("shared_store_up", "1 while the shared store answers and takes writes.", func() float64 {
			state := shared.State()
			return oneIf(state != store.Away && state != store.Refuses)
		})
	}
	m.Gauge("shaping_in_flight", "Conversations that are shaped, or wait for it.",
		func() float64 { return float64(d.places.InFlight.Load()) })
	m.Counter("shaping_waited_seconds_total", "Time that large conversations waited until they were shaped.",
		func() float64 { return time.Duration(d.places.Waited.Load()).Seconds() })
	m.Counter("shaping_budget_spent_total", "Conversations that have waited so long that code alone shortened them, or "+
		"nothing new was decided.", func() float64 { return float64(d.places.Spent.Load()) })
	m.Gauge("reload_failed", "1 if the last reload of the configuration has failed.",
		func() float64 { return oneIf(d.reloadFailed.Load()) })
}
