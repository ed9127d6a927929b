package proxy

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/messages"
)

// flusher is a coding that gives what it has.
type flusher interface {
	io.Writer
	Flush() error
}

// What a server flushes event by event can be read without its end.
func TestAnEarReadsWhatCameOfACodedAnswer(t *testing.T) {
	const start = `data: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":0,` +
		`"cache_creation_input_tokens":0,"output_tokens":1}}}` + "\n\n"
	const said = `data: {"type":"content_block_delta","delta":{"text":"a"}}` + "\n\n"
	f := func(coding string, more int, make func(w io.Writer) flusher) {
		t.Helper()
		var coded bytes.Buffer
		w := make(&coded)
		for _, text := range append([]string{start}, strings.Repeat(said, more)) {
			if _, err := io.WriteString(w, text); err != nil || w.Flush() != nil {
				t.Fatal(err)
			}
		}
		e := &ear{}
		e.Of(messages.Dialect{})
		a := &wire.Answer{Head: &wire.Head{Block: []byte("Content-Encoding: " + coding + "\r\n")}}
		e.Listen(a)
		e.Hear(coded.Bytes())
		want := event.Usage{Source: event.UsageProvider, Input: 3, Output: 1, Cut: true}
		if u, _ := e.Usage(e.ReadEnd(a, 1<<20)); u != want {
			t.Errorf("%s: of %d bytes is heard %+v", coding, coded.Len(), u)
		}
	}
	for _, more := range []int{0, 1, 1000} {
		f("gzip", more, func(w io.Writer) flusher { return gzip.NewWriter(w) })
		f("deflate", more, func(w io.Writer) flusher { return zlib.NewWriter(w) })
		f("br", more, func(w io.Writer) flusher { return brotli.NewWriter(w) })
		f("zstd", more, func(w io.Writer) flusher {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		})
	}
}
