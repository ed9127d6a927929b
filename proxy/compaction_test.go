package proxy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"epitome/dialect/responses"
)

// Who made a compaction is kept without the answer that it came in.
func TestMakersKeepNoAnswers(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	var p Proxy
	for i := range 200 {
		answer := fmt.Sprintf(`{"status":"completed","output":[{"type":"compaction","encrypted_content":"%s%032d"}]}`,
			strings.Repeat("A", 200<<10), i)
		sealed, _ := responses.CompactionsIn([]byte(answer))
		p.makers.put(keyOf(sealed[0]), "host")
	}
	if held := heap() - before; len(p.makers.all) != 200 || held > 10*mb {
		t.Errorf("%d compactions of 200 KB hold %d MB", len(p.makers.all), held>>20)
	}
}
