package pattern

import (
	"sync"
	"testing"
)

func TestGoroutinesShareAPattern(t *testing.T) {
	p := Of(`^(\d+) tokens`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !p.MatchString("12 tokens") || p.Match([]byte("tokens")) {
				t.Error("the pattern matches something else")
			}
		})
	}
	all.Wait()
	if m := p.FindStringSubmatch("12 tokens"); len(m) != 2 || m[1] != "12" {
		t.Errorf("the groups are %q", m)
	}
}

func TestAnExpressionThatCannotBeCompiledPanicsWhenItIsUsed(t *testing.T) {
	p := Of(`(`)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	p.MatchString("x")
}

func TestHintsMissNoMatch(t *testing.T) {
	const begins, holds = `(?i)^(?:exit |<id>)\d`, `(?i)\d by (?:the )?user\b`
	plain := []*Pattern{Of(begins), Of(holds)}
	hinted := []*Pattern{Beginning(begins, "exit", "<"), Holding(holds, " user")}
	for _, s := range []string{"", "exit 1", "EXIT 1", "Exit", "<ID>7", "<", "ex", "éxit 1", "1 by user", "1 BY THE USER",
		"1 by users", "by", "user", "x 3 by user x", " us"} {
		for k := range plain {
			if want, got := plain[k].MatchString(s), hinted[k].MatchString(s); got != want {
				t.Errorf("%q: %v, want %v", s, got, want)
			}
			if want, got := plain[k].FindStringSubmatch(s), hinted[k].FindStringSubmatch(s); len(got) != len(want) {
				t.Errorf("%q: %q, want %q", s, got, want)
			}
		}
	}
	if hinted[1].MayStandIn("it ended 1 by user") != true || hinted[1].MayStandIn("it ended by itself") {
		t.Error("where a match may stand is told by something else than the words")
	}
}
