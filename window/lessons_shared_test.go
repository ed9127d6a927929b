package window

import (
	"testing"

	"epitome/window/overflow"
)

// Two epitomes learn of two models at the same moment.
func TestLessonsLearnedAtTheSameMomentAreBothKept(t *testing.T) {
	d := &drawer{}
	one, _, clock := lessonsOn(d)
	other := NewLessons(d, clock.now)
	one.Share()
	other.Share()
	d.meanwhile = func() { other.LearnRefusal("u", "theirs", stated(20_000), overflow.Sent{}) }
	one.LearnRefusal("u", "ours", stated(30_000), overflow.Sent{})
	late := NewLessons(d, clock.now)
	for model, want := range map[string]int{"ours": 30_000, "theirs": 20_000} {
		if got, _ := late.current(question{"u", model}); got != want {
			t.Errorf("%s: %d tokens are known, want %d", model, got, want)
		}
	}
}
