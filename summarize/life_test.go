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
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/event"
	"epitome/store"
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
		if _, ok, _ := r.Look("a"); ok {
			t.Error("it is ready at once")
		}
		r.fails(question("a"), ErrLate, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if p, ok, _ := r.Look("a"); !ok || p.Text != good("a") {
			t.Errorf("it is not there when the client comes again: %v", p)
		}
		r.answered(question("a"))
		r.calls(1)
	})
}

func TestRestartAsksNothingAgain(t *testing.T) {
	folder := t.TempDir()
	open := func() store.Store {
		s, err := store.OpenBadger(folder, slog.New(slog.DiscardHandler))
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
	if p := r.answered(question("a")); p != first || p.Text != first.Text || p.InputTokens != 1000 {
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

// forgetful is a store whose reads fail.
type forgetful struct{ store.Store }

func (forgetful) GetMany([]string) ([][]byte, error) { return nil, errors.New("the disk fails") }

// While the store cannot say whether there is an answer, nobody pays for another one.
func TestFailedStoreAsksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory(64 << 20)
		over(t, s, plain(), text(good("a"))).answered(question("a"))
		r := over(t, forgetful{s}, plain(), text(good("a")))
		if p, err := r.Ask(t.Context(), question("a")); err == nil || p.Text != "" {
			t.Errorf("a failed store has answered %q", p.Text)
		}
		r.Prepare(question("b"))
		synctest.Wait()
		r.calls(0)
	})
}

func TestJobsAndQueueAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), takes(time.Minute/2, text(good("a"))))
		for i := range maxJobs + maxQueue {
			go func() { _, _ = r.Ask(t.Context(), question(fmt.Sprint(i))) }()
		}
		synctest.Wait()
		r.calls(maxJobs)
		begun := time.Now()
		r.fails(question("one more"), ErrBusy, "")
		r.Prepare(question("one more"))
		if time.Since(begun) != 0 {
			t.Error("it waited to say that it is busy")
		}
		time.Sleep(3 * time.Minute)
		r.calls(maxJobs + maxQueue)
		r.answered(question("one more")) // what was busy is not remembered as a failure
	})
}

func TestCloseEndsAllJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), silent)
		var all sync.WaitGroup
		for i := range maxJobs + 2 {
			all.Go(func() {
				if _, err := r.Ask(t.Context(), question(fmt.Sprint(i))); !errors.Is(err, ErrClosed) {
					t.Errorf("an asker is told %v", err)
				}
			})
		}
		synctest.Wait()
		r.Close()
		all.Wait()
		r.fails(question("later"), ErrClosed, "")
		r.Prepare(question("later"))
		r.calls(maxJobs)
		r.Close()
	})
}

func TestPanicFailsOneJob(t *testing.T) {
	boom := func(context.Context, sent) (int, []byte, error) { panic(secret) }
	r := rigged(t, plain(), boom, text(good("a")))
	r.fails(question("a"), ErrFailed, "a bug")
	r.answered(question("b"))
	if log := r.log.String(); strings.Contains(log, "sk-very") || !strings.Contains(log, "job.go") {
		t.Errorf("logged: %s", log)
	}
}
