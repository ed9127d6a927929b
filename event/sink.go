package event

// Sink hears of each event as it happens, from any goroutine. Its methods do not wait: an exchange, or a conversation,
// waits for them.
type Sink interface {
	RecordExchange(e Exchange)
	RecordCompaction(e Compaction)
	RecordWarning(e Warning)
	RecordSummary(e Summary)
}

// Sinks are one Sink: each event goes to all of them, in their order.
type Sinks []Sink

// RecordExchange hands e to all sinks.
func (s Sinks) RecordExchange(e Exchange) {
	for _, sink := range s {
		sink.RecordExchange(e)
	}
}

// RecordCompaction hands e to all sinks.
func (s Sinks) RecordCompaction(e Compaction) {
	for _, sink := range s {
		sink.RecordCompaction(e)
	}
}

// RecordWarning hands e to all sinks.
func (s Sinks) RecordWarning(e Warning) {
	for _, sink := range s {
		sink.RecordWarning(e)
	}
}

// RecordSummary hands e to all sinks.
func (s Sinks) RecordSummary(e Summary) {
	for _, sink := range s {
		sink.RecordSummary(e)
	}
}
