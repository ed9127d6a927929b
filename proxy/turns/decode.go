package turns

import (
	"bytes"
	"io"

	"epitome/proxy/wire"
)

// Decodes is how many bodies are decoded at once: each may take some times max_body of memory, for a moment.
const Decodes = 2

// Places bound how many do something at once.
type Places chan struct{}

// Take waits for a place. leave gives it back.
func (p Places) Take() (leave func()) {
	p <- struct{}{}
	return func() { <-p }
}

// Decode reads at most most bytes out of a body that is encoded, until the call is cut.
func Decode(encoding, body []byte, call *wire.Call, most int64) ([]byte, error) {
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
