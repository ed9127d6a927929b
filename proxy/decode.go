package proxy

import (
	"bytes"
	"io"

	"epitome/proxy/wire"
)

// decodes is how many bodies are decoded at once: each may take some times max_body of memory, for a moment.
const decodes = 2

// opened is an encoded body without its coding, for which there is room, or why there is none.
type opened struct {
	body []byte
	err  error
}

// decoded is the body without its content coding, at most max_body of it. A body that is not encoded is returned as it
// is. It stops when the client leaves.
func (x *exchange) decoded(encoding, body []byte) ([]byte, error) {
	if !wire.IsEncoded(encoding) {
		return body, nil
	}
	x.proxy.decoding <- struct{}{}
	defer func() { <-x.proxy.decoding }()
	return decode(encoding, body, &x.call, int64(x.set.conf.MaxBody))
}

// decode reads at most most bytes out of a body that is encoded, until the call is cut. The caller has a place in
// decoding.
func decode(encoding, body []byte, call *wire.Call, most int64) ([]byte, error) {
	r, err := wire.NewDecoder(string(encoding), &whileThere{bytes.NewReader(body), call}, most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// whileThere ends a body when its client has left.
type whileThere struct {
	io.Reader
	call *wire.Call
}

func (w *whileThere) Read(p []byte) (int, error) {
	if w.call.IsCut() {
		return 0, wire.ErrGone
	}
	return w.Reader.Read(p)
}
