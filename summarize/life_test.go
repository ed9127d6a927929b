package summarize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/event"
	"epitome/prose"
	"epitome/store"
	"epitome/store/disk"
	"epitome/store/memory"
	"epitome/unit"
)

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), takes(10*time.Second, text(good("a"))))
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if p, err := r.Ask(t.Context(), question("a")); err != nil || p.Text != good("a") {
					t.Errorf("%q, %v", p.Text, err)
				}
			})
		}
		all.Wait()
		r.calls(1)
		e := r.told()
		if len(e) != 2 || e[1].Kind != event.SummaryCompleted || e[1].Tokens == 0 || e[1].Cost.CachedTokens != 900 ||
			e[1].Cost.Took != 10*time.Second {
			t.Errorf("told %+v", e)
		}
		r.answered(question("a"))
		r.calls(1)
		r.answered(question("b")) // and what is not equal is not mixed up
		r.calls(2)
	})
}

func TestJobOutlivesItsAskers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), takes(2*time.Minute, text(good("a"))))
		ctx, leave := context.WithTimeout(t.Context(), 5*time.Second)
		defer leave()
		if _, err := r.Ask(ctx, question("a")); !errors.Is(err, ErrLate) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the asker left with %v", err)
		}
		if _, ok := r.Ready("a"); ok {
			t.Error("it is ready at once")
		}
		r.fails(question("a"), ErrLate, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if p, ok := r.Ready("a"); !ok || p.Text != good("a") {
			t.Errorf("it is not there when the client comes again: %v", p)
		}
		r.answered(question("a"))
		r.calls(1)
	})
}

func TestRestartAsksNothingAgain(t *testing.T) {
	folder := t.TempDir()
	open := func() *disk.Store {
		s, err := disk.Open(disk.Options{Folder: folder, SyncEvery: time.Second, Log: slog.New(slog.DiscardHandler),
			Fault: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	first := over(t, s, plain(), text(good("a"))).answered(question("a"))
	_ = s.Close()
	s = open()
	r := over(t, s, plain(), breaks)
	if p := r.answered(question("a")); !p.Made.Equal(first.Made) || p.Text != first.Text || p.InputTokens != 1000 {
		t.Errorf("after a restart %+v, before %+v", p, first)
	}
	r.calls(0)
	_ = s.Close()
	// The credential is nowhere on the disk, nor in what was logged and told.
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte("sk-very-secret")) || bytes.Contains(b, []byte("please fix")) {
			t.Errorf("%s has what must not be kept", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNothingOfAQuestionIsShown(t *testing.T) {
	q := question("a")
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("x", "q", q, "r", Request{Body: []byte("the conversation of a"), Credential: secret})
	}
	shown := fmt.Sprintf("%v %+v %#v %s %d", q, q, q, Request{Credential: secret}, q) + log.String()
	if strings.Contains(shown, "sk-very") || strings.Contains(shown, "fix") ||
		strings.Contains(shown, "the conversation of") {
		t.Errorf("shown: %s", shown)
	}
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), breaks)
		r.fails(q, ErrFailed, "")
		r.calls(3)
		if all := r.log.String() + fmt.Sprint(r.told()); strings.Contains(all, "sk-very") ||
			strings.Contains(all, "fix") {
			t.Errorf("told: %s", all)
		}
	})
}

// An asker may look into the store just before a job ends, and come to the jobs just after.
func TestJobLooksBeforeItAsks(t *testing.T) {
	r := rigged(t, plain(), text(good("a")))
	r.answered(question("a"))
	j, err := r.join(question("a"), true)
	if err != nil {
		t.Fatal(err)
	}
	<-j.done
	if j.err != nil || j.prose.Text != good("a") || len(r.told()) != 2 {
		t.Errorf("%+v, %v, told %+v", j.prose, j.err, r.told())
	}
	r.calls(1)
}

func TestJobsAndQueueAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := plain()
		c.Queue = 4
		r := rigged(t, c, takes(time.Minute/2, text(good("a"))))
		for i := range 6 {
			go func() { _, _ = r.Ask(t.Context(), question(fmt.Sprint(i))) }()
		}
		synctest.Wait()
		r.calls(2)
		begun := time.Now()
		r.fails(question("one more"), ErrBusy, "")
		r.Prepare(question("one more"))
		if time.Since(begun) != 0 {
			t.Error("it waited to say that it is busy")
		}
		time.Sleep(2 * time.Minute)
		r.calls(6)
		r.answered(question("one more")) // what was busy is not remembered as a failure
		if len(r.jobs)+len(r.queue)+r.running+int(r.pending) != 0 {
			t.Errorf("left over: %d jobs, %d waiting, %d running, %d bytes",
				len(r.jobs), len(r.queue), r.running, r.pending)
		}
	})
}

func TestPreparationLeavesHalfOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := plain()
		c.Queue = 4
		r := rigged(t, c, deaf)
		for i := range 20 {
			r.Prepare(question(fmt.Sprint(i)))
		}
		synctest.Wait()
		if len(r.queue) != 2 || len(r.jobs) != 3 {
			t.Errorf("%d wait, %d in all", len(r.queue), len(r.jobs))
		}
	})
}

func TestMemoryOfQuestionsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := plain()
		c.Pending = 3 * unit.MB
		r := rigged(t, c, takes(time.Minute, text(good("a"))))
		large := func(key string, n int) prose.Question {
			q := question(key)
			q.Transcript = append(q.Transcript, prose.Entry{Text: strings.Repeat("x", n)})
			return q
		}
		r.Prepare(large("one that is larger than all may be", 5<<20))
		synctest.Wait()
		r.calls(1)
		r.fails(large("small", 1), ErrBusy, "")
		time.Sleep(2 * time.Minute)
		r.Prepare(large("a", 2<<20))
		r.Prepare(large("b", 2<<20))
		synctest.Wait()
		r.calls(2)
	})
}

func TestWhoWaitsGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), takes(10*time.Second, text(good("a"))))
		for i := range 4 {
			r.Prepare(question(fmt.Sprint("prepared ", i)))
		}
		synctest.Wait()
		r.calls(1) // one place is free for those who wait
		go func() { _, _ = r.Ask(t.Context(), question("asked")) }()
		synctest.Wait()
		if q := r.requests(); len(q) != 2 || q[1].Conversation != "the conversation of asked" {
			t.Fatalf("%d requests", len(q))
		}
		go func() { _, _ = r.Ask(t.Context(), question("prepared 3")) }()
		time.Sleep(11 * time.Second)
		synctest.Wait()
		q := r.requests()
		if len(q) != 4 || q[2].Conversation+
			q[3].Conversation != "the conversation of prepared 3the conversation of prepared 1" &&
			q[3].Conversation+q[2].Conversation != "the conversation of prepared 3the conversation of prepared 1" {
			t.Errorf("then it was the turn of %q and %q", q[2].Conversation, q[len(q)-1].Conversation)
		}
		if e := r.told(); !e[0].Prepared || e[1].Prepared {
			t.Errorf("told %+v", e)
		}
	})
}

func TestJobWhoseTimePassesInTheQueueIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := plain()
		c.Jobs = 1
		r := rigged(t, c, deaf, text(good("a")))
		r.Prepare(question("a"))
		r.Prepare(question("b"))
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		r.calls(1)
		r.answered(question("b"))
	})
}

func TestCloseEndsAllJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := plain()
		c.Jobs = 1
		r := rigged(t, c, deaf)
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				if _, err := r.Ask(t.Context(), question(fmt.Sprint(i))); !errors.Is(err, ErrClosed) {
					t.Errorf("an asker is told %v", err)
				}
			})
		}
		synctest.Wait()
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		all.Wait()
		r.fails(question("later"), ErrClosed, "")
		r.Prepare(question("later"))
		r.calls(1)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseDoesNotWaitLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), func(context.Context, sent) (Response, error) {
			time.Sleep(time.Hour)
			return Response{}, errors.New("late")
		})
		r.Prepare(question("a"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close returned %v", err)
		}
	})
}

func TestPanicFailsOneJob(t *testing.T) {
	boom := func(context.Context, sent) (Response, error) { panic(secret) }
	bug := func(context.Context, sent) (Response, error) {
		var none []int
		_ = none[len(secret)]
		return Response{}, nil
	}
	r := rigged(t, plain(), boom, bug, text(good("a")))
	r.fails(question("a"), ErrFailed, "a bug")
	r.fails(question("b"), ErrFailed, "a bug")
	r.answered(question("c"))
	if log := r.log.String(); strings.Contains(log, "sk-very") || !strings.Contains(log, "index out of range") ||
		!strings.Contains(log, "making.go") {
		t.Errorf("logged: %s", log)
	}
	r.means.Tell = func(event.Summary) { panic("no") }
	r.answered(question("d"))
}

