package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/rewritetest"
)

// late is a ledger that sees no decision before it has tried to add one, as for a request that is shaped while an equal
// one is.
type late struct {
	*notes
	tried bool
}

func (l *late) Get(key string) ([]byte, uint64, bool) {
	if key[0] == 'd' && !l.tried {
		return nil, 0, false
	}
	return l.notes.Get(key)
}

func (l *late) Add(key string, value []byte) ([]byte, uint64, error) {
	l.tried = l.tried || key[0] == 'd'
	return l.notes.Add(key, value)
}

// longRun asks about a command that said a lot.
func longRun() string {
	result := strings.Repeat(`a line of the log that says little\n`, 3_000)
	return rewritetest.ChatBody(`{"role":"user","content":"u"}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make\"}"}}]}`,
		fmt.Sprintf(`{"role":"tool","tool_call_id":"c","content":"%s"}`, result))
}

// Of two equal requests under other limits the first one's form holds for both, and both say what was done.
func TestSlowerOfTwoEqualRequestsAdoptsTheFormOfTheFirst(t *testing.T) {
	b := newBench(128_000)
	body := longRun()
	first := b.shape(body)
	if first.Report.Action != ActionOffload || !first.Report.Decided {
		t.Fatalf("%+v", first.Report)
	}
	b.restart()
	b.deps.Ledger = &late{notes: b.notes}
	b.limits.OffloadKeep = 300
	second := b.shape(body)
	if string(second.Body) != string(first.Body) || second.Report.Action != ActionOffload || second.Report.Decided ||
		second.Report.Err != nil {
		t.Errorf("%d bytes were sent first, then %d: %+v", len(first.Body), len(second.Body), second.Report)
	}
	judged(t, b, body, second)
}

// What is adopted may be older than the request: what it speaks of may be lost, and is put again.
func TestWhatAnAdoptedFormSpeaksOfIsPutAgain(t *testing.T) {
	b := newBench(128_000)
	body := longRun()
	first := b.shape(body)
	b.restart()
	b.deps.Ledger = &late{notes: b.notes}
	b.cupboard.Clear()
	b.notes.due = true
	// By itself it would leave the result whole.
	b.limits.Offload, b.limits.OffloadReads, b.limits.OffloadShare = 100_000, 100_000, 1
	second := b.shape(body)
	if string(second.Body) != string(first.Body) || first.Report.Action != ActionOffload || second.Report.Err != nil {
		t.Fatalf("%+v, then %+v", first.Report, second.Report)
	}
	judged(t, b, body, second)
}
