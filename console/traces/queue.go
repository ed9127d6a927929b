package traces

import (
	"context"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	mostWaiting = 2048 // spans
	mostAtOnce  = 512  // spans of one request to the collector
	sendEvery   = 2 * time.Second
	sendTime    = 10 * time.Second
)

// queue takes spans as they end, and hands them to an exporter, some at once.
type queue struct {
	to      *exporter
	spans   chan sdk.ReadOnlySpan
	dropped atomic.Uint64
	ending  chan struct{}
	ended   chan struct{}
}

func newQueue(to *exporter) *queue {
	q := &queue{
		to: to, spans: make(chan sdk.ReadOnlySpan, mostWaiting),
		ending: make(chan struct{}), ended: make(chan struct{}),
	}
	go q.send()
	return q
}

// OnStart does nothing.
func (q *queue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd takes a span, if there is room.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	select {
	case q.spans <- s:
	default:
		q.dropped.Add(1)
	}
}

// ForceFlush does nothing: what waits is sent soon.
func (q *queue) ForceFlush(context.Context) error { return nil }

// Shutdown sends what waits, and ends.
func (q *queue) Shutdown(ctx context.Context) error {
	close(q.ending)
	select {
	case <-q.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send sends spans until the end.
func (q *queue) send() {
	defer close(q.ended)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-q.ending:
			q.sendAll()
			return
		}
		q.sendAll()
	}
}

// sendAll sends what waits now.
func (q *queue) sendAll() {
	for {
		batch := q.take()
		if len(batch) == 0 {
			return
		}
		if err := q.to.export(batch); err != nil {
			q.dropped.Add(uint64(len(batch)))
		}
	}
}

// take takes what waits, at most a batch.
func (q *queue) take() (batch []sdk.ReadOnlySpan) {
	for len(batch) < mostAtOnce {
		select {
		case s := <-q.spans:
			batch = append(batch, s)
		default:
			return batch
		}
	}
	return batch
}
