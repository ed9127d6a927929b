package replay

import (
	"strings"
	"testing"
	"time"
)

func TestProgressIsALineOrABar(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	var out strings.Builder
	p := newProgress(Options{Progress: &out}, 3, clock)
	p.did("a.json")
	p.end()
	if got := out.String(); got != "bench: 1 of 3, a.json\n" {
		t.Errorf("%q", got)
	}

	out.Reset()
	p = newProgress(Options{Progress: &out}, 2738, clock)
	for range 2738 {
		p.did("x")
	}
	if got := out.String(); strings.Count(got, "\n") != 100 || !strings.HasSuffix(got, "bench: 2738 of 2738, x\n") {
		t.Errorf("%q", got)
	}

	out.Reset()
	p = newProgress(Options{Progress: &out, Live: true}, 3, clock)
	now = now.Add(90 * time.Second)
	p.did("a.json")
	p.did("b.json")
	p.did("c.json")
	p.end()
	lines := strings.Split(out.String(), "\r")
	want := []string{"", "bench: [........................] 0 of 3 conversations",
		"bench: [########................] 1 of 3 conversations, 3m0s left",
		"bench: [################........] 2 of 3 conversations, 45s left",
		"bench: [########################] 3 of 3 conversations", "", ""}
	for i, line := range lines {
		if i >= len(want) || strings.TrimRight(line, " ") != want[i] || len(line) != liveColumns && i > 0 &&
			i < len(lines)-1 {
			t.Errorf("line %d is %q", i, line)
		}
	}

	out.Reset()
	p = newProgress(Options{Progress: &out, Live: true}, 0, clock)
	p.end()
	if out.Len() > 0 {
		t.Errorf("nothing is to be told, but %q", out.String())
	}
}
