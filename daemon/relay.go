package daemon

import (
	"sync/atomic"
	"time"

	"epitome/event"
)

// relay forwards the steps of compactions and summaries to a sink once there is one: what shapes conversations is
// made before that. Earlier events are dropped. The zero value is ready, and must not be copied.
type relay struct {
	sink atomic.Pointer[event.Sink]
}

// connect says which sink hears the events from now on.
func (r *relay) connect(s event.Sink) { r.sink.Store(&s) }

// RecordCompaction forwards a step of a compaction, and sets its time.
func (r *relay) RecordCompaction(e event.Compaction) {
	if s := r.sink.Load(); s != nil {
		e.Time = time.Now()
		(*s).RecordCompaction(e)
	}
}

// RecordWarning forwards a warning about a conversation, and sets its time.
func (r *relay) RecordWarning(e event.Warning) {
	if s := r.sink.Load(); s != nil {
		e.Time = time.Now()
		(*s).RecordWarning(e)
	}
}

// RecordSummary forwards a step of a job that asks a model, which has its time.
func (r *relay) RecordSummary(e event.Summary) {
	if s := r.sink.Load(); s != nil {
		(*s).RecordSummary(e)
	}
}
