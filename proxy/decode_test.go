package proxy

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"epitome/rewrite/chat"
	"epitome/unit"
)

// codings are the ways a body may be compressed; raw deflate is what some clients send under deflate's name.
var codings = []struct {
	name   string // in Content-Encoding
	encode func(io.Writer) io.WriteCloser
}{
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"x-gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }},
	{"deflate", rawDeflate},
	{"br", func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) }},
	{"zstd", newZstd},
}

func rawDeflate(w io.Writer) io.WriteCloser {
	z, err := flate.NewWriter(w, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	return z
}

func newZstd(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err)
	}
	return z
}

func encode(tb testing.TB, body []byte, layers ...func(io.Writer) io.WriteCloser) []byte {
	tb.Helper()
	for _, layer := range layers {
		var out bytes.Buffer
		w := layer(&out)
		if _, err := w.Write(body); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		body = out.Bytes()
	}
	return body
}

// reads is an exchange that only looks into bodies.
func reads(most unit.Bytes) *exchange {
	return &exchange{
		proxy: &Proxy{plugs: Plugs{Dialects: []Dialect{chat.Wire{}}}, decoding: make(chan struct{}, 1)},
		set:   &settings{Settings: Settings{Config: Config{MaxBody: most}}},
	}
}

// plainBodies compress well, not at all, and hardly.
func plainBodies() map[string][]byte {
	noise := make([]byte, 100_000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	return map[string][]byte{
		"empty": {}, "byte": {'{'}, "JSON": []byte(strings.Repeat(`{"role":"user","content":"hi"},`, 5000)), "noise": noise,
	}
}

func TestDecodedIsTheOriginal(t *testing.T) {
	p := reads(unit.MB)
	f := func(encoding string, body, encoded []byte) {
		t.Helper()
		got, err := p.decoded([]byte(encoding), encoded)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q: got %d bytes (%v), want the %d that were encoded", encoding, len(got), err, len(body))
		}
	}
	for _, body := range plainBodies() {
		f("", body, body)
		f("identity", body, body)
		f("IDENTITY", body, body)
		for _, c := range codings {
			f(c.name, body, encode(t, body, c.encode))
			f(" "+strings.ToUpper(c.name)+"\t", body, encode(t, body, c.encode))
			f("identity, "+c.name, body, encode(t, body, c.encode))
			for _, outer := range codings {
				f(c.name+", "+outer.name, body, encode(t, body, c.encode, outer.encode))
			}
		}
	}
	two := append(encode(t, []byte("a"), codings[0].encode), encode(t, []byte("b"), codings[0].encode)...)
	f("gzip", []byte("ab"), two) // members one behind the other are one body
}

func TestPlainBodyIsNotCopied(t *testing.T) {
	body := []byte("{}")
	for _, encoding := range []string{"", "identity"} {
		got, err := reads(1).decoded([]byte(encoding), body) // it has been let in already: the limit does not count here
		if err != nil || &got[0] != &body[0] {
			t.Errorf("%q: got %q (%v), want the body itself", encoding, got, err)
		}
	}
}

func TestUnreadableCodingsAreErrors(t *testing.T) {
	f := func(encoding, body, want string) {
		t.Helper()
		if got, err := reads(unit.MB).decoded([]byte(encoding), []byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q and error %v, want one that says %q", encoding, got, err, want)
		}
	}
	f("compress", "x", `coding "compress"`)
	f("gzip;q=1", "x", "coding")
	f("gzip, lzma", "x", `coding "lzma"`)
	f("gzip gzip", "x", "coding")
	f("gzip, gzip, gzip", "x", "3 content codings")
	f("identity,identity,gzip", "x", "3 content codings")
	f(strings.Repeat("gzip,", 10_000), "x", "content codings")
	f("gzip", "no gzip at all", "")
	f("gzip", "", "")
	f("br", "\xff\xff\xff\xff", "")
	f("zstd", "no zstd at all", "")
	f("deflate", "\xff\xff\xff\xff", "")
}

// A body that was cut must not pass for a shorter one, wherever it was cut.
func TestTruncatedBodyIsAnError(t *testing.T) {
	body := []byte(`{"model":"x","messages":[` + strings.Repeat(`{"role":"user"},`, 20) + `]}`)
	for _, c := range codings {
		whole := encode(t, body, c.encode)
		for n := 1; n < len(whole); n++ {
			if got, err := reads(unit.MB).decoded([]byte(c.name), whole[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes were read as %q", c.name, n, len(whole), got)
			}
		}
	}
}

func TestBombsAreRefusedWithBoundedMemory(t *testing.T) {
	const most = unit.MB
	zeros := make([]byte, 32*most)
	f := func(encoding string, bomb []byte) {
		t.Helper()
		if len(bomb) > int(most)/4 {
			t.Fatalf("%q: %d bytes are no bomb", encoding, len(bomb))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := reads(most).decoded([]byte(encoding), bomb)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errBomb) {
			t.Errorf("%q: error %v, want %v", encoding, err, errBomb)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 16<<20 {
			t.Errorf("%q: %d bytes were allocated for a limit of %d", encoding, spent, most)
		}
	}
	for _, c := range codings {
		bomb := encode(t, zeros, c.encode)
		f(c.name, bomb)
		f(c.name+", gzip", encode(t, bomb, codings[0].encode))
	}
}

func TestBodyOfExactlyTheLimitIsRead(t *testing.T) {
	for _, c := range codings {
		for size, want := range map[int]error{999: nil, 1000: nil, 1001: errBomb} {
			if _, err := reads(1000).decoded([]byte(c.name), encode(t, make([]byte, size), c.encode)); !errors.Is(err, want) {
				t.Errorf("%s of %d bytes with a limit of 1000: error %v, want %v", c.name, size, err, want)
			}
		}
	}
}

// A zstd frame says how much memory it wants; more than RFC 9659 grants is refused before it is allocated.
func TestGreedyZstdWindowIsRefused(t *testing.T) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*maxZstdWindow))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 3*maxZstdWindow)
	for range 2 { // in two writes, so that the frame's size is not known at its beginning
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reads(64*unit.MB).decoded([]byte("zstd"), out.Bytes()); err == nil || errors.Is(err, errBomb) {
		t.Errorf("got error %v, want one about the window", err)
	}
}

func TestDecodersLeaveNothingBehind(t *testing.T) {
	noLeaks(t)
	for _, c := range codings {
		whole := encode(t, []byte("a body"), c.encode, codings[5].encode)
		for _, body := range [][]byte{whole, whole[:len(whole)/2], nil} {
			_, _ = reads(unit.MB).decoded([]byte(c.name+", zstd"), body)
			_, _ = reads(unit.MB).decoded([]byte("none, zstd"), body)
		}
	}
}

func FuzzDecoderNeverPanics(f *testing.F) {
	for _, c := range codings {
		whole := encode(f, []byte(strings.Repeat("a body ", 20)), c.encode)
		f.Add(c.name, whole)
		f.Add(c.name, whole[:len(whole)/2])
		f.Add(fmt.Sprintf("gzip, %s", c.name), encode(f, []byte("a body"), codings[0].encode, c.encode))
	}
	f.Add("", []byte("a"))
	f.Add(",", []byte("a"))
	const most = 1 << 20
	p := reads(most)
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		out, err := p.decoded([]byte(encoding), body)
		if err == nil && len(out) > most && len(encoding) > 0 && !strings.EqualFold(encoding, "identity") {
			t.Errorf("%q: %d bytes came out, at most %d may", encoding, len(out), most)
		}
	})
}
