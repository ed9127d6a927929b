package summarize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"epitome/dialect/answer"
	"epitome/event"
)

func TestAnswerIsTheSectionsInTheirOrder(t *testing.T) {
	r := rigged(t, plain(), text("Here it is:\n```\n"+good("a")+"```"))
	p := r.answered(question("a"))
	if p.Text != good("a") && p.Text != good("a")+"```\n" {
		t.Errorf("the prose is\n%s", p.Text)
	}
	p.Text, p.Took = "", 0
	want := Prose{Cost: event.Cost{InputTokens: 1000, CachedTokens: 900, OutputTokens: 50, Requests: 1}}
	if p != want {
		t.Errorf("it cost %+v, want %+v", p, want)
	}
	q := r.requests()[0]
	if q.Way != WayContinue || q.Conversation != "the conversation of a" || q.asked.Credential != secret ||
		q.Form.MaxOutput != 8000 {
		t.Errorf("asked %+v", q)
	}
}

// Whatever an upstream does, the asker gets an error soon, or prose by another try.
func TestBadAnswersAreFailuresAfterOneMoreTry(t *testing.T) {
	f := func(name string, bad step, words string, requests int) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rigged(t, plain(), bad)
				r.fails(question("a"), ErrFailed, words)
				r.calls(requests)
				if e := r.told(); len(e) < 2 || e[0].Kind != event.SummaryStarted ||
					e[1].Kind != event.SummaryFailed ||
					!strings.Contains(e[1].Reason, words) ||
					e[1].Cost.Requests != requests {
					t.Errorf("told %+v", e)
				}
				if strings.Contains(fmt.Sprint(r.told())+r.log.String(), "sk-very") {
					t.Error("the upstream's words are told")
				}
			})
			synctest.Test(t, func(t *testing.T) {
				r := rigged(t, plain(), bad, text(good("a")))
				if requests == 1 {
					r.fails(question("a"), ErrFailed, words)
					return
				}
				if p := r.answered(question("a")); p.Requests != 2 {
					t.Errorf("it took %d requests", p.Requests)
				}
			})
		})
	}
	no := good("a")[:strings.Index(good("a"), "## Failed")]
	f("nothing", text(""), "empty", 2)
	f("a refusal in a field", says(answer.Answer{Refused: true}), "declined", 2)
	f("tool calls", says(answer.Answer{Called: true}), "called a tool", 2)
	f("missing sections", text(no), "Failed Approaches, Open Issues, Next Steps, Critical Values", 2)
	f("the form as it was given", text(prompt{}.render("form")), "Goal", 2)
	f("cut off", says(answer.Answer{Text: no, Cut: true}), "cut off", 2)
	f("longer than its room", text(good("a")+strings.Repeat("more and more\n", 1000)), "2000 are the most", 2)
	f("an error", raw(500, "oops "+secret), "status 500", 2)
	f("half a stream", raw(200, `{"Text":"## Go`), "broke off", 2)
	f("no connection", breaks, "could not be reached", 2)
	f("a wrong key", raw(401, secret), "status 401", 1)
	f("a request it will not have", raw(400, "odd"), "status 400", 2) // both ways
}

func TestSilenceEndsWithTheJobsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), silent)
		begun := time.Now()
		r.fails(question("a"), ErrLate, "")
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("the asker waited %v", waited)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		e := r.told()
		if len(e) != 3 || e[2].Kind != event.SummaryFailed || e[2].Cost.Took != 5*time.Minute {
			t.Errorf("told %+v", e)
		}
		r.calls(1)
	})
}

// A refusal that says how long to wait is followed by a request after that time, unless the job has ended by then.
func TestUpstreamThatAsksForPatienceGetsIt(t *testing.T) {
	for wait, requests := range map[time.Duration]int{20 * time.Second: 2, 10 * time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			r := rigged(t, plain(), raw(429, "slow down"), text(good("a")))
			r.wait = wait
			p, err := r.Ask(t.Context(), question("a"))
			r.calls(requests)
			if err == nil && p.Took != wait {
				t.Errorf("asked to wait %v: %v, took %v", wait, err, p.Took)
			}
		})
	}
}

func TestOtherModelIsAskedByTranscript(t *testing.T) {
	c := plain()
	c.Model = "small"
	r := rigged(t, c, text(good("a")))
	r.answered(question("a"))
	q := r.requests()[0]
	if q.Way != WayTranscript || q.Model != "small" || q.asked.Upstream != "up" ||
		q.asked.Credential != secret {
		t.Errorf("asked %+v", q)
	}
	if !strings.Contains(q.Ask, "please fix a") ||
		!strings.Contains(q.Ask, " result bash, exit code 2]\nmake: *** [all] Error 2\n") {
		t.Errorf("asked\n%s", q.Ask)
	}
	// What is for one upstream goes to no other.
	c.Upstream = "other"
	r = rigged(t, c, text(good("a")))
	r.answered(question("a"))
	if q := r.requests()[0].asked; q.Upstream != "other" || q.Credential != nil || q.KeyEnv != "" {
		t.Errorf("the other upstream is sent %+v with %v", q, q.Credential)
	}
	c.KeyEnv = "OTHER_KEY"
	r = rigged(t, c, text(good("a")))
	r.answered(question("a"))
	if q := r.requests()[0].asked; q.Credential != nil || q.KeyEnv != "OTHER_KEY" {
		t.Errorf("the other upstream is sent %v and the key in %q", q.Credential, q.KeyEnv)
	}
}

func TestWhatDoesNotFitIsAskedByTranscript(t *testing.T) {
	f := func(name string, change func(*Question), steps ...step) {
		t.Run(name, func(t *testing.T) {
			q := question("a")
			change(&q)
			r := rigged(t, plain(), append(steps, text(good("a")))...)
			r.answered(q)
			if all := r.requests(); all[len(all)-1].Way != WayTranscript || all[len(all)-1].Model != "own" {
				t.Errorf("asked %+v", all)
			}
		})
	}
	f("no body", func(q *Question) { q.Continue = nil })
	f("a broken body", func(q *Question) { q.Continue = []byte("broken") })
	f("too long", func(*Question) {}, raw(400, "too long"))
	f("too long within", func(*Question) {}, says(answer.Answer{Error: []byte("too long")}))
	f("refused", func(*Question) {}, raw(422, "roles must alternate"))
}

// A client that leaves and comes again, and again, goes on without a summary once summary_wait has passed in all.
func TestRetriesDoNotWaitAllOverAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), silent)
		for i := range 3 {
			ctx, leave := context.WithTimeout(t.Context(), 25*time.Second)
			begun := time.Now()
			_, err := r.Ask(ctx, question("k"))
			gone := ctx.Err() != nil
			leave()
			if want := min(25, 60-25*i); !errors.Is(err, ErrLate) ||
				time.Since(begun) != time.Duration(want)*time.Second || gone != (want == 25) {
				t.Errorf("try %d: %v after %v", i, err, time.Since(begun))
			}
		}
	})
}
