package tokenize_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/store"
	"epitome/tokenize"
)

func ratios(s store.Store) *tokenize.Ratios {
	return tokenize.NewRatios(s, tokenize.NewModels(), func() time.Time { return at })
}

// at is what the clocks of all ratios say.
var at = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func kept() store.Store { return store.NewMemory(1 << 20) }

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
	d := kept()
	teach(ratios(d), "qwen3", 15_000, 15_000, 16_000)
	r := ratios(d)
	if ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 1.5 || answers != 3 {
		t.Errorf("after a restart %v of %d answers", ratio, answers)
	}
	teach(r, "qwen3", 16_000, 16_000)
	if ratio, answers := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 1.6 || answers != 5 {
		t.Errorf("then %v of %d answers", ratio, answers)
	}
}

func TestDamagedRatiosAreLeftOut(t *testing.T) {
	d := kept()
	teach(ratios(d), "qwen3", 15_000, 15_000, 15_000)
	f := func(value string) {
		t.Helper()
		if err := d.Put("ratio/up\x00qwen3\x00", []byte(value), time.Hour); err != nil {
			t.Fatal(err)
		}
		if ratio, _ := ratios(d).Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 0 {
			t.Errorf("%.100s gives %v", value, ratio)
		}
	}
	f(`{}`)
	f(`{"ratio":1e9,"answers":3,"recent":[1.5,1.5,1.5]}`)
	f(`{"ratio":-1.5,"answers":3,"recent":[1.5,1.5,1.5]}`)
	f(`{"ratio":1.5,"answers":3,"recent":[1.5,0,1.5]}`)
	f(`{"ratio":1.5,"answers":2,"recent":[1.5,1.5]}`)
	f(`{"ratio":1.5,"answers":99,"recent":[` + strings.Repeat("1.5,", 99) + `1.5]}`)
	_ = d.Put("ratio/up\x00gpt-5\x00", []byte(`{"ratio":1.5,"answers":3,"recent":[1.5,1.5,1.5]}`), time.Hour)
	if ratio, _ := ratios(d).Of(tokenize.Source{Upstream: "up", Model: "gpt-5"}); ratio != 0 {
		t.Errorf("a model whose vocabulary is known has the ratio %v", ratio)
	}
}

func TestNamesThatAreMadeUpFillNoMemory(t *testing.T) {
	d := kept()
	r := ratios(d)
	for k := range 300 {
		teach(r, fmt.Sprint("m", k), 12_000, 12_000, 12_000)
		teach(r, "qwen3", 15_000)
	}
	teach(r, strings.Repeat("x", 300), 12_000, 12_000, 12_000)
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: strings.Repeat("x", 300)}); ratio != 0 {
		t.Error("a name without end is kept")
	}
	if ratio, _ := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); ratio != 1.5 {
		t.Errorf("what is taught all the time has the ratio %v", ratio)
	}
}

// Whatever providers say, a ratio stays within its bounds, and what is kept is what holds.
func TestAnyAnswersKeepRatiosBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, source := kept(), tokenize.Source{Upstream: "up", Model: "qwen3"}
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

// What one process learns, another over the same store knows some seconds later, unless it knows better.
func TestSharedRatiosAreEverybodys(t *testing.T) {
	d := kept()
	a, b := ratios(d), ratios(d)
	f := func(r *tokenize.Ratios, want float64) {
		t.Helper()
		if got, _ := r.Of(tokenize.Source{Upstream: "up", Model: "qwen3"}); math.Abs(got-want) > 1e-9 {
			t.Errorf("the ratio is %v, want %v", got, want)
		}
	}
	teach(b, "qwen3", 17_000)
	teach(a, "qwen3", 15_000, 15_000, 15_000)
	f(b, 0)
	at = at.Add(5 * time.Second)
	f(b, 1.5)
	f(a, 1.5)
	teach(b, "qwen3", 16_000, 16_000, 16_000, 16_000, 16_000)
	f(a, 1.5)
	at = at.Add(5 * time.Second)
	f(a, 1.6)
	f(b, 1.6)
}
