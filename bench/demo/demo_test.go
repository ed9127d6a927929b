package demo

import (
	"bytes"
	"context"
	"errors"
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

func play(t *testing.T, o Options) (*Report, string) {
	t.Helper()
	var out bytes.Buffer
	o.Live = &out
	if o.Start == nil {
		o.Start = direct
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

func direct(upstream string) (Proxy, error) { return Proxy{URL: upstream}, nil }

// changing starts a server that changes bodies before the model. It counts them from 1.
func changing(t *testing.T, change func(n int, body []byte) []byte) func(string) (Proxy, error) {
	n := 0
	return func(upstream string) (Proxy, error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			body, err := io.ReadAll(r.Body)
			var resp *http.Response
			if err == nil {
				resp, err = http.Post(upstream+"/chat/completions", "application/json", bytes.NewReader(change(n, body)))
			}
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			w.WriteHeader(resp.StatusCode)
			_, _ = io.Copy(w, resp.Body)
		}))
		t.Cleanup(server.Close)
		return Proxy{URL: server.URL}, nil
	}
}

const endless = 10_000_000 // tokens

func TestSessionOutgrowsItsWindow(t *testing.T) {
	r, out := play(t, Options{Window: 16_000, Turns: 40, Seed: 1})
	last := r.Turns[len(r.Turns)-1]
	if r.Died != len(r.Turns) || last.Sent <= r.Window || !strings.Contains(r.Failed, "context_length_exceeded") {
		t.Errorf("died in turn %d of %d with %d tokens: %q", r.Died, len(r.Turns), last.Sent, r.Failed)
	}
	for _, want := range []string{"without epitome the session dies here", "✗ no answer", "WRONG: the session died"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

// A session that is sent whole has no faults, so that faults of others are not the script's.
func TestSessionIsSoundByItself(t *testing.T) {
	o := Options{Window: endless, Turns: 70, Seed: 3}
	r, out := play(t, o)
	if m := r.Missed(); len(m) > 0 || r.Died != 0 || r.Reads != 0 || r.Asked != 4 || r.Extended != len(r.Turns)-1 ||
		r.Raw.Tokens != r.Sent.Tokens {
		t.Errorf("faults %q in %+v", m, r)
	}
	if again, same := play(t, o); same != out || !reflect.DeepEqual(r, again) {
		t.Error("an equal seed makes another session")
	}
	o.Seed = 4
	if other, _ := play(t, o); other.Raw.Tokens == r.Raw.Tokens {
		t.Error("another seed makes an equal session")
	}
}

func TestFaultsAreReported(t *testing.T) {
	f := func(want string, change func(n int, body []byte) []byte) {
		t.Helper()
		r, _ := play(t, Options{Window: endless, Turns: 30, Seed: 1, Start: changing(t, change)})
		if got := strings.Join(r.Missed(), "; "); got != want {
			t.Errorf("missed %q, want %q", got, want)
		}
	}
	f("1 of 3 answers are wrong", func(_ int, body []byte) []byte {
		return regexp.MustCompile(`CHG-\d{5}`).ReplaceAll(body, []byte("CHG-00000"))
	})
	f("after the restart the request had other bytes", func(n int, body []byte) []byte {
		if n == 15 { // the first one after the restart
			return append(body, ' ')
		}
		return body
	})
}

func TestTooFewTurnsAreRefused(t *testing.T) {
	_, err := Run(t.Context(), Options{Window: endless, Turns: leastTurns - 1, Start: direct, Live: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "at least 20") {
		t.Errorf("got %v", err)
	}
}

func TestSessionEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	_, err := Run(ctx, Options{Window: endless, Turns: 30, Live: io.Discard, Start: func(upstream string) (Proxy, error) {
		stop()
		return direct(upstream)
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTurnsWithoutNewsShareALine(t *testing.T) {
	var out bytes.Buffer
	table := newTable(Options{Live: &out, Window: 1000})
	out.Reset()
	for i := range 8 {
		x := Turn{Turn: i + 1, Did: "work", Sent: 100 * (i + 1), Got: 100, Cached: 50, ReadBack: i == 6}
		switch i {
		case 3, 5, 6:
			x.Shaping.Offloaded, x.Shaping.TakenOut = 1, 500
		case 7:
			x.Shaping.Cleared, x.Shaping.TakenOut = 3, 270
		}
		table.turn(x)
	}
	want := `   1  work                       100 →   100  █·······  10%   50%
   2  work                       200 →   100  █·······  10%   50%
   ·  … 4 turns                  600 →   100  offload 2 results: −1k
   7  work                       700 →   100  █·······  10%   50%  offload 1 result: −500
                                                                   read back
   8  work                       800 →   100  █·······  10%   50%  clear 3 results: −270
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
