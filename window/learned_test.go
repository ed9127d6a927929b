package window

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/internal/unit"
	"epitome/store"
)

// watch is a clock that is set by hand.
type watch struct{ at time.Time }

func (w *watch) now() time.Time { return w.at }

// learning are windows that learn into a store, with its clock. A model is believed to hold 128,000 tokens.
func learning() (*Windows, *watch) {
	clock := &watch{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	return windowsOn(store.NewMemory(1<<20), clock), clock
}

func windowsOn(s store.Store, clock *watch) *Windows {
	c := Config{Default: 128_000, Models: map[string]unit.Tokens{"mine*": 64_000}}
	w := New(c, s, clock.now)
	w.Configure(c, map[string]bool{"up": true})
	return w
}

// learnProbe has the server of a model say what it holds.
func learnProbe(w *Windows, model string, tokens int) {
	w.of("up", model).probed = lesson{Tokens: tokens, Until: w.now().Add(keepProbed)}
}

func stated(tokens int) Refusal {
	return Refusal{Cause: Input, Limit: tokens}
}

func TestRefusalsTeach(t *testing.T) {
	f := func(name string, v Refusal, s Sent, want Window) {
		t.Helper()
		w, _ := learning()
		learned := w.LearnRefusal("up", name, v, s)
		if (learned > 0) != (want.Source == Learned) || learned > 0 && learned != want.Tokens {
			t.Errorf("%+v of %+v: learned %d", v, s, learned)
		}
		if got := w.Of("up", name); got.Tokens != want.Tokens || got.Source != want.Source ||
			got.Until.IsZero() != (want.Source != Learned) {
			t.Errorf("%+v of %+v: the window is %v, want %v", v, s, got, want)
		}
		if got := w.Of("up", name+"x"); got.Source == Learned {
			t.Errorf("another model learns too: %v", got)
		}
		if got := w.Of("other", name); got.Source == Learned {
			t.Errorf("another upstream learns too: %v", got)
		}
	}
	unknown, mine := Window{Tokens: 128_000, Source: Default}, Window{Tokens: 64_000, Source: Configured}
	sent := Sent{Tokens: 60_000, Window: 128_000}
	f("m", stated(32_768), sent, Window{Tokens: 32_768, Source: Learned})
	f("m", Refusal{Cause: Output, Limit: 32_768, Room: 9}, sent, Window{Tokens: 32_768, Source: Learned})
	f("m", Refusal{Cause: Input}, sent, Window{Tokens: 57_000, Source: Learned}) // a little less than what was too much
	f("m", Refusal{Cause: Output, Room: 9}, sent, unknown)                       // the input fits
	f("m", Refusal{Cause: Rate}, sent, unknown)
	f("m", Refusal{}, sent, unknown)
	f("m", Refusal{Cause: Input, Limit: 4_096, Requested: 9_000}, sent, unknown) // it quotes another request
	f("m", stated(128_000), sent, Window{Tokens: 57_000, Source: Learned})       // by our count, which is too low then
	f("m", stated(20_000_000), Sent{}, unknown)
	f("mine", stated(32_768), Sent{Window: 64_000}, Window{Tokens: 32_768, Source: Learned})
	f("mine", stated(100_000), Sent{Window: 64_000}, mine)
}

func TestLessonsEndByThemselves(t *testing.T) {
	w, clock := learning()
	w.LearnRefusal("up", "m", stated(32_768), Sent{Window: 128_000})
	clock.at = clock.at.Add(23 * time.Hour)
	w.want(t, "m", 32_768, Learned)
	clock.at = clock.at.Add(time.Hour)
	w.want(t, "m", 128_000, Default)
	w.LearnRefusal("up", "m", Refusal{Cause: Input}, Sent{Tokens: 60_000, Window: 128_000})
	clock.at = clock.at.Add(59 * time.Minute)
	w.want(t, "m", 57_000, Learned)
	clock.at = clock.at.Add(time.Minute)
	w.want(t, "m", 128_000, Default)
	learnProbe(w, "m", 200_000)
	w.want(t, "m", 200_000, Probed)
	clock.at = clock.at.Add(2 * time.Hour)
	w.want(t, "m", 128_000, Default)
}

func TestLargerAnswersTakeLessonsBack(t *testing.T) {
	w, _ := learning()
	w.LearnRefusal("up", "m", stated(32_768), Sent{Window: 128_000})
	w.LearnAnswer("up", "m", 32_768, 32_768)
	w.LearnAnswer("other", "m", 100_000, 100_000)
	w.want(t, "m", 32_768, Learned)
	w.LearnAnswer("up", "m", 32_769, 32_769)
	w.want(t, "m", 128_000, Default)
	learnProbe(w, "m", 65_536)
	w.LearnRefusal("up", "m", stated(32_768), Sent{Window: 65_536})
	w.LearnAnswer("up", "m", 40_000, 40_000)
	w.want(t, "m", 65_536, Probed)
	w.LearnAnswer("up", "m", 70_000, 70_000)
	w.want(t, "m", 128_000, Default)
}

// A window that only our count tells is not below what the provider counted of a request that it answered.
func TestGuessedWindowsHoldWhatWasAnswered(t *testing.T) {
	w, _ := learning()
	f := func(r Refusal, counted, want int) {
		t.Helper()
		w.LearnRefusal("up", "m", r, Sent{Tokens: counted, Window: w.Of("up", "m").Tokens})
		if got := w.Of("up", "m").Tokens; got != want {
			t.Errorf("after %+v of %d tokens the window is %d, want %d", r, counted, got, want)
		}
	}
	w.LearnAnswer("up", "m", 7_000, 90_000)
	w.LearnAnswer("up", "m", 6_000, 50_000)
	f(Refusal{Cause: Input}, 8_000, 90_000)
	f(Refusal{Cause: Input}, 60_000, 57_000) // again: the server holds less than before
	w.LearnAnswer("up", "m", 6_000, 50_000)
	f(Refusal{Cause: Input}, 8_000, 50_000)
	f(stated(32_768), 8_000, 32_768) // by its own words
}

// What one process learns or takes back, another over the same store knows some seconds later.
func TestSharedLessonsAreEverybodys(t *testing.T) {
	clock := &watch{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	kept := store.NewMemory(1 << 20)
	a, b := windowsOn(kept, clock), windowsOn(kept, clock)
	b.want(t, "one", 128_000, Default)
	a.LearnRefusal("up", "one", stated(20_000), Sent{Tokens: 30_000, Window: 128_000})
	b.LearnRefusal("up", "two", stated(40_000), Sent{Tokens: 50_000, Window: 128_000})
	clock.at = clock.at.Add(readEvery)
	b.want(t, "one", 20_000, Learned)
	a.want(t, "two", 40_000, Learned)
	b.LearnAnswer("up", "one", 25_000, 25_000)
	clock.at = clock.at.Add(readEvery)
	a.want(t, "one", 128_000, Default)
}

func TestLearnedWindowsAreNeverAboveWhatIsConfigured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, clock := learning()
		tokens := rapid.IntRange(-1, 300_000)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			n := tokens.Draw(t, "tokens")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				w.LearnRefusal("up", "mine", stated(n), Sent{Tokens: n, Window: w.Of("up", "mine").Tokens})
			case 1:
				w.LearnRefusal("up", "mine", Refusal{Cause: Input}, Sent{Tokens: n})
			case 2:
				learnProbe(w, "mine", n)
			case 3:
				w.LearnAnswer("up", "mine", n, n)
				if got := w.Of("up", "mine"); got.Source != Configured && got.Tokens < n {
					t.Fatalf("%d tokens were answered, and the window is %v", n, got)
				}
			case 4:
				w.LearnAnswer("up", "mine", tokens.Draw(t, "counted"), n)
			case 5:
				clock.at = clock.at.Add(time.Duration(n) * time.Second)
			}
			if got := w.Of("up", "mine"); got.Tokens > 64_000 || got.Tokens < Least ||
				got.Tokens == 64_000 && got.Source == Learned {
				t.Fatalf("the window is %v", got)
			}
		}
	})
}
