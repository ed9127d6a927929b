package wire

import (
	"io"
	"net/http/httputil"
	"strings"
	"testing"
)

// follow scans text in pieces of the given size.
func follow(text string, size int) (content string, taken int, done bool, err error) {
	var c chunks
	var all []byte
	for taken < len(text) && c.state != endOfBody && err == nil {
		var n int
		n, all, err = c.scan(all, []byte(text[taken:min(taken+size, len(text))]))
		taken += n
	}
	return string(all), taken, c.state == endOfBody, err
}

func TestMalformedChunksAreRefused(t *testing.T) {
	f := func(text string) {
		t.Helper()
		for _, size := range []int{1, 3, len(text)} {
			if content, _, done, err := follow(text, size); err == nil || done {
				t.Errorf("%q in pieces of %d passed with content %q", text, size, content)
			}
		}
	}
	f("\r\n0\r\n\r\n")
	f("0x1\r\na\r\n0\r\n\r\n")
	f("-1\r\na\r\n")
	f("g\r\n")
	f("a x\r\n0123456789\r\n0\r\n\r\n")
	f("1 ;x\r\na\r\n0\r\n\r\n")
	f("1\na\r\n0\r\n\r\n")
	f("1\r\nab\r\n0\r\n\r\n")
	f("1\r\na\n0\r\n\r\n")
	f("1;a\nb\r\na\r\n0\r\n\r\n")
	f("1;a\rb\r\na\r\n0\r\n\r\n")
	f("1000000000000000\r\n")
	f("0\r\n folded: 1\r\n\r\n")
	f("0\r\n: no name\r\n\r\n")
	f("0\r\nA: 1\n\r\n")
	f("0\r\n\n")
	f("1;" + strings.Repeat("e", maxChunkLine))
	f("0\r\nA: " + strings.Repeat("v", maxChunkLine))
}

// What is passed on as complete, the standard library's reader takes for complete too, with the same content.
func FuzzChunksAgreeWithTheStandardReader(f *testing.F) {
	for _, s := range []string{
		"0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "a;x\r\n0123456789\r\n0\r\nT: 1\r\n\r\n", "1\r\na", "f\r\n",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		content, taken, done, err := follow(text, 1+max(0, size)%64)
		whole, wholeTaken, wholeDone, wholeErr := follow(text, max(1, len(text)))
		if content != whole || err == nil && taken != wholeTaken || done != wholeDone ||
			(err == nil) != (wholeErr == nil) {
			t.Fatalf("%q: pieces give %q %d %v %v, the whole gives %q %d %v %v",
				text, content, taken, done, err, whole, wholeTaken, wholeDone, wholeErr)
		}
		if !done {
			return
		}
		std, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(text[:taken])))
		if err != nil || string(std) != content {
			t.Fatalf("%q: content %q, the standard reader has %q (%v)", text[:taken], content, std, err)
		}
	})
}
