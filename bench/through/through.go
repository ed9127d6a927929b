// Package through is a policy of a replay that lies behind the wire: what a running proxy makes of a request is what
// arrives at an upstream of its own.
//
// It promises that the proxy is shown to forward to that upstream before anything is measured, that each request is
// matched to the arrival that it caused, and that requests of the proxy's own are told apart and noted. All of it stays
// on this machine.
package through

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/backend"
	"epitome/bench/policy"
	"epitome/bench/price"
	"epitome/bench/wire"
)

// Options are what Open is told.
type Options struct {
	// Proxy is the base URL of a proxy that runs: http and loopback only.
	Proxy string
	// Listen is where the upstream listens that the proxy forwards to, as host:port on loopback.
	Listen string
	// Limit bounds each request, from its first byte to the last one of its answer. Default a minute.
	Limit time.Duration
}

// Proxy replays through a running proxy: each request is posted to it, and what reaches the upstream behind it is what
// was sent. The upstream is this program, and answers each request with a receipt, so that an answer tells which
// request it is for, whatever else the proxy asks in between, and none passes that the proxy made up.
//
// A conversation goes through only after a short request with the model it names has arrived: one that the proxy sends
// elsewhere is not shown what the conversation says.
type Proxy struct {
	Options
	at       wire.Site
	upstream *receiver
	client   *http.Client
	opened   atomic.Int64 // conversations

	models sync.Mutex       // guards proved
	proved map[string]error // by model
}

// Open listens for what the proxy forwards. The caller closes it.
func Open(opts Options) (*Proxy, error) {
	t := &Proxy{Options: opts, proved: make(map[string]error)}
	t.Limit = cmp.Or(t.Limit, time.Minute)
	var err error
	if t.at, err = wire.ParseSite(t.Proxy); err != nil {
		return nil, err
	}
	t.at.Prefix = strings.TrimSuffix(t.at.Prefix, "/v1")
	if t.upstream, err = receive(t.Listen, t.Limit); err != nil {
		return nil, err
	}
	t.client = &http.Client{
		Timeout: t.Limit,
		// No proxy of the environment's and no redirect may take a conversation elsewhere.
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64,
			MaxResponseHeaderBytes: 1 << 20},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return t, nil
}

// Upstream returns the base URL that the proxy has to forward to.
func (t *Proxy) Upstream() string { return "http://" + t.upstream.ln.Addr().String() }

// Policy returns the proxy as a policy, a guest of a replay. It has the window that it is set to, whatever the replay
// is told. Its decisions are its own, so each change of what had been sent counts as one; and it is not asked to put
// requests together again.
func (t *Proxy) Policy() policy.Policy {
	return policy.Policy{Name: "through " + t.at.Addr + t.at.Prefix, Open: func(policy.Setting) (policy.Shaping, error) {
		key := fmt.Sprintf("Bearer bench-%s-%d", t.upstream.run, t.opened.Add(1))
		return policy.Shaping{Shaper: passage{t, key}, Artifact: t.artifact}, nil
	}}
}

// Notes tells what the figures do not count.
func (t *Proxy) Notes() []string {
	if n, chars := t.upstream.countUnclaimed(); n > 0 {
		return []string{fmt.Sprintf("%s also sent %d requests that no answer came back for, of %d tokens together, which no figure counts",
			t.Policy().Name, n, price.TokensOf(chars))}
	}
	return []string{}
}

// Close ends the listening.
func (t *Proxy) Close() error {
	t.client.CloseIdleConnections()
	return t.upstream.close()
}

// passage shapes one conversation. Its key is a credential of its own, by which a proxy may tell conversations apart.
type passage struct {
	proxy *Proxy
	key   string
}

// Shape posts the request and returns what reached the upstream.
func (p passage) Shape(body []byte, _ time.Time) (policy.Shaped, error) {
	if err := p.proxy.prove(gjson.GetBytes(body, "model").String(), p.key); err != nil {
		return policy.Shaped{}, err
	}
	sent, err := p.proxy.post(body, p.key)
	return policy.Shaped{Body: sent, Decided: true}, err
}

// prove finds out, once for each model, whether what the proxy gets arrives at the upstream.
func (t *Proxy) prove(model, key string) error {
	t.models.Lock()
	defer t.models.Unlock()
	err, known := t.proved[model]
	if known {
		return err
	}
	probe, err := json.Marshal(map[string]any{"model": model, "messages": []any{map[string]any{
		"role": "user", "content": "This asks whether requests arrive where they are replayed to.",
	}}})
	if err != nil {
		return err
	}
	if _, err = t.post(probe, key); err != nil && !errors.Is(err, policy.ErrNoWay) {
		err = fmt.Errorf("%w: requests with model %q do not reach %s, to which it has to forward: %w", policy.ErrNoWay,
			model, t.Upstream(), err)
	}
	t.proved[model] = err
	return err
}

// mostAnswer is how much of an answer is looked at, in bytes. The receipt stands at its beginning.
const mostAnswer = 1 << 20

// post sends a request through the proxy and returns what arrived.
func (t *Proxy) post(body []byte, key string) ([]byte, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, t.url(backend.ChatPath),
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", key)
	request.Header.Set("Content-Type", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", policy.ErrNoWay, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("%w: cannot read its answer: %w", policy.ErrNoWay, err)
	}
	if sent, found := t.upstream.claim(answer); found {
		return sent, nil
	}
	return nil, fmt.Errorf("the proxy answered by itself, %s: %.200q", response.Status, answer)
}

func (t *Proxy) url(path string) string { return "http://" + t.at.Addr + t.at.Prefix + path }

// artifact asks the proxy for an artifact in the way that epitome answers. Other proxies have none.
func (t *Proxy) artifact(name string) ([]byte, bool) {
	response, err := t.client.Get("http://" + t.at.Addr + "/-/artifacts/" + name)
	if err != nil {
		return nil, false
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, mostBody))
	return content, err == nil && response.StatusCode == http.StatusOK
}
