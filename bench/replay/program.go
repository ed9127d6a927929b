package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidwall/sjson"
)

// programPolicy shapes each session through another epitome's program, which is started for it in front of a stand-in
// for the provider. Summaries are made by code, as those that a model makes in the background depend on the speed of
// the machine. Nobody knows the program's decisions, so each change of earlier messages counts as one.
func programPolicy(ctx context.Context, path, preset string) policy {
	return policy{name: "epitome, " + path, open: func(s *session, window int) (shaper, error) {
		p := &program{session: s, window: window}
		if err := p.start(ctx, path, preset); err != nil {
			p.close()
			return nil, fmt.Errorf("cannot start %s: %w", path, err)
		}
		return p, nil
	}}
}

// program is a running epitome, and the stand-in for its provider.
type program struct {
	session  *session
	window   int
	folder   string // of its configuration and data
	url      string
	stop     context.CancelFunc
	process  *exec.Cmd
	provider *http.Server

	mu   sync.Mutex
	sent []byte // the request that the provider got last
}

// start starts the provider and the program, and waits until the program is ready.
func (p *program) start(ctx context.Context, path, preset string) (err error) {
	ctx, p.stop = context.WithCancel(ctx)
	if p.folder, err = os.MkdirTemp("", "replay-"); err != nil {
		return err
	}
	config := filepath.Join(p.folder, "config.toml")
	text := fmt.Sprintf("[window]\ndefault = %d\nmodels = { \"*\" = %[1]d }\nprobe = false\n"+
		"[summarize]\nmode = \"intent\"\n[rewrite]\npreset = %q\n", p.window, preset)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.provider = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.provider.Serve(listener) }() // until close
	free, err := net.Listen("tcp", "127.0.0.1:0")  // a port that the program can have
	if err != nil {
		return err
	}
	_ = free.Close()
	p.url = "http://" + free.Addr().String()
	p.process = exec.CommandContext(ctx, path, "serve", "--config", config, "--listen", free.Addr().String(),
		"--upstream", "http://"+listener.Addr().String(), "--data", filepath.Join(p.folder, "data"))
	p.process.Cancel = func() error { return p.process.Process.Signal(os.Interrupt) }
	p.process.WaitDelay = 10 * time.Second
	if err := p.process.Start(); err != nil {
		return err
	}
	for range 600 {
		if _, err = p.do(http.MethodGet, "/-/ready", nil); err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func (p *program) close() {
	p.stop()
	if p.process != nil && p.process.Process != nil {
		_ = p.process.Wait() // it was interrupted
	}
	if p.provider != nil {
		_ = p.provider.Close()
	}
	_ = os.RemoveAll(p.folder)
}

// ServeHTTP is the provider: it keeps the request, refuses one over the window, and answers any other with "ok".
func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program went away
	}
	p.mu.Lock()
	p.sent = body
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if q, err := p.session.read(body, nil, map[string]*message{}); err == nil && q.tokens > p.window {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"This `+
			`model's maximum context length is %d tokens. However, your messages resulted in %d tokens."}}`,
			p.window, q.tokens)
		return
	}
	_, _ = w.Write(chatAnswer("ok"))
}

// chatAnswer returns a response of Chat Completions with a text.
func chatAnswer(text string) []byte {
	body, _ := sjson.SetBytes([]byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,`+
		`"model":"replay","choices":[{"index":0,"message":{"role":"assistant"},"finish_reason":"stop"}]}`),
		"choices.0.message.content", text)
	return body
}

func (p *program) shape(original *request) (shaped, error) {
	p.mu.Lock()
	p.sent = nil
	p.mu.Unlock()
	answer, err := p.do(http.MethodPost, "/v1/chat/completions", original.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == nil { // the program answered by itself
		return shaped{}, errors.Join(err, fmt.Errorf("nothing was sent: %.200s", answer))
	}
	return shaped{body: p.sent, isDecided: true}, nil
}

func (p *program) artifact(name string) string {
	content, err := p.do(http.MethodGet, "/-/artifacts/"+name, nil)
	if err != nil {
		return ""
	}
	return string(content)
}

// do sends a request to the program, and returns the body of the answer. Any status but 200 is an error.
func (p *program) do(method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, p.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return content, err
}
