package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The tests play sessions without epitome: the agent reaches the model itself, or through a server that changes bodies.
// Sessions with epitome are tested by the script demo of the program.

// play plays a session whose requests reach the model as change returns them.
func play(t *testing.T, window, turns int, change func(body []byte) []byte) (*Report, string) {
	t.Helper()
	var out bytes.Buffer
	m := startModel(t, window)
	o := Options{Model: m, Turns: turns, URL: m.URL, Out: &out}
	if change != nil {
		o.URL = changing(t, m.URL, change)
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func startModel(t *testing.T, window int) *Model {
	t.Helper()
	m, err := StartModel(window)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// changing starts a server that changes bodies before the model, and returns its URL.
func changing(t *testing.T, upstream string, change func(body []byte) []byte) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.Post(upstream+"/chat/completions", "application/json", bytes.NewReader(change(body)))
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const endless = 10_000_000 // tokens

func TestSessionOutgrowsItsWindow(t *testing.T) {
	r, out := play(t, 16_000, 40, nil)
	if r.Alone != fmt.Sprint(r.Turns, ", then error 400") {
		t.Errorf("lasts %s turns of %d", r.Alone, r.Turns)
	}
	for _, want := range []string{"without epitome the session dies here", "✗ no answer", "The session died: 400",
		"context_length_exceeded"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

// A session that is sent whole has only right answers, so that wrong ones of others are not the script's.
func TestSessionIsSoundByItself(t *testing.T) {
	r, out := play(t, endless, 70, nil)
	if r.Alone != "" || r.Reads != 0 || r.Asked != 4 || r.Right != 4 || r.Extended != r.Turns ||
		r.Raw != r.Sent {
		t.Errorf("%+v", r)
	}
	if again, same := play(t, endless, 70, nil); same != out || !reflect.DeepEqual(r, again) {
		t.Error("the same options make another session")
	}
}

func TestWrongAnswerIsReported(t *testing.T) {
	r, out := play(t, endless, 30, func(body []byte) []byte {
		return regexp.MustCompile(`CHG-\d{5}`).ReplaceAll(body, []byte("CHG-00000"))
	})
	if r.Right != r.Asked-1 || !strings.Contains(out, "WRONG: CHG-00000") {
		t.Errorf("%d answers of %d are right:\n%s", r.Right, r.Asked, out)
	}
}

func TestSessionEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	m := startModel(t, endless)
	_, err := Run(ctx, Options{Model: m, Turns: 30, URL: m.URL, Out: io.Discard})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
