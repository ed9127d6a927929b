package window

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/internal/unit"
)

// server are windows that are told by the upstream "up", which it asks nothing but what answers says.
type server struct {
	*Windows
	t       *testing.T
	mu      sync.Mutex
	answers map[string]string // by path without its query; others get status 404
	looks   []string
	config  Config
	clock   watch
}

func probing(t *testing.T, models map[string]unit.Tokens, answers map[string]string) *server {
	t.Helper()
	s := &server{t: t, answers: answers, clock: watch{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}}
	s.config = Config{Default: 128_000, Models: models}
	s.Windows = New(s.config, nil, s.clock.now)
	s.Configure(s.config, map[string]bool{"up": true})
	t.Cleanup(s.Close)
	return s
}

func (s *server) asked(_ context.Context, _, path string) (int, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks = append(s.looks, path)
	path, _, _ = strings.Cut(path, "?")
	answer, ok := s.answers[path]
	if !ok {
		return 404, []byte("no"), nil
	}
	return 200, []byte(answer), nil
}

// converse has a conversation with the model once the time has passed: it is believed to hold before, then after.
func (s *server) converse(pass time.Duration, before, after, looks int) {
	s.t.Helper()
	s.clock.at = s.clock.at.Add(pass)
	for i, want := range []int{before, after} {
		if got := s.Of("up", "m/x").Tokens; got != want {
			s.t.Errorf("at %d the model is believed to hold %d, want %d", i, got, want)
		}
		s.Probe("up", "m/x", s.asked, slog.New(slog.DiscardHandler))
		s.running.Wait()
	}
	if len(s.looks) != looks {
		s.t.Errorf("after %v it was asked %q, want %d", pass, s.looks, looks)
	}
}

const holds24k = `{"data":[{"id":"m/x","max_model_len":24576}]}`

func TestServersOfEachKindAreAsked(t *testing.T) {
	const v1, props, ps, v0 = "/v1/models", "/props?autoload=false&model=m%2Fx", "/api/ps", "/api/v0/models"
	f := func(path, answer string, looks ...string) {
		t.Helper()
		s := probing(t, nil, map[string]string{"/v1/models": `{"data":[{"id":"m/x"},{"id":"n"}]}`,
			"/api/ps": `{"models":[]}`})
		s.answers[path] = answer
		s.converse(0, 128_000, 24_576, len(looks))
		if !slices.Equal(s.looks, looks) {
			t.Errorf("it was asked %q, want %q", s.looks, looks)
		}
	}
	f("/v1/models", holds24k, v1)
	f("/props", `{"default_generation_settings":{"n_ctx":24576}}`, v1, props)
	f("/api/ps", `{"models":[{"model":"m/x:latest","context_length":24576}]}`, v1, props, ps)
	f(v0, `{"data":[{"id":"m/x","loaded_context_length":24576,"max_context_length":40960}]}`, v1, props, ps, v0)

	s := probing(t, nil, map[string]string{"/v1/models": holds24k})
	s.Configure(s.config, map[string]bool{"up": false})
	s.answers["/v1/models"] = "{}"
	s.converse(0, 128_000, 128_000, 1) // a provider is asked for its list alone
}

func TestWhatAServerSaidHoldsForAnHour(t *testing.T) {
	s := probing(t, nil, map[string]string{"/v1/models": holds24k})
	s.converse(0, 128_000, 24_576, 1)
	s.converse(time.Hour-time.Second, 24_576, 24_576, 1)
	s.answers["/v1/models"] = `{"data":[{"id":"m/x","max_model_len":65536}]}`
	s.converse(time.Second, 24_576, 65_536, 2)

	// What it does not say any more is not forgotten at once: it may be loading the model.
	clear(s.answers)
	s.converse(time.Hour, 65_536, 65_536, 7)
	s.converse(29*time.Second, 65_536, 65_536, 7)
	s.converse(time.Second, 65_536, 65_536, 12)
	s.converse(time.Hour, 128_000, 128_000, 17)
}
