package daemon

import (
	"errors"
	"strings"
	"testing"
	"time"

	"epitome/daemon/asides"
	"epitome/rewrite/aside"
	"epitome/rewrite/chat"
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
