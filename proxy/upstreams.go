package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"unicode"

	"epitome/proxy/wire"
	"epitome/summarize"
)

// Upstreams are the providers by name, with the connections to them. The proxy sends its clients' requests there, and
// Send and Get those of epitome itself. Make them with NewUpstreams. Methods may be called from any goroutine.
type Upstreams struct{ settings atomic.Pointer[settings] }

// NewUpstreams makes the upstreams of s.
func NewUpstreams(s Settings) (*Upstreams, error) {
	set, err := newSettings(s, &settings{})
	if err != nil {
		return nil, err
	}
	u := &Upstreams{}
	u.settings.Store(set)
	return u, nil
}

// Send sends a request of epitome itself and returns the whole answer. The request is authorized by the credential that
// it has, and then goes to the target of that client's own request, or by the key in the environment variable KeyEnv.
// It ends with an error when ctx ends.
func (u *Upstreams) Send(ctx context.Context, r summarize.Request) (answer summarize.Response, err error) {
	up, err := u.settings.Load().lookUp(r.Upstream)
	if err != nil {
		return answer, err
	}
	head, err := up.questionHead(r)
	if err != nil {
		return answer, fmt.Errorf("cannot ask upstream %s: %w", up.name, err)
	}
	got, body, err := u.send(ctx, up, head, r.Body)
	if err != nil {
		return answer, err
	}
	after := string(wire.Find(got.Block, "retry-after"))
	return summarize.Response{Status: got.Code, Body: io.NopCloser(bytes.NewReader(body)), RetryAfter: after}, nil
}

// Get asks an upstream about itself, without any client's credential. The path may have a query. Under /v1/ it is that
// of the common API, wherever the upstream has it; any other one lies beside that. It is a window.Get.
func (u *Upstreams) Get(ctx context.Context, name, path string) (status int, answer []byte, err error) {
	up, err := u.settings.Load().lookUp(name)
	if err != nil {
		return 0, nil, err
	}
	got, answer, err := u.send(ctx, up, wire.RequestHead{
		Method: []byte("GET"), Target: up.target(path),
		Block: []byte("Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: epitome\r\n"),
	}, nil)
	if err != nil {
		return 0, nil, err
	}
	return got.Code, answer, nil
}

// send sends a request, and returns the answer, and its body without content coding, at most max_body of it.
func (u *Upstreams) send(
	ctx context.Context, up *upstream, head wire.RequestHead, content []byte,
) (got *wire.Answer, body []byte, err error) {
	conf := &u.settings.Load().conf
	got, err = up.pool.Do(ctx, wire.Request{
		Head: head.AppendTo(nil, &up.peer), Body: content, Dechunk: true,
		FirstByte: conf.FirstByteTimeout.D(), ReadIdle: conf.ReadIdle.D(),
		Interim: func(*wire.Head) error { return nil },
	})
	if err == nil {
		body, err = readWhole(got, int64(conf.MaxBody))
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot ask upstream %s: %w", up.name, err)
	}
	return got, body, nil
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
	if err == nil {
		return nil, errTooLarge
	} else if err != io.EOF {
		return nil, fmt.Errorf("cannot read the answer to its end: %w", err)
	}
	return decode(string(wire.Values(a.Block, "content-encoding")), body, most)
}

// questionHead returns the head of a request of epitome itself for a model.
func (up *upstream) questionHead(q summarize.Request) (head wire.RequestHead, _ error) {
	block := []byte("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Accept-Encoding: identity\r\n")
	target := up.target(q.Path)
	client, _ := q.Credential.(*credential) // there is none where the upstream is not the one it was given to
	switch {
	case q.KeyEnv != "":
		key := strings.TrimSpace(os.Getenv(q.KeyEnv))
		if key == "" || strings.ContainsFunc(key, unicode.IsControl) {
			return head, fmt.Errorf("the environment variable %s holds no key", q.KeyEnv)
		}
		for _, header := range q.Authorize(key) {
			block = wire.AppendField(block, []byte(header[0]), header[1])
		}
	case client != nil && client.url != up.config.URL:
		return head, errors.New("the credential was for an earlier upstream of this name")
	case client != nil:
		block, target = append(block, client.lines...), []byte(client.target)
	}
	if wire.Find(block, "user-agent") == nil { // some providers refuse requests without
		block = append(block, "User-Agent: epitome\r\n"...)
	}
	return wire.RequestHead{Method: []byte("POST"), Target: target, Block: block, Length: len(q.Body)}, nil
}
