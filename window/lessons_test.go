package window

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/unit"
)

// drawer keeps one value, with the time of its keep.
type drawer struct {
	mu    sync.Mutex
	value []byte
	keep  time.Duration
	puts  int
	fails bool
}

func (d *drawer) Get(key string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.value, key == lessonsKey && d.value != nil
}

func (d *drawer) Put(key string, value []byte, keep time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails || key != lessonsKey {
		return errors.New("no")
	}
	d.value, d.keep, d.puts = value, keep, d.puts+1
	return nil
}

// watch is a clock that is set by hand.
type watch struct{ at time.Time }

func (w *watch) now() time.Time { return w.at }

// lessonsOn are lessons over the drawer, with their windows and their clock. A model is believed to hold 128,000
// tokens.
func lessonsOn(d *drawer) (*Lessons, *Windows, *watch) {
	clock := &watch{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	l := NewLessons(d, clock.now)
	return l, New(Config{Default: 128_000, Models: map[string]unit.Tokens{"mine*": 64_000}}, l), clock
}

func stated(tokens int) Refusal {
	return Refusal{Cause: Input, Limit: tokens}
}

func TestRefusalsTeach(t *testing.T) {
	f := func(name string, v Refusal, s Sent, want Window) {
		t.Helper()
		l, w, _ := lessonsOn(&drawer{})
		if tokens, ok := l.LearnRefusal("up", name, v, s); ok != (want.Source == Learned) || ok && tokens != want.Tokens {
			t.Errorf("%+v of %+v: learned %d, %v", v, s, tokens, ok)
		}
		if got := w.Of("up", name); got != want {
			t.Errorf("%+v of %+v: the window is %v, want %v", v, s, got, want)
		}
		if got := w.Of("up", name+"x"); got.Source == Learned {
			t.Errorf("another model learns too: %v", got)
		}
		if got := w.Of("other", name); got.Source == Learned {
			t.Errorf("another upstream learns too: %v", got)
		}
	}
	unknown, mine := Window{128_000, Default}, Window{64_000, Configured}
	sent := Sent{Tokens: 60_000, Window: 128_000}
	f("m", stated(32_768), sent, Window{32_768, Learned})
	f("m", Refusal{Cause: Output, Limit: 32_768, Room: 9}, sent, Window{32_768, Learned})
	f("m", Refusal{Cause: Input}, sent, Window{57_000, Learned}) // a little less than what was too much
	f("m", Refusal{Cause: Output, Room: 9}, sent, unknown)       // the input fits
	f("m", Refusal{Cause: Rate, Limit: 32_768}, sent, unknown)
	f("m", Refusal{Cause: Bytes}, sent, unknown)
	f("m", Refusal{Cause: Malformed}, sent, unknown)
	f("m", Refusal{}, sent, unknown)
	f("m", stated(3), sent, unknown)
	f("m", stated(128_000), sent, Window{57_000, Learned}) // by our count, which is too low then
	f("m", stated(20_000_000), Sent{}, unknown)
	f("m", Refusal{Cause: Input}, Sent{Tokens: 900, Window: 128_000}, unknown)
	f("m", Refusal{Cause: Input}, Sent{Tokens: 150_000, Window: 128_000}, unknown)
	f("mine", stated(32_768), Sent{Window: 64_000}, Window{32_768, Learned})
	f("mine", stated(100_000), Sent{Window: 64_000}, mine)
	f(strings.Repeat("m", maxName+1), stated(32_768), sent, unknown)
}

func TestLessonsEndByThemselves(t *testing.T) {
	l, w, clock := lessonsOn(&drawer{})
	want := func(tokens int, source Source) {
		t.Helper()
		if got := w.Of("up", "m"); got != (Window{tokens, source}) {
			t.Errorf("at %v the window is %v, want %d %s", clock.at.Format(time.DateTime), got, tokens, source)
		}
	}
	l.LearnRefusal("up", "m", stated(32_768), Sent{Window: 128_000})
	clock.at = clock.at.Add(23 * time.Hour)
	want(32_768, Learned)
	clock.at = clock.at.Add(time.Hour)
	want(128_000, Default)
	l.LearnRefusal("up", "m", Refusal{Cause: Input}, Sent{Tokens: 60_000, Window: 128_000})
	clock.at = clock.at.Add(59 * time.Minute)
	want(57_000, Learned)
	clock.at = clock.at.Add(time.Minute)
	want(128_000, Default)
	l.LearnCut("up", "m", exactly(4_096), 128_000)
	l.LearnCut("up", "m", exactly(4_096), 128_000)
	want(4_096, Learned)
	clock.at = clock.at.Add(time.Hour)
	want(128_000, Default)
	l.Probe("up", "m", 200_000)
	want(200_000, Probed)
	clock.at = clock.at.Add(24 * time.Hour)
	want(128_000, Default)
}

func TestLargerAnswersTakeLessonsBack(t *testing.T) {
	l, w, _ := lessonsOn(&drawer{})
	want := func(tokens int, source Source) {
		t.Helper()
		if got := w.Of("up", "m"); got != (Window{tokens, source}) {
			t.Errorf("the window is %v, want %d %s", got, tokens, source)
		}
	}
	l.LearnRefusal("up", "m", stated(32_768), Sent{Window: 128_000})
	l.LearnAnswer("up", "m", 32_768, 32_768)
	l.LearnAnswer("other", "m", 100_000, 100_000)
	want(32_768, Learned)
	l.LearnAnswer("up", "m", 32_769, 32_769)
	want(128_000, Default)
	l.Probe("up", "m", 65_536)
	l.LearnRefusal("up", "m", stated(32_768), Sent{Window: 65_536})
	l.LearnAnswer("up", "m", 40_000, 40_000)
	want(65_536, Probed)
	l.LearnAnswer("up", "m", 70_000, 70_000)
	want(128_000, Default)
}

// A window that was guessed by our own count is held against own counts, until an answer tells how many tokens the
// provider counts for one of ours: from then on it is in the provider's.
func TestAGuessIsHeldAgainstItsOwnUnit(t *testing.T) {
	for _, ratio := range []float64{1, 1.2, 1.43, 1.6, 2, 3} {
		l, w, _ := lessonsOn(&drawer{})
		used := func(counted int) int { return int(float64(counted) * ratio) }
		l.LearnRefusal("up", "m", Refusal{Cause: Input}, Sent{Tokens: 40_000, Window: 128_000})
		for _, counted := range []int{800, 20_000, 30_000, 37_000} {
			if refuted := l.LearnAnswer("up", "m", counted, used(counted)); refuted > 0 {
				t.Errorf("at %g an answer to %d tokens takes %d back", ratio, counted, refuted)
			}
		}
		if got := w.Of("up", "m"); got.Source != Learned || got.Tokens > used(38_000) || got.Tokens < used(38_000)-100 {
			t.Errorf("at %g the window is %v, want %d", ratio, got, used(38_000))
		}
		if refuted := l.LearnAnswer("up", "m", 41_000, used(41_000)); refuted == 0 {
			t.Errorf("at %g a larger answer takes nothing back", ratio)
		}
	}
	l, w, _ := lessonsOn(&drawer{})
	l.LearnRefusal("up", "m", Refusal{Cause: Input}, Sent{Tokens: 40_000, Window: 128_000})
	l.LearnAnswer("up", "m", 30_000, 3_000) // which leaves out what was cached
	if got := w.Of("up", "m"); got != (Window{38_000, Learned}) {
		t.Errorf("the window is %v", got)
	}
}

// exactly is a cut to a size that windows have.
func exactly(tokens int) Cut { return Cut{Size: tokens, Used: tokens, Exact: true} }

// A vocabulary that makes half as many tokens of everything is no server that cuts, however small the requests are.
func TestASparseVocabularyIsNoCut(t *testing.T) {
	f := func(learned int, answers ...[2]int) { // used, counted
		t.Helper()
		l, w, _ := lessonsOn(&drawer{})
		for _, a := range answers {
			cut, ok := Truncated(a[0], a[1], 128_000)
			if !ok {
				t.Fatalf("%v seems whole", a)
			}
			l.LearnCut("up", "m", cut, 128_000)
		}
		if got := w.Of("up", "m"); got.Source == Learned != (learned > 0) || learned > 0 && got.Tokens != learned {
			t.Errorf("after %v the window is %v, want %d", answers, got, learned)
		}
	}
	f(0, [2]int{2_300, 4_200}, [2]int{3_300, 6_000}, [2]int{4_000, 7_200})
	f(0, [2]int{2_300, 4_200}, [2]int{2_300, 4_200}, [2]int{2_300, 4_200}) // the same again shows nothing
	f(0, [2]int{2_300, 4_200}, [2]int{2_100, 4_100}, [2]int{4_050, 8_000})
	f(4_096, [2]int{2_300, 4_200}, [2]int{2_350, 6_000})
	f(4_096, [2]int{3_900, 7_000}, [2]int{3_950, 7_800}, [2]int{3_700, 9_000})
	f(2_048, [2]int{2_048, 9_000}, [2]int{2_048, 9_000}) // no chance meets it twice
}

// One answer that counts too few tokens is a suspicion, which a larger answer ends.
func TestOneCutIsASuspicion(t *testing.T) {
	l, w, _ := lessonsOn(&drawer{})
	cut := func(tokens int, want bool) {
		t.Helper()
		if got := l.LearnCut("up", "m", exactly(tokens), 32_000); got != want {
			t.Errorf("a cut to %d is learned: %v", tokens, got)
		}
	}
	answer := func(tokens, want int) {
		t.Helper()
		if got := l.LearnAnswer("up", "m", tokens, tokens); got != want {
			t.Errorf("an answer to %d tokens takes %d back, want %d", tokens, got, want)
		}
	}
	cut(4_096, false)
	cut(8_192, false) // another size
	answer(3_000, 0)
	answer(9_000, 8_192)
	answer(10_000, 0) // once is enough
	cut(8_192, false)
	cut(8_192, false) // more was answered, so the count leaves something out
	answer(9_500, 8_192)
	cut(16_384, false)
	cut(16_384, true)
	if got := w.Of("up", "m"); got != (Window{16_384, Learned}) {
		t.Errorf("the window is %v", got)
	}
	answer(17_000, 16_384)
	if got := w.Of("up", "m"); got.Source != Default {
		t.Errorf("the window is still %v", got)
	}
}

func TestServersTellTheirWindow(t *testing.T) {
	l, w, _ := lessonsOn(&drawer{})
	f := func(model string, probe, tokens int, source Source) {
		t.Helper()
		l.Probe("up", model, probe)
		if got := w.Of("up", model); got != (Window{tokens, source}) {
			t.Errorf("%s, probed as %d, is %v, want %d %s", model, probe, got, tokens, source)
		}
	}
	f("m", 32_768, 32_768, Probed)
	f("m", 262_144, 262_144, Probed) // it knows better than a default
	f("m", 5, 262_144, Probed)       // no window
	f("m", 0, 128_000, Default)
	f("gpt-4o", 16_384, 16_384, Probed)
	f("mine", 32_768, 32_768, Probed)
	f("mine", 262_144, 64_000, Configured)
	l.LearnRefusal("up", "m", stated(8_192), Sent{})
	f("m", 32_768, 8_192, Learned)
}

func TestLessonsOutliveTheProcess(t *testing.T) {
	d := &drawer{}
	l, _, clock := lessonsOn(d)
	l.LearnRefusal("up", "a", stated(32_768), Sent{Window: 128_000})
	l.LearnRefusal("up", "b", Refusal{Cause: Input}, Sent{Tokens: 20_000, Window: 128_000})
	l.Probe("up", "b", 65_536)
	if d.keep != keepStated {
		t.Errorf("they are kept for %v", d.keep)
	}
	next := func() *Windows {
		return New(Config{Default: 128_000}, NewLessons(d, clock.now))
	}
	if a, b := next().Of("up", "a"), next().Of("up", "b"); a != (Window{32_768, Learned}) ||
		b != (Window{19_000, Learned}) {
		t.Errorf("after a restart: %v, %v", a, b)
	}
	clock.at = clock.at.Add(2 * time.Hour)
	if a, b := next().Of("up", "a"), next().Of("up", "b"); a != (Window{32_768, Learned}) || b != (Window{65_536, Probed}) {
		t.Errorf("after a restart two hours later: %v, %v", a, b)
	}
	clock.at = clock.at.Add(-100 * time.Hour)
	if a := next().Of("up", "a"); a.Source != Default {
		t.Errorf("by a clock that was set back they hold for days: %v", a)
	}
	for _, damage := range []string{"", "x", "{}", `[{"upstream":"up","model":"a","tokens":5,"until":"2026-11-20T13:00:00Z"}]`, `[{"tokens":"x"}]`} {
		d.value = []byte(damage)
		if a := next().Of("up", "a"); a.Source != Default {
			t.Errorf("%q is believed: %v", damage, a)
		}
	}
	d.fails = true
	if _, ok := l.LearnRefusal("up", "c", stated(32_768), Sent{Window: 128_000}); !ok {
		t.Error("what is not kept is not learned")
	}
	memory := NewLessons(nil, clock.now)
	if memory.Probe("up", "m", 32_768); New(Config{Default: 1_024}, memory).Of("up", "m").Source != Probed {
		t.Error("without a keeper nothing is learned")
	}
}

func TestWhatServersSaidIsForgottenWithThem(t *testing.T) {
	d := &drawer{}
	l, w, clock := lessonsOn(d)
	for _, up := range []string{"up", "gone"} {
		l.Probe(up, "m", 65_536)
		l.Probe(up, "n", 65_536)
		l.LearnRefusal(up, "m", stated(32_768), Sent{Window: 65_536})
	}
	l.Probe("up", "n", 0)
	puts := d.puts
	l.Unprobe(func(upstream string) bool { return upstream == "up" })
	l.Unprobe(func(upstream string) bool { return upstream == "up" })
	if d.puts != puts+1 {
		t.Errorf("it was kept %d times", d.puts-puts)
	}
	for range 2 {
		for _, up := range []string{"up", "gone"} {
			l.LearnAnswer(up, "m", 40_000, 40_000) // no refusal stands any more
			if got := w.Of(up, "m"); got.Source == Probed != (up == "up") {
				t.Errorf("%s: got %v", up, got)
			}
			if got := w.Of(up, "n"); got.Source != Default {
				t.Errorf("%s: got %v", up, got)
			}
		}
		l = NewLessons(d, clock.now)
		w = New(Config{Default: 128_000}, l)
	}
}

func TestLearnedWindowsAreNeverAboveWhatIsConfigured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, w, clock := lessonsOn(&drawer{})
		tokens := rapid.IntRange(-1, 300_000)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			n := tokens.Draw(t, "tokens")
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				l.LearnRefusal("up", "mine", stated(n), Sent{Tokens: n, Window: w.Of("up", "mine").Tokens})
			case 1:
				l.LearnRefusal("up", "mine", Refusal{Cause: Input}, Sent{Tokens: n})
			case 2:
				l.Probe("up", "mine", n)
			case 3:
				l.LearnAnswer("up", "mine", n, n)
				if got := w.Of("up", "mine"); got.Source != Configured && got.Tokens < n {
					t.Fatalf("%d tokens were answered, and the window is %v", n, got)
				}
			case 4:
				clock.at = clock.at.Add(time.Duration(n) * time.Second)
			}
			if got := w.Of("up", "mine"); got.Tokens > 64_000 || got.Tokens < Least ||
				got.Tokens == 64_000 && got.Source == Learned {
				t.Fatalf("the window is %v", got)
			}
		}
	})
}

