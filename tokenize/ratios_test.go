package tokenize_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/tokenize"
)

// drawer keeps what it is given, and counts how often.
type drawer struct {
	mu   sync.Mutex
	held map[string][]byte
	puts int
}

func (d *drawer) Get(key string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, found := d.held[key]
	return value, found
}

func (d *drawer) Put(key string, value []byte, _ time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held == nil {
		d.held = map[string][]byte{}
	}
	d.held[key], d.puts = value, d.puts+1
	return nil
}

// key returns the one under which ratios are kept.
func (d *drawer) key(t *testing.T) (key string) {
	t.Helper()
	for key = range d.held {
	}
	if len(d.held) != 1 {
		t.Fatalf("%d values are kept", len(d.held))
	}
	return key
}

func ratios(k tokenize.Keeper) *tokenize.Ratios { return tokenize.NewRatios(k, tokenize.NewModels()) }

// teach has answers say in turn how many tokens their requests of 10,000 had.
func teach(r *tokenize.Ratios, model string, used ...int) {
	for _, n := range used {
		r.Learn(tokenize.Source{Upstream: "up", Model: model}, 10_000, n)
	}
}

func TestRatioIsTheMedianOfSoundAnswers(t *testing.T) {
	f := func(model string, want float64, used ...int) {
		t.Helper()
		r := ratios(nil)
		teach(r, model, used...)
		if got, _ := r.Of(tokenize.Source{Upstream: "up", Model: model}); math.Abs(got-want) > 1e-9 {
			t.Errorf("after %v the ratio of %s is %v, want %v", used, model, got, want)
		}
	}
	f("qwen3", 0)
	f("qwen3", 0, 15_000, 15_000)                                     // too few
	f("qwen3", 1.5, 15_000, 15_000, 15_000)                           // enough
	f("qwen3", 1.5, 15_000, 39_000, 15_000, 15_000, 15_100)           // a liar among them
	f("qwen3", 0.9, 9_000, 9_000, 9_000)                              // fewer than are counted here
	f("qwen3", 0, 6_000, 6_000, 6_000, 6_000)                         // cut, or counted in part
	f("qwen3", 0, 1_000_000_000, 1_000_000_000, 1_000_000_000)        // no model has so many
	f("qwen3", 1.5, 15_000, 0, -15_000, 1_000_000_000, 15_000, 15000) // what cannot be right is left out
	f("qwen3", 2, 15_000, 15_000, 15_000, 15_000, 15_000, 20_000, 20_000, 20_000, 20_000, 20_000)
	f("gpt-4o", 0, 15_000, 15_000, 15_000, 15_000) // whose vocabulary is known
}

func TestSmallRequestsTeachNothing(t *testing.T) {
	r := ratios(nil)
	for range 10 {
		r.Learn(tokenize.Source{Upstream: "up", Model: "qwen3"}, 999, 1_500)
	}
	if ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 0 || answers != 0 {
		t.Errorf("learned %v of %d answers", ratio, answers)
	}
}

// A server that cuts counts about the same of every request that is larger.
func TestRequestsThatMayHaveBeenCutTeachNothing(t *testing.T) {
	r := ratios(nil)
	for counted := 3_000; counted <= 4_000; counted += 200 {
		r.Learn(tokenize.Source{Upstream: "up", Model: "llama3"}, counted, counted)
	}
	for counted := 4_200; counted < 6_000; counted += 100 {
		r.Learn(tokenize.Source{Upstream: "up", Model: "llama3"}, counted, 4_000-counted%300)
	}
	if ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "llama3"}); ratio != 1 || answers != 6 {
		t.Errorf("learned %v of %d answers", ratio, answers)
	}
	r.Forget(tokenize.Source{Upstream: "up", Model: "llama3"})
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: "llama3"}); ratio != 0 {
		t.Errorf("%v is not forgotten", ratio)
	}
}

// One answer that says far too much must not make all honest ones after it look cut.
func TestOneAbsurdAnswerDoesNotEndLearning(t *testing.T) {
	r := ratios(nil)
	r.Learn(tokenize.Source{Upstream: "up", Model: "qwen3"}, 50_000, 200_000)
	for k := range 40 {
		r.Learn(tokenize.Source{Upstream: "up", Model: "qwen3"}, 60_000+k, 72_000+k)
	}
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); math.Abs(ratio-1.2) > .01 {
		t.Errorf("the ratio is %v, want 1.2", ratio)
	}
}

func TestSourcesAreApart(t *testing.T) {
	r := ratios(nil)
	for range 3 {
		r.Learn(tokenize.Source{Upstream: "one", Model: "qwen3"}, 10_000, 13_000)
		r.Learn(tokenize.Source{Upstream: "two", Model: "qwen3"}, 10_000, 12_000)
	}
	one, _ := r.Of(tokenize.Source{Upstream: "one", Model: "qwen3"})
	two, _ := r.Of(tokenize.Source{Upstream: "two", Model: "qwen3"})
	if framed, _ := r.Of(tokenize.Source{Upstream: "one", Model: "qwen3", Dialect: "m"}); framed != 0 {
		t.Errorf("another dialect has %v", framed)
	}
	if other, _ := r.Of(tokenize.Source{Upstream: "one", Model: "glm-5"}); one != 1.3 || two != 1.2 || other != 0 {
		t.Errorf("%v, %v and %v", one, two, other)
	}
}