// refusing takes nothing.
type refusing struct{ Facts }

func (refusing) PutIfAbsent(string, []byte, time.Duration) (store.Fact, bool, error) {
	return store.Fact{}, false, store.ErrNoSpace
}

func TestProseThatCannotBeStoredIsKeptInMemory(t *testing.T) {
	r := over(t, refusing{memory.New(1<<20, time.Now)}, plain(), text(good("a")))
	for i := range mostSpare + 5 {
		r.answered(question(fmt.Sprint(i)))
	}
	r.answered(question("30"))
	r.calls(mostSpare + 5)
	r.answered(question("0")) // it is long gone
	r.calls(mostSpare + 6)
	if s := r.archive.spare; len(s.prose) != mostSpare || len(s.keys) != mostSpare ||
		!strings.Contains(r.log.String(), "memory alone") {
		t.Errorf("%d are kept; logged %s", len(s.prose), r.log.String())
	}
}

func TestWhatStandsInTheStoreCounts(t *testing.T) {
	s := memory.New(1<<20, time.Now)
	r := over(t, s, plain(), text(good("a")))
	if _, err := s.Put(nameOf("a"), []byte("of another version"), time.Hour); err != nil {
		t.Fatal(err)
	}
	r.answered(question("a")) // what cannot be read is made anew
	if p, ok := r.Ready("a"); !ok || p.Text != good("a") {
		t.Errorf("ready is %+v", p)
	}
	other := r.archive.save("a", prose.Prose{Text: "another"})
	if other.Text != good("a") {
		t.Errorf("the second one won: %q", other.Text)
	}
}

func TestUsedProseLivesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), text(good("a")))
		r.answered(question("a"))
		for range 3 {
			time.Sleep(500 * time.Hour)
			if _, ok := r.Ready("a"); !ok {
				t.Fatal("it died while it was used")
			}
		}
		time.Sleep(721 * time.Hour)
		if _, ok := r.Ready("a"); ok {
			t.Error("it lives on unused")
		}
	})
}

func TestPeekDoesNotLetProseLiveOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), text(good("a")))
		r.answered(question("a"))
		time.Sleep(500 * time.Hour)
		if p, ok := r.Peek("a"); !ok || p.Text != good("a") {
			t.Fatalf("it is not seen: %+v", p)
		}
		time.Sleep(300 * time.Hour)
		if _, ok := r.Peek("a"); ok {
			t.Error("it lives on for having been looked at")
		}
	})
}

func TestPendingIsWhatWaitsOrIsBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := plain()
		c.Jobs = 1
		r := rigged(t, c, takes(time.Minute, text(good("a"))), takes(time.Minute, raw(401, "", "")))
		f := func(key string, pending, ready bool) {
			t.Helper()
			if _, found := r.Ready(key); r.Pending(key) != pending || found != ready {
				t.Errorf("%s is pending: %v, ready: %v", key, !pending, found)
			}
		}
		f("a", false, false)
		r.Prepare(question("a"))
		r.Prepare(question("b"))
		synctest.Wait()
		f("a", true, false)
		f("b", true, false)
		time.Sleep(90 * time.Second)
		f("a", false, true)
		f("b", true, false)
		time.Sleep(time.Minute)
		f("b", false, false) // it has failed
	})
}

func TestJobForgetsItsQuestion(t *testing.T) {
	r := rigged(t, plain(), text(good("a")))
	j, err := r.join(question("a"), true)
	if err != nil {
		t.Fatal(err)
	}
	<-j.done
	if j.question.Credential != nil || j.question.Continue != nil || j.question.Transcript != nil {
		t.Error("the job keeps its question")
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	r := rigged(t, plain(), text(good("a")), deaf)
	r.answered(question("a"))
	for i := range 10 {
		r.Prepare(question(fmt.Sprint(i)))
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; {
		if time.Now().After(late) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestConfigurationIsTakenUpByLaterQuestions(t *testing.T) {
	r := rigged(t, plain(), text(good("a")))
	c := plain()
	c.Model = "small"
	r.Configure(c)
	if p := r.answered(question("a")); p.Model != "small" {
		t.Errorf("asked %s", p.Model)
	}
}