// TestSharedLessonsAreEverybodys has two that share a drawer: what one learns or takes back, the other has after a
// Refresh, and neither forgets what the other has learned.
func TestSharedLessonsAreEverybodys(t *testing.T) {
	d := &drawer{}
	a, as, _ := lessonsOn(d)
	b, bs, _ := lessonsOn(d)
	a.Share()
	b.Share()
	f := func(w *Windows, model string, want int) {
		t.Helper()
		if got := w.Of("up", model).Tokens; got != want {
			t.Errorf("%s holds %d tokens, want %d", model, got, want)
		}
	}
	a.LearnRefusal("up", "one", stated(20_000), Sent{Tokens: 30_000, Window: 128_000})
	b.LearnRefusal("up", "two", stated(40_000), Sent{Tokens: 50_000, Window: 128_000})
	f(bs, "one", 20_000) // learned on top of what was kept
	f(as, "two", 128_000)
	a.Refresh()
	f(as, "two", 40_000)
	if refuted := b.LearnAnswer("up", "one", 25_000, 25_000); refuted != 20_000 {
		t.Errorf("%d tokens were refuted", refuted)
	}
	f(as, "one", 20_000)
	a.Refresh()
	f(as, "one", 128_000)
	f(as, "two", 40_000)
	d.value = nil // it is not known what is kept
	a.Refresh()
	f(as, "two", 40_000)
}
