package tokenize_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"epitome/store"
	"epitome/tokenize"
)

func kept() store.Store { return store.NewMemory(1 << 20) }

// sourceOf is a model at the upstream of these tests.
func sourceOf(model string) tokenize.Source { return tokenize.Source{Upstream: "up", Model: model} }

// teach has answers say in turn how many tokens their requests of 10,000 had.
func teach(r *tokenize.Ratios, model string, used ...int) {
	for _, n := range used {
		r.Learn(sourceOf(model), 10_000, n)
	}
}

func TestRatioIsTheMedianOfSoundAnswers(t *testing.T) {
	f := func(model string, want float64, used ...int) {
		t.Helper()
		r := tokenize.NewRatios(kept())
		teach(r, model, used...)
		if got, _ := r.Of(sourceOf(model)); math.Abs(got-want) > 1e-9 {
			t.Errorf("after %v the ratio of %s is %v, want %v", used, model, got, want)
		}
	}
	f("qwen3", 0)
	f("qwen3", 0, 15_000, 15_000)                                     // too few
	f("qwen3", 1.5, 15_000, 15_000, 15_000)                           // enough
	f("qwen3", 1.5, 15_000, 39_000, 15_000, 15_000, 15_100)           // a liar among them
	f("qwen3", 1.5, 15_000, 0, -15_000, 1_000_000_000, 15_000, 15000) // what cannot be right is left out
	f("qwen3", 2, 15_000, 15_000, 15_000, 15_000, 15_000, 20_000, 20_000, 20_000, 20_000, 20_000)
	f("qwen3", 4, 60_000, 60_000, 60_000) // the nearest that is believed
}

// The ratio of a model whose vocabulary is known is one conversation's, and none where the answers agree with the count.
func TestExactCountsMoveWhereAnswersSayOtherwise(t *testing.T) {
	r := tokenize.NewRatios(kept())
	f := func(start string, want float64, used int) {
		t.Helper()
		source := tokenize.Source{Upstream: "up", Model: "gpt-5", Start: start}
		for range 3 {
			r.Learn(source, 10_000, used)
		}
		if got, _ := r.Of(source); got != want {
			t.Errorf("after %d of 10,000 the ratio is %v, want %v", used, got, want)
		}
	}
	f("a", 0, 10_400)
	f("b", 1.5, 15_000)
	f("c", .8, 8_000)
	f("d", 0, 2_000) // the server has cut the request
	if got, _ := r.Of(tokenize.Source{Upstream: "up", Model: "gpt-5", Start: "e"}); got != 0 {
		t.Errorf("a conversation without answers has the ratio %v", got)
	}
}

func TestRatiosAreKeptAndGoOn(t *testing.T) {
	d := kept()
	teach(tokenize.NewRatios(d), "qwen3", 15_000, 15_000, 16_000)
	r := tokenize.NewRatios(d)
	if ratio, answers := r.Of(sourceOf("qwen3")); ratio != 1.5 || answers != 3 {
		t.Errorf("after a restart %v of %d answers", ratio, answers)
	}
	teach(r, "qwen3", 16_000, 16_000)
	if ratio, answers := r.Of(sourceOf("qwen3")); ratio != 1.6 || answers != 5 {
		t.Errorf("then %v of %d answers", ratio, answers)
	}
}

// Whatever providers say, a ratio stays within its bounds, and what is kept is what holds.
func TestAnyAnswersKeepRatiosBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, source := kept(), sourceOf("qwen3")
		r := tokenize.NewRatios(d)
		for range rapid.IntRange(0, 60).Draw(t, "answers") {
			r.Learn(source, rapid.IntRange(-10, 60_000).Draw(t, "counted"), rapid.Int().Draw(t, "used"))
			r.Learn(source, rapid.IntRange(0, 60_000).Draw(t, "counted"),
				rapid.IntRange(0, 100_000).Draw(t, "used"))
		}
		ratio, answers := r.Of(sourceOf("qwen3"))
		if (ratio == 0) != (answers == 0) || ratio != 0 && (ratio < 0.3 || ratio > 4) {
			t.Fatalf("%v of %d answers", ratio, answers)
		}
		if again, _ := tokenize.NewRatios(d).Of(sourceOf("qwen3")); again != ratio {
			t.Fatalf("%v is kept of %v", again, ratio)
		}
	})
}
