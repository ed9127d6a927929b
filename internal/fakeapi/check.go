package fakeapi

import (
	"bytes"
	"fmt"
	"strings"
)

func wantHeader(name, value string) func(*Request) string {
	return func(r *Request) string {
		var got []string
		for _, h := range r.Header {
			if h == [2]string{name, value} {
				return ""
			}
			if strings.EqualFold(h[0], name) {
				got = append(got, h[0]+": "+h[1])
			}
		}
		return fmt.Sprintf("got headers %q; want %q", got, name+": "+value)
	}
}

func wantNoHeader(name string) func(*Request) string {
	return func(r *Request) string {
		for _, h := range r.Header {
			if strings.EqualFold(h[0], name) {
				return fmt.Sprintf("got header %q; want none of this name", h[0]+": "+h[1])
			}
		}
		return ""
	}
}

func wantBody(want []byte) func(*Request) string {
	return func(r *Request) string {
		if bytes.Equal(r.Body, want) {
			return ""
		}
		at := 0
		for at < min(len(want), len(r.Body)) && want[at] == r.Body[at] {
			at++
		}
		return fmt.Sprintf("got a body of %d bytes, want %d; from byte %d on got %q, want %q",
			len(r.Body), len(want), at, excerpt(r.Body[at:]), excerpt(want[at:]))
	}
}

func wantBodySize(want int) func(*Request) string {
	return func(r *Request) string {
		if len(r.Body) == want {
			return ""
		}
		return fmt.Sprintf("got a body of %d bytes; want %d", len(r.Body), want)
	}
}

// excerpt returns the beginning of p.
func excerpt(p []byte) []byte { return p[:min(len(p), 60)] }
