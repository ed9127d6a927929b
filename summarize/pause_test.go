package summarize

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"epitome/dialect/answer"
	"epitome/event"
)

// talk is a conversation of a turn every 20 seconds. Each sixth one is compacted; its question may be prepared in the
// turn before.
type talk struct {
	*rig
	prepares    bool
	turns       int
	compactions int
	summed      int // compactions with a model's words
	waits       int // compactions that waited for longer than a job pauses
}

func (k *talk) turn() {
	time.Sleep(20 * time.Second)
	k.turns++
	q := question(fmt.Sprint("span ", (k.turns+5)/6))
	q.Conversation = "one"
	switch k.turns % 6 {
	case 5:
		if k.prepares {
			k.Prepare(q)
		}
	case 0:
		begun := time.Now()
		_, err := k.Ask(k.t.Context(), q)
		k.compactions++
		if err == nil {
			k.summed++
		}
		if time.Since(begun) > 10*time.Second {
			k.waits++
		}
	}
}

func (r *rig) pauses() (n int) {
	for _, e := range r.told() {
		if e.Kind == event.SummaryPaused {
			n++
		}
	}
	return n
}

// Whatever a model does in place of answering, a conversation waits for it once, and asks it two questions in vain; then
// code alone writes the summaries of the next five compactions, and one event says so. Other conversations ask it, and
// once it answers, so does this one.
func TestFailingModelIsPaused(t *testing.T) {
	cut := says(answer.Answer{Text: good("a")[:40], Cut: true})
	mixed := func(ctx context.Context, s sent) (int, []byte, error) {
		kinds := []step{raw(500, "oops"), text(""), cut}
		return kinds[len(s.Ask)%len(kinds)](ctx, s)
	}
	for name, bad := range map[string]step{
		"no answer": silent, "429": raw(429, "slow down"), "500": raw(500, "oops"),
		"no connection": breaks, "cut": cut, "empty": text(""), "mixed": mixed, "refused": raw(400, "odd"),
		"an error within": says(answer.Answer{Error: []byte("overloaded")}), "a wrong key": raw(401, "no"),
	} {
		for _, prepares := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, prepares %v", name, prepares), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := talk{rig: rigged(t, plain(), bad), prepares: prepares}
					for k.turns < 80 {
						k.turn()
						synctest.Wait()
						questions, pauses := len(k.requests()), k.pauses()
						if questions > 2*(pauses+1) || pauses > k.compactions/5+1 || k.waits > 1 {
							t.Fatalf("turn %d: %d questions, %d waits, %d pauses", k.turns, questions, k.waits, pauses)
						}
					}
					if name != "mixed" && k.pauses() == 0 || k.summed > 0 {
						t.Errorf("%d pauses, %d summaries", k.pauses(), k.summed)
					}
					k.plays(text(good("a")))
					k.answered(question("elsewhere"))
					for range 6 * 7 {
						k.turn()
					}
					if k.summed == 0 {
						t.Error("the model answers, and is not asked")
					}
				})
			})
		}
	}
}

// A rest is over after an hour, however seldom the conversation is compacted. Another model does not rest.
func TestRestEndsAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), text("no"))
		ask := question("a")
		r.fails(ask, ErrFailed, "")
		r.plays(text(good("a")))
		r.fails(ask, ErrPaused, "")
		time.Sleep(pauseTime - time.Second)
		r.Prepare(ask)
		synctest.Wait()
		r.calls(2)
		time.Sleep(time.Second)
		r.answered(ask)
		ask.Key = "b"
		r.plays(text("no"))
		r.fails(ask, ErrFailed, "")
		r.plays(text(good("a")))
		c := plain()
		c.Model = "another"
		r.Configure(c)
		r.answered(ask)
	})
}

// A model that takes longer than anybody waits is waited for once. Its answers come late, for the next compaction.
func TestSlowModelIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), takes(90*time.Second, text(good("a"))))
		for i := range 5 {
			q := question(fmt.Sprint(i))
			q.Conversation = "one"
			begun := time.Now()
			r.fails(q, ErrLate, "")
			if waited := time.Since(begun); i > 0 && waited > 0 {
				t.Errorf("question %d is waited for %v", i, waited)
			}
			time.Sleep(2 * time.Minute)
			if _, found, _ := r.Look(q.Key); !found {
				t.Errorf("question %d has no answer", i)
			}
		}
	})
}
