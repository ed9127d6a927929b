package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"epitome/proxy/wire"
)

// Question is a request of epitome's own.
type Question struct {
	Upstream   string     // its name
	Body       []byte     // JSON
	Path       string     // where its API takes the body, as for Get
	Credential Credential // for whom to ask, and where: at the target of the client's own request, not at Path
	KeyEnv     string     // the environment variable that holds the key to ask with, in place of a Credential
	// Authorize gives the headers, by names and values, with which its API takes a key: the one of KeyEnv.
	Authorize func(key string) (headers [][2]string)
}

// Format keeps credential and body out of everything that prints.
func (Question) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a question to an upstream") }

// LogValue does the same for logs.
func (Question) LogValue() slog.Value { return slog.StringValue("a question to an upstream") }

// Reply is the answer to a Question or to Get.
type Reply struct {
	Status      int
	ContentType string
	RetryAfter  string // the header as it came

	// Body is without content coding. It ends with an error when the context ends that the question was asked in. It
	// may be closed twice, and while a Read waits, which then returns.
	Body io.ReadCloser
}

// errStopped says that epitome is being stopped.
var errStopped = errors.New("epitome stops")

// Ask sends a question and returns when the head of its answer is there. It takes one of the upstream's connections,
// as an exchange does, and never waits for one; Cut ends it, and Shutdown does not wait for it. Unless there is an
// error, Reply.Body has to be closed.
func (p *Proxy) Ask(ctx context.Context, q Question) (Reply, error) {
	return p.asks(ctx, q.Upstream, q.Body, q.head)
}

// Get asks an upstream about itself, as Ask sends a question, but speaks for no client. The path may have a query. Under
// /v1/ it is that of the common API, wherever the upstream has it; any other one lies beside that.
func (p *Proxy) Get(ctx context.Context, name, path string) (Reply, error) {
	return p.asks(ctx, name, nil, func(up *upstream) ([]byte, error) {
		block := []byte("Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: epitome\r\n")
		r := wire.RequestHead{Method: []byte("GET"), Target: up.Target(path), Block: block}
		return r.AppendTo(nil, &up.Peer), nil
	})
}

// asks sends a body to an upstream, below the head that headFor makes for it.
func (p *Proxy) asks(
	ctx context.Context, upstream string, body []byte, headFor func(*upstream) ([]byte, error),
) (Reply, error) {
	set := p.settings.Load()
	up := set.table.ByName[upstream]
	if up == nil {
		return Reply{}, fmt.Errorf("cannot ask upstream %q: known are %s", upstream, set.table.Names())
	}
	head, err := headFor(up)
	if err != nil {
		return Reply{}, fmt.Errorf("cannot ask upstream %s: %w", upstream, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.traffic.life, func() { cancel(errStopped) })
	a, answer, err := wire.Ask(ctx, up.Pool, wire.Request{
		Head: head, Body: body, FirstByte: set.conf.FirstByteTimeout.D(), ReadIdle: set.conf.ReadIdle.D(),
		Sent: func(bool) {}, Interim: func(*wire.Head) error { return nil },
	}, int64(set.conf.MaxBody), func() { stop(); cancel(nil) })
	if err != nil {
		return Reply{}, fmt.Errorf("cannot ask upstream %s: %w", upstream, err)
	}
	text := func(name string) string { return string(wire.Find(a.Block, name)) }
	return Reply{Status: a.Code, ContentType: text("content-type"), RetryAfter: text("retry-after"), Body: answer}, nil
}

// head is the question's head, with the upstream's own headers in place of the question's, as in an exchange.
func (q Question) head(up *upstream) ([]byte, error) {
	block := []byte("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAccept-Encoding: identity\r\n")
	target := up.Target(q.Path)
	if q.KeyEnv != "" {
		key := strings.TrimSpace(os.Getenv(q.KeyEnv))
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("the environment variable %s holds no key", q.KeyEnv)
		}
		for _, header := range q.Authorize(key) {
			block = wire.AppendField(block, []byte(header[0]), header[1])
		}
	} else if q.Credential.open != nil {
		c := q.Credential.open()
		if c.url != up.Config.URL {
			return nil, errors.New("the credential was given to another one, which had this name before")
		}
		block, target = append(block, c.block...), []byte(c.target)
	}
	if wire.Find(block, "user-agent") == nil { // some providers refuse requests without
		block = append(block, "User-Agent: epitome\r\n"...)
	}
	r := wire.RequestHead{Method: []byte("POST"), Target: target, Block: block, Length: len(q.Body)}
	return r.AppendTo(nil, &up.Peer), nil
}
