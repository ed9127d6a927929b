package proxy

import (
	"epitome/proxy/turns"
	"epitome/proxy/wire"
)

// opened is an encoded body without its coding, for which there is room, or why there is none; and from when the
// conversation in it is shaped, what it has of asides.
type opened struct {
	asides
	body []byte
	err  error
}

// decoded is the body without its content coding, at most max_body of it. A body that is not encoded is returned as it
// is. It stops when the client leaves.
func (x *exchange) decoded(encoding, body []byte) ([]byte, error) {
	if !wire.IsEncoded(encoding) {
		return body, nil
	}
	defer x.proxy.decoding.Take()()
	return turns.Decode(encoding, body, &x.call, int64(x.set.conf.MaxBody))
}
