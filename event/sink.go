package event

// Sink takes events as they happen. Its methods may be called from any goroutine, and return at once: an exchange waits
// for them.
type Sink interface {
	RecordExchange(e Exchange)
	RecordCompaction(e Compaction)
	RecordWarning(e Warning)
	RecordSummary(e Summary)
}
