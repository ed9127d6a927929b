package daemon

import (
	"errors"
	"strings"
	"testing"
	"time"

	"epitome/daemon/asides"
	"epitome/rewrite/aside"
	"epitome/rewrite/chat"
	"epitome/store"
	"epitome/store/memory"
)

// TestAConversationBeginsWithTheToolOrWithout: where there is no room for it in the first request, it never has it, and
// where there is none later, nothing is forgotten.
func TestAConversationBeginsWithTheToolOrWithout(t *testing.T) {
	full := errors.New("full")
	f := func(first, second error, want string) {
		t.Helper()
		l := asides.New(asides.Options{Store: memory.New(1<<20, time.Now), Keep: time.Hour})
		said, got := `{"messages":[{"role":"user","content":"u"}`, ""
		for _, room := range []error{first, second, nil} {
			body := said + "]}"
			turn, err := l.Weave(aside.Ask{Dialect: chat.Dialect{}, Body: []byte(body), Room: func(size int) error {
				if size <= len(body) {
					t.Errorf("there is to be room for %d bytes, and the client sent %d", size, len(body))
				}
				return room
			}})
			switch {
			case err == nil && turn == nil:
				got += "without "
			case err == nil && strings.Contains(string(turn.Body), aside.Tool):
				got += "with "
			case turn == nil && errors.Is(err, full):
				got += "full "
			default:
				t.Fatalf("%v, %v", turn, err)
			}
			said += `,{"role":"assistant","content":"a"},{"role":"user","content":"v"}`
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(nil, nil, "with with with ")
	f(full, nil, "full without without ")
	f(nil, full, "with full with ")
}

// hasty is a store that says once that it does not know whether something stands which does.
type hasty struct {
	store.Store
	lost error
}

func (s *hasty) PutIfAbsent(key string, value []byte, keep time.Duration) (store.Fact, bool, error) {
	fact, put, err := s.Store.PutIfAbsent(key, value, keep)
	if s.lost != nil {
		err, s.lost = s.lost, nil
	}
	return fact, put, err
}

// TestAToolThatMayBeRecordedIsSent: else the conversation would get it with its second request.
func TestAToolThatMayBeRecordedIsSent(t *testing.T) {
	s := &hasty{Store: memory.New(1<<20, time.Now), lost: errors.New("no answer in time")}
	l := asides.New(asides.Options{Store: s, Keep: time.Hour})
	said := `{"messages":[{"role":"user","content":"u"}`
	for range 2 {
		turn, err := l.Weave(aside.Ask{Dialect: chat.Dialect{}, Body: []byte(said + "]}")})
		if err != nil || turn == nil || !strings.Contains(string(turn.Body), aside.Tool) {
			t.Fatalf("%s goes on without: %v", said, err)
		}
		said += `,{"role":"assistant","content":"a"},{"role":"user","content":"v"}`
	}
}

// touched counts how often something is to live longer.
type touched struct {
	store.Store
	times int
}

func (s *touched) Touch(key string, keep time.Duration) (bool, error) {
	s.times++
	return s.Store.Touch(key, keep)
}

// TestToLookIsToChangeNothing: what was recorded of a conversation is woven in, and lives no longer for it.
func TestToLookIsToChangeNothing(t *testing.T) {
	s := &touched{Store: memory.New(1<<20, time.Now)}
	ask := aside.Ask{Dialect: chat.Dialect{}, Body: []byte(`{"messages":[{"role":"user","content":"u"}]}`)}
	if got := asides.Woven(s, ask); string(got) != string(ask.Body) {
		t.Errorf("a conversation never seen became %s", got)
	}
	turn, err := asides.New(asides.Options{Store: s, Keep: time.Hour}).Weave(ask)
	if turn == nil || err != nil {
		t.Fatal(turn, err)
	}
	s.times = 0
	if got := asides.Woven(s, ask); string(got) != string(turn.Body) || s.times > 0 {
		t.Errorf("after %d touches got %s", s.times, got)
	}
}

// TestWhoDeclinesTheToolNeverHasIt, whoever else begins with the same words; one that began with the tool keeps it.
func TestWhoDeclinesTheToolNeverHasIt(t *testing.T) {
	l := asides.New(asides.Options{Store: memory.New(1<<20, time.Now), Keep: time.Hour})
	begin := `{"messages":[{"role":"user","content":"u"}`
	later := begin + `,{"role":"assistant","content":"a"},{"role":"user","content":"v"}`
	f := func(want bool, body string, without bool) {
		t.Helper()
		turn, err := l.Weave(aside.Ask{Dialect: chat.Dialect{}, Body: []byte(body + "]}"), Without: without})
		if has := turn != nil; err != nil || has != want {
			t.Errorf("it has the tool: %v, want %v: %v", has, want, err)
		}
	}
	f(true, begin, false)
	f(true, later, true) // that began with it
	f(false, begin, true)
	f(false, later, true)
	f(true, begin, false)
	f(true, later, false)
	f(false, later, true)
}

// TestWhatWasCountedElsewhereIsNoConversationYet: one replica counts the first request, another one answers it, and the
// first one gets the next, at once.
func TestWhatWasCountedElsewhereIsNoConversationYet(t *testing.T) {
	o := asides.Options{Store: memory.New(1<<20, time.Now), Keep: time.Hour}
	here, there := asides.New(o), asides.New(o)
	f := func(want bool, l *aside.Loom, more string, replay bool) {
		t.Helper()
		body := []byte(`{"messages":[{"role":"user","content":"u"}` + more + "]}")
		turn, err := l.Weave(aside.Ask{Dialect: chat.Dialect{}, Body: body, Replay: replay})
		if has := turn != nil; err != nil || has != want {
			t.Errorf("it has the tool: %v, want %v: %v", has, want, err)
		}
	}
	f(false, here, "", true)
	f(true, there, "", false)
	f(true, here, `,{"role":"assistant","content":"a"},{"role":"user","content":"v"}`, false)
}
