package tokenize_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"epitome/tokenize"
)

func TestMemoGivesTheSameCounts(t *testing.T) {
	m := tokenize.NewMemo(64) // so small that it forgets all the time
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				text := []byte(strings.Repeat(fmt.Sprintf("%d words and lines\n", (i*7+g)%90), 1+i%9))
				for _, v := range vocabularies {
					if got, want := m.Count(counter(t, v), text), counter(t, v).Count(text); got != want {
						t.Errorf("%s: %q counts %d from memory, want %d", v, text, got, want)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestKnownTextAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("pools forget under the race detector")
	}
	m, c := tokenize.NewMemo(1000), counter(t, tokenize.O200k)
	text := []byte(strings.Repeat("some tool result\n", 1000))
	m.Count(c, text)
	if n := testing.AllocsPerRun(100, func() { m.Count(c, text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCalibrationLearnsFromSoundAnswersOnly(t *testing.T) {
	f := func(want float64, samples ...[2]int) {
		t.Helper()
		var c tokenize.Calibration
		for _, s := range samples {
			c = c.With(s[0], tokenize.Usage{Prompt: s[1]})
		}
		if math.Abs(c.Ratio-want) > 1e-9 {
			t.Errorf("after %v the ratio is %v, want %v", samples, c.Ratio, want)
		}
	}
	f(0)
	f(0, [2]int{499, 600})                                   // too small
	f(0, [2]int{1000, 0})                                    // no usage
	f(0, [2]int{1000, 3001}, [2]int{10_000, 3000})           // cannot be right
	f(1.5, [2]int{1000, 1500})                               // the first is taken whole
	f(1.4, [2]int{1000, 1500}, [2]int{2000, 2000})           // then a fifth
	f(1.4, [2]int{1000, 1500}, [2]int{2000, 2000}, [2]int{}) // nothing learned, nothing lost
}

func TestUsageCountsCachedTokensInBothConventions(t *testing.T) {
	inside := tokenize.Usage{Prompt: 1000, CacheRead: 800}
	outside := tokenize.Usage{Prompt: 100, CacheRead: 800, CacheWrite: 100, CachedOutside: true}
	if inside.Tokens() != 1000 || outside.Tokens() != 1000 {
		t.Errorf("got %d and %d, want 1000 twice", inside.Tokens(), outside.Tokens())
	}
}

func TestCalibratorKeepsLinesApartAndBounded(t *testing.T) {
	c := tokenize.NewCalibrator(10, nil)
	model := tokenize.NewModels().Of("qwen3")
	a, b := tokenize.Line{Upstream: "one", Model: "qwen3"}, tokenize.Line{Upstream: "two", Model: "qwen3"}
	c.Learn(a, 1000, tokenize.Usage{Prompt: 1300})
	if c.Ratio(a, model) != 1.3 || c.Ratio(b, model) != model.Ratio {
		t.Errorf("ratios %v and %v", c.Ratio(a, model), c.Ratio(b, model))
	}
	kept := tokenize.NewCalibrator(10, c.Snapshot())
	if kept.Ratio(a, model) != 1.3 {
		t.Error("a snapshot lost what was learned")
	}
	damaged := map[tokenize.Line]tokenize.Calibration{a: {Ratio: math.NaN(), Samples: 5}, b: {Ratio: 1e9, Samples: 5}}
	for i := range 50 {
		damaged[tokenize.Line{Model: fmt.Sprint(i)}] = tokenize.Calibration{Ratio: 1.2, Samples: 1}
	}
	mended := tokenize.NewCalibrator(10, damaged)
	if n := len(mended.Snapshot()); n != 10 || mended.Ratio(a, model) != model.Ratio || mended.Ratio(b, model) != model.Ratio {
		t.Errorf("%d lines were taken over, with the ratios %v and %v", n, mended.Ratio(a, model), mended.Ratio(b, model))
	}
	for i := range 100 {
		c.Learn(tokenize.Line{Model: fmt.Sprint(i)}, 1000, tokenize.Usage{Prompt: 1000})
	}
	if n := len(c.Snapshot()); n != 10 {
		t.Errorf("%d lines are kept, want 10", n)
	}
}

func TestEstimateAddsWhatIsNewToWhatIsKnown(t *testing.T) {
	if got := tokenize.Estimate(10_000, 200, 1.25); got != 10_250 {
		t.Errorf("got %d", got)
	}
	if got := tokenize.Estimate(0, 1000, 1.1); got != 1100 {
		t.Errorf("got %d", got)
	}
}
