package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"epitome/proxy/wire"
	"epitome/summarize"
)

// Upstreams are the providers by name, with the connections to them. The proxy sends its clients' requests there, and
// Send and Get those of epitome itself. Make them with NewUpstreams. Methods may be called from any goroutine.
type Upstreams struct {
	life context.Context // of requests of epitome itself
	stop func()

	mu     sync.Mutex
	conf   Settings
	routes *routes
}

// NewUpstreams makes the upstreams of s.
func NewUpstreams(s Settings) (*Upstreams, error) {
	u := &Upstreams{}
	life, cancel := context.WithCancelCause(context.Background())
	u.life, u.stop = life, func() { cancel(errStopped) }
	_, err := u.reload(s)
	return u, err
}

// errStopped says that epitome is being stopped.
var errStopped = errors.New("epitome stops")

// connLimits are the limits that connections to an upstream obey.
func (s *Settings) connLimits() wire.Limits {
	l := cmp.Or(s.limits, &defaultLimits)
	return wire.Limits{Idle: l.upstreamIdle, Dial: l.dial, WriteIdle: l.writeIdle}
}

// reload puts s in force for requests that begin from now on, and returns its routes. Upstreams that s has no more, or
// otherwise, close their connections as these fall idle. On an error the old settings stay.
func (u *Upstreams) reload(s Settings) (*routes, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	next, err := newRoutes(s, u.routes)
	if err != nil {
		return nil, err
	}
	if u.routes != nil {
		u.routes.retire(next)
	}
	u.conf, u.routes = s, next
	return next, nil
}

// retire closes the idle connections of every upstream that next does not use.
func (t *routes) retire(next *routes) {
	for name, up := range t.byName {
		if next == nil || next.byName[name] != up {
			up.pool.Retire()
		}
	}
}

// Close ends the requests of epitome itself, and closes idle connections.
func (u *Upstreams) Close() {
	u.stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.routes.retire(nil)
}

// Send sends a request of epitome itself and returns the whole answer. The request is authorized by the Credential that
// it has, and then goes to the target of that client's own request, or by the key in the environment variable KeyEnv.
// It ends with an error when ctx or the Upstreams end.
func (u *Upstreams) Send(ctx context.Context, r summarize.Request) (summarize.Response, error) {
	head, body, err := u.send(ctx, r.Upstream, r.Body, func(up *upstream) ([]byte, error) { return questionHead(up, r) })
	if err != nil {
		return summarize.Response{}, err
	}
	return summarize.Response{
		Status: head.Code, RetryAfter: string(wire.Find(head.Block, "retry-after")),
		Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// Get asks an upstream about itself, without any client's credential. The path may have a query. Under /v1/ it is that
// of the common API, wherever the upstream has it; any other one lies beside that. It is a window.Get.
func (u *Upstreams) Get(ctx context.Context, name, path string) (status int, answer []byte, err error) {
	head, body, err := u.send(ctx, name, nil, func(up *upstream) ([]byte, error) {
		block := []byte("Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: epitome\r\n")
		r := wire.RequestHead{Method: []byte("GET"), Target: up.target(path), Block: block}
		return r.AppendTo(nil, &up.peer), nil
	})
	if err != nil {
		return 0, nil, err
	}
	return head.Code, body, nil
}

// send sends a body to the upstream of that name, below the head that headFor makes for it. It returns the answer's
// head, and its body without content coding, at most max_body of it.
func (u *Upstreams) send(
	ctx context.Context, name string, body []byte, headFor func(*upstream) ([]byte, error),
) (*wire.Head, []byte, error) {
	u.mu.Lock()
	conf, routes := u.conf, u.routes
	u.mu.Unlock()
	up, err := routes.lookUp(name)
	if err != nil {
		return nil, nil, err
	}
	head, err := headFor(up)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot ask upstream %s: %w", name, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(u.life, func() { cancel(context.Cause(u.life)) })()
	a, err := up.pool.Do(ctx, wire.Request{
		Head: head, Body: body, FirstByte: conf.FirstByteTimeout.D(), ReadIdle: conf.ReadIdle.D(), Dechunk: true,
		Sent: func(bool) {}, Interim: func(*wire.Head) error { return nil },
	})
	var answer []byte
	if err == nil {
		answer, err = readWhole(a, int64(conf.MaxBody))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, fmt.Errorf("cannot ask upstream %s: %w", name, context.Cause(ctx))
	case err != nil:
		return nil, nil, fmt.Errorf("cannot ask upstream %s: %w", name, err)
	}
	return a.Head, answer, nil
}

// readWhole reads the body of an answer and ends it. It returns the body without its content coding, which may have at
// most the given number of bytes.
func readWhole(a *wire.Answer, most int64) (body []byte, err error) {
	defer a.End()
	for err == nil && int64(len(body)) <= most {
		var piece []byte
		piece, err = a.Next()
		body = append(body, piece...)
	}
	switch err {
	case io.EOF:
		return decode(string(wire.Values(a.Block, "content-encoding")), body, most)
	case nil:
		return nil, errTooLarge
	}
	return nil, fmt.Errorf("cannot read the answer to its end: %w", err)
}

// questionHead is the head of a request of epitome itself, with the upstream's own headers as in an exchange.
func questionHead(up *upstream, q summarize.Request) ([]byte, error) {
	block := []byte("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Accept-Encoding: identity\r\n")
	target := up.target(q.Path)
	client, _ := q.Credential.(Credential) // there is none where the upstream is not the one it was given to
	switch {
	case q.KeyEnv != "":
		key := strings.TrimSpace(os.Getenv(q.KeyEnv))
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("the environment variable %s holds no key", q.KeyEnv)
		}
		for _, header := range q.Authorize(key) {
			block = wire.AppendField(block, []byte(header[0]), header[1])
		}
	case client.open != nil:
		c := client.open()
		if c.url != up.config.URL {
			return nil, errors.New("the credential was given to another one, which had this name before")
		}
		block, target = append(block, c.lines...), []byte(c.target)
	}
	if wire.Find(block, "user-agent") == nil { // some providers refuse requests without
		block = append(block, "User-Agent: epitome\r\n"...)
	}
	r := wire.RequestHead{Method: []byte("POST"), Target: target, Block: block, Length: len(q.Body)}
	return r.AppendTo(nil, &up.peer), nil
}
