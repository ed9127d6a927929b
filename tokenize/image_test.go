package tokenize_test

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"epitome/tokenize"
)

// webp returns the head of a WebP picture with a chunk of that kind, whose content begins with the bytes.
func webp(kind string, content ...byte) string {
	size := "\x20"
	if kind == "VP8X" {
		size = "\x0a" // always
	}
	return "RIFF\x00\x01\x00\x00WEBP" + kind + size + "\x00\x00\x00" + string(content) + strings.Repeat("\x00", 20)
}

func TestSizesOfPicturesAreRead(t *testing.T) {
	lossless := binary.LittleEndian.AppendUint32([]byte{0x2f}, 1919|1079<<14)
	for name, picture := range map[string]string{
		"lossy":    webp("VP8 ", 0x30, 0x01, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x47, 0x38, 0x04), // scaling in the upper bits
		"lossless": webp("VP8L", lossless...),
		"extended": webp("VP8X", 0x10, 0, 0, 0, 0x7f, 0x07, 0x00, 0x37, 0x04, 0x00),
	} {
		data := []byte("data:image/webp;base64," + base64.StdEncoding.EncodeToString([]byte(picture)))
		if format, w, h := tokenize.PictureSize(data); format != "webp" || w != 1920 || h != 1080 {
			t.Errorf("%s is %s, %d x %d", name, format, w, h)
		}
		if _, w, h := tokenize.PictureSize(data[:50]); w > 0 || h > 0 {
			t.Errorf("%s without its size is %d x %d", name, w, h)
		}
	}
}

// A document counts by the pages that can be seen in it, however large these are, and else by its size.
func TestDocumentsCountByTheirPages(t *testing.T) {
	m := tokenize.ModelOf("claude-sonnet-4")
	page := m.Document(nil)
	f := func(pages int, content string) {
		t.Helper()
		if n := m.Document([]byte(base64.StdEncoding.EncodeToString([]byte(content)))); n != pages*page {
			t.Errorf("%.60q counts as %d pages of %d tokens, want %d", content, n/page, page, pages)
		}
	}
	pdf := "%PDF-1.7\n1 0 obj <</Type /Pages /Count 3>>\n<</Type/Page /Parent 1 0 R>> <</Type /Page>>\n<</Type\n/Page\n>>"
	f(3, pdf)
	f(3, pdf+strings.Repeat("a large picture", 100_000))
	f(1, "%PDF-1.7\n compressed")
	f(5, "%PDF-1.7\n"+strings.Repeat("compressed", 20_000))
}
