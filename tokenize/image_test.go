package tokenize_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"epitome/tokenize"
)

func TestSizesOfPicturesAreRead(t *testing.T) {
	const picture = "RIFF\x00\x01\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x7f\x07\x00\x37\x04\x00"
	data := []byte("data:image/webp;base64," + base64.StdEncoding.EncodeToString([]byte(picture)))
	if format, w, h := tokenize.PictureSize(data); format != "webp" || w != 1920 || h != 1080 {
		t.Errorf("it is %s, %d x %d", format, w, h)
	}
	if _, w, h := tokenize.PictureSize(data[:50]); w > 0 || h > 0 {
		t.Errorf("without its size it is %d x %d", w, h)
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
