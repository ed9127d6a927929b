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

// Of two equal requests under other limits the first one's form holds for both, and both say what was done.
func TestSlowerOfTwoEqualRequestsAdoptsTheFormOfTheFirst(t *testing.T) {
	b := newBench(128_000)
	result := strings.Repeat(`a line of the log that says little\n`, 3_000)
	body := rewritetest.ChatBody(`{"role":"user","content":"u"}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make\"}"}}]}`,
		fmt.Sprintf(`{"role":"tool","tool_call_id":"c","content":"%s"}`, result))
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
