package daemon

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/summarize"
	"epitome/tokenize"
)

// nobodys is a model whose vocabulary is not known, and ownRatio what is taken for its ratio until answers say
// otherwise.
const (
	nobodys  = "nobody-1"
	ownRatio = 1.1
)

// tellingProvider is a provider that says of each request how many tokens it had.
type tellingProvider struct {
	*provider
	plain scale

	mu   sync.Mutex
	tell func(counted int) string // usage, for a request of so many tokens as counted here
	got  [][]byte
}

// tellsUsage starts one.
func tellsUsage(t *testing.T, tell func(counted int) string) *tellingProvider {
	p := &tellingProvider{tell: tell, plain: scale{scaled().Scale}}
	p.plain.Model = tokenize.NewModels().Of(nobodys)
	p.provider = &provider{t: t, window: itsWindow, over: make(chan struct{}), scale: scaled(), turns: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *tellingProvider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":"stop"}]%s}`, atWork(len(p.got)), p.tell(p.plain.count(body)))
}

// times is usage of so many tokens for one that is counted here.
func times(ratio float64) func(int) string {
	return func(counted int) string {
		return fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":9}`, int(float64(counted)*ratio))
	}
}

// tells has the provider say something else from now on.
func (p *tellingProvider) tells(tell func(int) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell = tell
}

// requests is how many came.
func (p *tellingProvider) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.got)
}

// sent is the k-th request that came.
func (p *tellingProvider) sent(k int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.got[k])
}

func (p *tellingProvider) serves(folder string) *inService {
	return served(p.provider, folder, func(c *config.Config) {
		c.Window.Models = map[string]unit.Tokens{nobodys: itsWindow}
		c.Summarize.Mode = summarize.Intent // so that all that is sent is the agent's
	})
}

// stranger is an agent that talks to that model.
type stranger struct {
	*worker
	p      *tellingProvider
	r      *inService
	bodies [][]byte
}

func (p *tellingProvider) agent(r *inService) *stranger {
	a := &stranger{worker: working(r), p: p, r: r}
	a.messages[0] = message("system", strings.Repeat("You are an agent that changes programs. ", 300)) // so that the first answer teaches
	return a
}

// turn is one round of the loop, and how many tokens the header tells for one that is counted here.
func (s *stranger) turn() (got reply, ratio float64) {
	s.t.Helper()
	body := bytes.Replace(s.body(), []byte(theModel), []byte(nobodys), 1)
	s.bodies = append(s.bodies, body)
	const ended = "msg=exchange"
	before := strings.Count(s.r.log.String(), ended)
	got, err := s.send(s.t.Context(), body)
	if err != nil || got.status != http.StatusOK {
		s.t.Fatalf("got %+v, %v", got, err)
	}
	if !fakeapi.Eventually(func() bool { return strings.Count(s.r.log.String(), ended) > before }) {
		s.t.Fatal("the exchange does not end")
	}
	s.react(got)
	return got, float64(got.before) / float64(s.p.plain.count(body))
}

// wants says which ratio the header of the next turn must show.
func (s *stranger) wants(want float64) reply {
	s.t.Helper()
	got, ratio := s.turn()
	if math.Abs(ratio-want) > .01 {
		s.t.Errorf("turn %d: the header says %d tokens, %.3f times what is counted, want %.3f times", len(s.bodies), got.before, ratio, want)
	}
	return got
}

// What answers tell of a model moves what the header says and the line, outlives the process, and changes nothing that
// was decided.
func TestAnswersTeachHowAModelCounts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p := tellsUsage(t, times(1.5))
	r := p.serves(folder)
	a := p.agent(r)
	for range 3 {
		a.wants(ownRatio)
	}
	for {
		got := a.wants(1.5)
		if got.before > 2*itsWindow {
			t.Fatal("nothing is ever cleared")
		}
		if got.action != "clear" && got.action != "compact" {
			continue
		}
		if line := itsUsable * 8 / 10; got.before < line || got.before > line*12/10 {
			t.Errorf("with %d tokens the action is %s; the line is %d", got.before, got.action, line)
		}
		break
	}
	r.logs(`msg=exchange .*tokens_after=\d+ ratio=1\.5 `)
	r.stops()

	r = p.serves(folder)
	a.url, a.r = r.url, r
	a.wants(1.5)
	first := p.requests()
	p.tells(times(2.4))
	other := p.agent(r)
	other.own = "that"
	for _, ratio := range []float64{1.5, 1.5, 1.5, 1.5, 2.4} {
		other.wants(ratio)
	}
	first = p.requests() - first
	for k, body := range a.bodies {
		if got, err := a.send(t.Context(), body); err != nil ||
			math.Abs(float64(got.before)/float64(p.plain.count(body))-2.4) > .01 {
			t.Errorf("request %d again: %+v, %v", k, got, err)
		}
		if k < len(a.bodies)-1 && p.sent(k) != p.sent(len(a.bodies)+first+k) {
			t.Errorf("request %d is sent in another form when the ratio has moved", k)
		}
	}
	r.stops()
}
