package inject

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

var (
	errTooLong = errors.New("it has too much text")
	patience   = 20 * time.Second // with one document: the parts of a PDF may form a loop
)

// Text returns the text of a PDF, DOCX, PPTX or XLSX file of that name, and the content of any other file as it is. The
// error says what to do with a document that has no text or cannot be read.
func Text(name string, content []byte) ([]byte, error) {
	extension := strings.ToLower(filepath.Ext(name))
	if !slices.Contains([]string{".pdf", ".docx", ".pptx", ".xlsx"}, extension) {
		return content, nil
	}
	text, err := documentInTime(extension, content)
	if err != nil {
		cause, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("it is damaged, too large or has a password (%s); save it as text", cause)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("it has no text; if it is a scan, have a program for text recognition (OCR) add the text")
	}
	return []byte(strings.ToValidUTF8(text, "\uFFFD")), nil
}

// documentInTime returns the text of a document. A reader that does not end goes on until the program does.
func documentInTime(extension string, content []byte) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := documentText(extension, content)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-time.After(patience):
		return "", errors.New("it takes too long")
	}
}

func documentText(extension string, content []byte) (_ string, err error) {
	defer func() {
		if cause := recover(); cause != nil { // a library has met a damaged document
			err = fmt.Errorf("%.100v", cause)
		}
	}()
	if extension != ".pdf" {
		return officeText(extension, content)
	}
	r, err := pdf.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for n := 1; n <= r.NumPage(); n++ {
		page := r.Page(n)
		if page.V.IsNull() {
			return "", fmt.Errorf("page %d is missing", n)
		}
		err = writeGlyphs(&text, page)
		if err != nil {
			return "", err
		}
		text.WriteString("\n\n")
	}
	return text.String(), nil
}

// writeGlyphs writes the glyphs of a page. A PDF says where each one stands, and not where words and lines end.
func writeGlyphs(text *strings.Builder, page pdf.Page) error {
	if contentBytes(page.V.Key("Contents")) > MaxFileBytes { // each glyph in it will take many times its size
		return errTooLong
	}
	falseGlyphs := map[string]string{} // by font: the library adds one behind each string with kerning
	for _, name := range page.Fonts() {
		font := page.Font(name)
		_, base, isSubset := strings.Cut(font.BaseFont(), "+")
		if !isSubset {
			base = font.BaseFont()
		}
		falseGlyphs[base] = font.Encoder().Decode("\n")
	}
	var last pdf.Text
	glyphs := page.Content().Text
	for k, g := range glyphs {
		size, next := math.Abs(g.FontSize), pdf.Text{}
		if k+1 < len(glyphs) {
			next = glyphs[k+1]
		}
		moves := math.Abs(next.Y-g.Y)+math.Abs(next.X-g.X-g.W) > size/6
		switch r, _ := utf8.DecodeRuneInString(g.S); {
		case r == utf8.RuneError, unicode.IsControl(r), moves && g.S == falseGlyphs[g.Font]:
			continue
		case last.S == "":
		case math.Abs(g.Y-last.Y) > size/3:
			text.WriteByte('\n')
		case g.S != " " && last.S != " " && g.X-last.X-last.W > size/6:
			text.WriteByte(' ')
		}
		text.WriteString(g.S)
		last = g
		if text.Len() > MaxFileBytes {
			return errTooLong
		}
	}
	return nil
}

// contentBytes returns how many bytes the streams of a page unpack to, or a number above MaxFileBytes.
func contentBytes(contents pdf.Value) (n int64) {
	for k := range max(1, contents.Len()) {
		stream := contents
		if contents.Kind() == pdf.Array {
			stream = contents.Index(k)
		}
		unpacked, _ := io.Copy(io.Discard, io.LimitReader(stream.Reader(), MaxFileBytes+1-n)) // the library tells errors
		n += unpacked
	}
	return n
}
