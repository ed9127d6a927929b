package subject

// Another program's serve is played like epitome itself: each request is posted to a process of that program, and the
// body that reaches the upstream behind it is measured. The upstream gives each request a receipt in a header of the
// answer, which tells the request it is for, and refuses a request that is larger than the window.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"epitome/bench/load"
	"epitome/bench/policy"
)

// Program is a program to play conversations through. It serves once for each window.
type Program struct {
	path   string
	preset string
	unit   policy.Unit
	limit  time.Duration // of each request, from its first byte to the last one of its answer
	client *http.Client
	folder string // of configurations
	opened atomic.Int64

	mu    sync.Mutex // guards lanes
	lanes map[int]*lane
}

// lane is a running process with the upstream behind it.
type lane struct {
	upstream *upstream
	process  *load.Lane
}

// Open prepares to play through the program in the file path with the given preset; requests are held against the
// window in the given unit. The caller closes it.
func Open(path, preset string, unit policy.Unit) (*Program, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("cannot find program %s: %w", path, err)
	}
	if path, err = filepath.Abs(found); err != nil {
		return nil, fmt.Errorf("cannot find program %s: %w", found, err)
	}
	folder, err := os.MkdirTemp("", "replay-")
	if err != nil {
		return nil, err
	}
	return &Program{
		path: path, preset: preset, unit: unit, limit: time.Minute, folder: folder, lanes: make(map[int]*lane),
		client: &http.Client{
			Timeout: time.Minute,
			// No proxy of the environment's and no redirect may take a conversation elsewhere.
			Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Policy returns the program as a guest of a replay. Its decisions are its own, so each change of what had been sent
// counts as one.
func (p *Program) Policy() policy.Policy {
	return policy.Policy{Name: "epitome, " + p.path, Open: func(s policy.Setting) (policy.Shaping, error) {
		at, err := p.lane(s.Window)
		if err != nil {
			return policy.Shaping{}, err
		}
		c := &passage{program: p, lane: at, path: pathOf(s.Dialect.Name()),
			key: fmt.Sprintf("Bearer replay-%d", p.opened.Add(1))}
		if c.path == "" {
			return policy.Shaping{}, fmt.Errorf("cannot play requests of the dialect %s", s.Dialect.Name())
		}
		return policy.Shaping{Shaper: c, Artifact: c.artifact}, nil
	}}
}

// Close ends the processes.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client.CloseIdleConnections()
	errs := []error{os.RemoveAll(p.folder)}
	for _, l := range p.lanes {
		l.process.Stop()
		errs = append(errs, l.upstream.close())
	}
	return errors.Join(errs...)
}

// lane returns the process for a window, which it starts for the first conversation.
func (p *Program) lane(window int) (*lane, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.lanes[window]; l != nil {
		return l, nil
	}
	up, err := serveUpstream(window, p.unit)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(p.folder, fmt.Sprintf("%d.toml", window))
	text := fmt.Sprintf("scope = \"credential\"\n[window]\ndefault = %d\nmodels = { \"*\" = %d }\nprobe = false\n"+
		"[summarize]\nmode = \"intent\"\n[rewrite]\npreset = %q\n", window, window, p.preset)
	if err = os.WriteFile(config, []byte(text), 0o600); err == nil {
		l := &lane{upstream: up}
		l.process, err = load.Launch(context.Background(), load.Contender{Name: p.path, Ready: "/-/ready",
			Leave: 20 * time.Second, Command: []string{p.path, "serve", "--config", config, "--listen", "{listen}",
				"--upstream", "{upstream}", "--data", "{dir}"}}, up.url())
		if err == nil {
			p.lanes[window] = l
			return l, nil
		}
	}
	return nil, errors.Join(err, up.close())
}

// passage plays one conversation, with a credential of its own, so that none shares a scope with another.
type passage struct {
	program *Program
	lane    *lane
	path    string
	key     string
}

// Shape posts the request and returns what reached the upstream last.
func (c *passage) Shape(body []byte, _ time.Time) (policy.Shaped, error) {
	request, err := c.request(http.MethodPost, c.path, bytes.NewReader(body))
	if err != nil {
		return policy.Shaped{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := c.program.client.Do(request)
	if err != nil {
		return policy.Shaped{}, fmt.Errorf("%w: %w", policy.ErrNoWay, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return policy.Shaped{}, fmt.Errorf("%w: cannot read its answer: %w", policy.ErrNoWay, err)
	}
	sent, found := c.lane.upstream.claim(response.Header.Get(receiptHeader))
	if !found {
		return policy.Shaped{}, fmt.Errorf("the program answered by itself, %s: %.200q", response.Status, answer)
	}
	return policy.Shaped{Body: sent, Decided: true}, nil
}

func (c *passage) request(method, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, "http://"+c.lane.process.Addr+path, body)
	if err == nil {
		request.Header.Set("Authorization", c.key)
	}
	return request, err
}

// artifact asks the program for what it took out.
func (c *passage) artifact(name string) ([]byte, bool) {
	request, err := c.request(http.MethodGet, "/-/artifacts/"+name, nil)
	if err != nil {
		return nil, false
	}
	response, err := c.program.client.Do(request)
	if err != nil {
		return nil, false
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return content, err == nil && response.StatusCode == http.StatusOK
}

// pathOf is where requests of a dialect are posted to; empty for a dialect that is not known.
func pathOf(dialect string) string {
	for path, d := range dialects {
		if d.Name() == dialect {
			return path
		}
	}
	return ""
}
