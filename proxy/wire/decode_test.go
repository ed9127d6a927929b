package wire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"epitome/proxy/wire/wiretest"
)

const mb = 1 << 20 // bytes

// decoded is what comes out of a body.
func decoded(encoding string, body []byte, most int64) ([]byte, error) {
	r, err := NewDecoder(encoding, bytes.NewReader(body), most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
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
	f := func(encoding string, body, encoded []byte) {
		t.Helper()
		got, err := decoded(encoding, encoded, mb)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q: got %d bytes (%v), want the %d that were encoded", encoding, len(got), err, len(body))
		}
	}
	for _, body := range plainBodies() {
		f("", body, body)
		f("identity", body, body)
		f("IDENTITY", body, body)
		for _, c := range wiretest.Codings {
			f(c.Name, body, wiretest.Encode(t, body, c.Encode))
			f(" "+strings.ToUpper(c.Name)+"\t", body, wiretest.Encode(t, body, c.Encode))
		}
	}
	two := append(wiretest.Encode(t, []byte("a"), wiretest.Codings[0].Encode),
		wiretest.Encode(t, []byte("b"), wiretest.Codings[0].Encode)...)
	f("gzip", []byte("ab"), two) // members one behind the other are one body
}

func TestUnreadableCodingsAreErrors(t *testing.T) {
	f := func(encoding, body, want string) {
		t.Helper()
		if got, err := decoded(encoding, []byte(body), mb); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q and error %v, want one that says %q", encoding, got, err, want)
		}
	}
	f("compress", "x", `coding "compress"`)
	f("gzip;q=1", "x", "coding")
	f("gzip, gzip", "x", "coding")
	f("gzip", "no gzip at all", "")
	f("gzip", "", "")
	f("br", "\xff\xff\xff\xff", "")
	f("zstd", "no zstd at all", "")
	f("deflate", "\xff\xff\xff\xff", "")
}

// A body that was cut must not pass for a shorter one, wherever it was cut.
func TestTruncatedBodyIsAnError(t *testing.T) {
	body := []byte(`{"model":"x","messages":[` + strings.Repeat(`{"role":"user"},`, 20) + `]}`)
	for _, c := range wiretest.Codings {
		whole := wiretest.Encode(t, body, c.Encode)
		for n := 1; n < len(whole); n++ {
			if got, err := decoded(c.Name, whole[:n], mb); err == nil {
				t.Errorf("%s: the first %d of %d bytes were read as %q", c.Name, n, len(whole), got)
			}
		}
	}
}

func TestBombsAreRefusedWithBoundedMemory(t *testing.T) {
	const most = mb
	zeros := make([]byte, 32*most)
	f := func(encoding string, bomb []byte) {
		t.Helper()
		if len(bomb) > int(most)/4 {
			t.Fatalf("%q: %d bytes are no bomb", encoding, len(bomb))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decoded(encoding, bomb, most)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrBomb) {
			t.Errorf("%q: error %v, want %v", encoding, err, ErrBomb)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 16<<20 {
			t.Errorf("%q: %d bytes were allocated for a limit of %d", encoding, spent, most)
		}
	}
	for _, c := range wiretest.Codings {
		f(c.Name, wiretest.Encode(t, zeros, c.Encode))
	}
}

// A zstd frame says how much memory it wants; more than RFC 9659 grants is refused before it is allocated.
func TestGreedyZstdWindowIsRefused(t *testing.T) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*(8<<20)))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 3*(8<<20))
	for range 2 { // in two writes, so that the frame's size is not known at its beginning
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := decoded("zstd", out.Bytes(), 64*mb); err == nil || errors.Is(err, ErrBomb) {
		t.Errorf("got error %v, want one about the window", err)
	}
}

func FuzzDecoderNeverPanics(f *testing.F) {
	for _, c := range wiretest.Codings {
		whole := wiretest.Encode(f, []byte(strings.Repeat("a body ", 20)), c.Encode)
		f.Add(c.Name, whole)
		f.Add(c.Name, whole[:len(whole)/2])
	}
	f.Add("", []byte("a"))
	f.Add(",", []byte("a"))
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		out, err := decoded(encoding, body, most)
		if err == nil && len(out) > most && len(encoding) > 0 && !strings.EqualFold(encoding, "identity") {
			t.Errorf("%q: %d bytes came out, at most %d may", encoding, len(out), most)
		}
	})
}
