package inject

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

var errTooLong = errors.New("it has too much text")

// Text returns the text of a PDF, DOCX, PPTX or XLSX file of that name, and the content of any other file as it is. The
// error says what to do with a document that has no text or cannot be read.
func Text(name string, content []byte) ([]byte, error) {
	extension := strings.ToLower(filepath.Ext(name))
	if !slices.Contains([]string{".pdf", ".docx", ".pptx", ".xlsx"}, extension) {
		return content, nil
	}
	text, err := documentText(extension, content)
	if err != nil {
		cause, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("it is damaged, too large or has a password (%s); save it as text", cause)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("it has no text; if it is a scan, have a program for text recognition (OCR) add the text")
	}
	return []byte(strings.ToValidUTF8(text, "\uFFFD")), nil
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
	for n := 1; n <= r.NumPage() && text.Len() <= MaxFileBytes; n++ {
		page := r.Page(n)
		if page.V.IsNull() {
			return "", fmt.Errorf("page %d is missing", n)
		}
		writeGlyphs(&text, page)
		text.WriteString("\n\n")
	}
	return text.String(), nil
}

// writeGlyphs writes the glyphs of a page. A PDF says where each one stands, and not where words and lines end.
func writeGlyphs(text *strings.Builder, page pdf.Page) {
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
	}
}