func TestRatiosAreKeptAndGoOn(t *testing.T) {
	d := &drawer{}
	teach(ratios(d), "qwen3", 15_000, 15_000, 16_000)
	r := ratios(d)
	if ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 1.5 || answers != 3 {
		t.Errorf("after a restart %v of %d answers", ratio, answers)
	}
	teach(r, "qwen3", 16_000, 16_000)
	if ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 1.6 || answers != 5 {
		t.Errorf("then %v of %d answers", ratio, answers)
	}
	r.Forget(tokenize.Source{Upstream: "up", Model: "qwen3"})
	if ratio, _ := ratios(d).Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 0 {
		t.Errorf("what was forgotten comes back as %v", ratio)
	}
}

func TestDamagedRatiosAreLeftOut(t *testing.T) {
	d := &drawer{}
	teach(ratios(d), "qwen3", 15_000, 15_000, 15_000)
	key := d.key(t)
	f := func(value string) {
		t.Helper()
		d.held[key] = []byte(value)
		if ratio, _ := ratios(d).Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 0 {
			t.Errorf("%.100s gives %v", value, ratio)
		}
	}
	f(``)
	f(`{}`)
	f(`[{"upstream":"up","model":"qwen3","ratio":1e9,"answers":3,"recent":[1.5,1.5,1.5]}]`)
	f(`[{"upstream":"up","model":"qwen3","ratio":-1.5,"answers":3,"recent":[1.5,1.5,1.5]}]`)
	f(`[{"upstream":"up","model":"qwen3","ratio":1.5,"answers":3,"recent":[1.5,0,1.5]}]`)
	f(`[{"upstream":"up","model":"qwen3","ratio":1.5,"answers":2,"recent":[1.5,1.5]}]`)
	f(`[{"upstream":"up","model":"qwen3","ratio":1.5,"answers":99,"recent":[` + strings.Repeat("1.5,", 99) + `1.5]}]`)
	d.held[key] = []byte(`[{"upstream":"up","model":"gpt-5","ratio":1.5,"answers":3,"recent":[1.5,1.5,1.5]}]`)
	if ratio, _ := ratios(d).Of(tokenize.Source{Upstream: "up", Model: "gpt-5"}); ratio != 0 {
		t.Errorf("a model whose vocabulary is known has the ratio %v", ratio)
	}
}

func TestNamesThatAreMadeUpFillNoMemory(t *testing.T) {
	d := &drawer{}
	r := ratios(d)
	for k := range 300 {
		teach(r, fmt.Sprint("m", k), 12_000, 12_000, 12_000)
		teach(r, "qwen3", 15_000)
	}
	teach(r, strings.Repeat("x", 300), 12_000, 12_000, 12_000)
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: strings.Repeat("x", 300)}); ratio != 0 {
		t.Error("a name without end is kept")
	}
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: "m0"}); ratio != 0 {
		t.Error("what was taught longest ago is kept")
	}
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 1.5 {
		t.Errorf("what is taught all the time has the ratio %v", ratio)
	}
	if size := len(d.held[d.key(t)]); size > 50_000 {
		t.Errorf("%d bytes are kept", size)
	}
}

// Whatever providers say, a ratio stays within its bounds, and what is kept is what holds.
func TestAnyAnswersKeepRatiosBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, source := &drawer{}, tokenize.Source{Upstream: "up", Model: "qwen3"}
		r := ratios(d)
		for range rapid.IntRange(0, 60).Draw(t, "answers") {
			r.Learn(source, rapid.IntRange(-10, 60_000).Draw(t, "counted"), rapid.Int().Draw(t, "used"))
			r.Learn(source, rapid.IntRange(0, 60_000).Draw(t, "counted"),
				rapid.IntRange(0, 100_000).Draw(t, "used"))
		}
		ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"})
		if (ratio == 0) != (answers == 0) || ratio != 0 && (ratio < 0.3 || ratio > 4) {
			t.Fatalf("%v of %d answers", ratio, answers)
		}
		if again, _ := ratios(d).Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); again != ratio {
			t.Fatalf("%v is kept of %v", again, ratio)
		}
	})
}

// TestSharedRatiosAreEverybodys has two that share a drawer: what one learns the other has after a Refresh, unless it
// knows better, and neither forgets what the other has learned.
func TestSharedRatiosAreEverybodys(t *testing.T) {
	d := &drawer{}
	a, b := ratios(d), ratios(d)
	a.Share()
	b.Share()
	f := func(r *tokenize.Ratios, model string, want float64) {
		t.Helper()
		if got, _ := r.Of(tokenize.Source{Upstream: "up", Model: model}); math.Abs(got-want) > 1e-9 {
			t.Errorf("the ratio of %s is %v, want %v", model, got, want)
		}
	}
	teach(a, "qwen3", 15_000, 15_000, 15_000)
	teach(b, "kimi", 12_000, 12_000, 12_000)
	f(b, "qwen3", 1.5) // kept again with its own
	f(a, "kimi", 0)
	a.Refresh()
	f(a, "kimi", 1.2)
	teach(b, "qwen3", 16_000, 16_000, 16_000, 16_000, 16_000)
	f(a, "qwen3", 1.5)
	a.Refresh()
	f(a, "qwen3", 1.6)
	f(b, "qwen3", 1.6)
}
