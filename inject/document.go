package inject

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

var errTooLong = errors.New("it has too much text")

// Text returns the text of a PDF, DOCX, PPTX or XLSX file of that name, and the content of any other file as it is. The
// error says what to do with a file that a context cannot have.
func Text(name string, content []byte) ([]byte, error) {
	extension := strings.ToLower(filepath.Ext(name))
	if slices.Contains([]string{".pdf", ".docx", ".pptx", ".xlsx"}, extension) {
		text, err := textOf(extension, content)
		if err != nil {
			cause, _, _ := strings.Cut(err.Error(), "\n")
			return nil, fmt.Errorf("it is damaged, too large or has a password (%s); save it as text", cause)
		}
		if strings.TrimSpace(text) == "" {
			return nil, errors.New("it has no text; if it is a scan, have a program for text recognition (OCR) add the text")
		}
		content = []byte(strings.ToValidUTF8(text, "\uFFFD"))
	}
	switch {
	case !fs.ValidPath(name) || len(name) > 200 || strings.ContainsAny(name, "\r\n\\"):
		return nil, errors.New("the name of a file must be one line of up to 200 bytes")
	case len(content) > maxFileBytes:
		return nil, fmt.Errorf("it has more than %d bytes; cut it into several", maxFileBytes)
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		return nil, errors.New("it is not text in UTF-8; convert it first")
	}
	return content, nil
}

// textOf returns the text of a document of a kind. A panic of a library that meets a damaged one is an error.
func textOf(extension string, content []byte) (text string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%.100v", cause)
		}
	}()
	if extension == ".pdf" {
		return pdfText(content)
	}
	return officeText(extension, content)
}

func pdfText(content []byte) (string, error) {
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
	if contentBytes(page.V.Key("Contents")) > maxFileBytes { // each glyph in it will take many times its size
		return errTooLong
	}
	falseGlyphs := map[string]string{} // by font: the library adds one behind each string with kerning
	for _, name := range page.Fonts() {
		font := page.Font(name)
		base := font.BaseFont()
		base = base[strings.Index(base, "+")+1:] // a subset has its own mark in front
		falseGlyphs[base] = font.Encoder().Decode("\n")
	}
	var last pdf.Text
	glyphs := page.Content().Text
	for k, next := range append(glyphs, pdf.Text{})[1:] {
		g := glyphs[k]
		size := math.Abs(g.FontSize)
		moves := math.Abs(next.Y-g.Y)+math.Abs(next.X-g.X-g.W) > size/6
		r, _ := utf8.DecodeRuneInString(g.S)
		switch {
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
		if text.Len() > maxFileBytes {
			return errTooLong
		}
	}
	return nil
}

// contentBytes returns how many bytes the streams of a page unpack to, or a number above maxFileBytes.
func contentBytes(contents pdf.Value) (n int64) {
	for k := range max(1, contents.Len()) {
		stream := contents
		if contents.Kind() == pdf.Array {
			stream = contents.Index(k)
		}
		unpacked, _ := io.Copy(io.Discard, io.LimitReader(stream.Reader(), maxFileBytes+1-n)) // the library tells errors
		n += unpacked
	}
	return n
}

// office is a DOCX, PPTX or XLSX file: a zip of parts in XML.
type office struct {
	*zip.Reader
	left     int64           // bytes that may still be unpacked
	shared   []string        // texts that cells name by number
	b        strings.Builder // has the text of the parts so far
	cells    int             // that are open: tables may lie in one another
	column   int             // of the sheet's cell that is read
	isShared bool            // the cell names its text by number
}

func officeText(extension string, content []byte) (string, error) {
	const maxParts, maxBytes = 10_000, 8 * maxFileBytes
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", err
	}
	if len(z.File) > maxParts {
		return "", errTooLong
	}
	o := &office{Reader: z, left: maxBytes}
	switch extension {
	case ".docx":
		err = o.text("word/document.xml")
	case ".pptx":
		err = o.list("ppt/", "presentation.xml")
	case ".xlsx":
		err = o.text("xl/sharedStrings.xml")
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without it, no cell needs it
			return "", err
		}
		o.shared = strings.Split(o.b.String(), "\n")
		o.b.Reset()
		err = o.list("xl/", "workbook.xml")
	}
	return o.b.String(), err
}

// list adds the text of the sheets or slides that a part in a folder lists, each under its name if it has one.
func (o *office) list(folder, name string) error {
	type child struct {
		Name string   `xml:"name,attr"`
		IDs  []string `xml:"id,attr"` // a slide also has a number
	}
	var book struct {
		Sheets    []child `xml:"sheets>sheet"`
		Slides    []child `xml:"sldIdLst>sldId"`
		Relations []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	for _, name := range [...]string{folder + name, folder + "_rels/" + name + ".rels"} {
		part, err := o.part(name)
		if err == nil {
			err = xml.Unmarshal(part, &book)
		}
		if err != nil {
			return err
		}
	}
	targets := map[string]string{}
	for _, r := range book.Relations {
		targets[r.ID] = folder + strings.TrimPrefix(r.Target, "/"+folder)
	}
	for _, c := range slices.Concat(book.Sheets, book.Slides) {
		target := ""
		for _, id := range c.IDs {
			target = cmp.Or(target, targets[id])
		}
		o.b.WriteString(c.Name + "\n")
		if err := o.text(target); err != nil {
			return err
		}
		o.b.WriteByte('\n')
	}
	return nil
}

// part returns the content of a part.
func (o *office) part(name string) ([]byte, error) {
	f, err := o.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, o.left+1))
	o.left -= int64(len(text))
	if o.left < 0 {
		err = errTooLong
	}
	return text, err
}

// ends has what stands in the place of an element's end.
var ends = map[string]string{
	"p": "\n", "tr": "\n", "row": "\n", "si": "\n", "tc": "\t", "c": "\t", "br": " ", "cr": " ", "tab": " ",
}

// text adds the text of a part.
func (o *office) text(name string) error {
	part, err := o.part(name)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(bytes.NewReader(part))
	for o.b.Len() <= maxFileBytes {
		token, err := d.Token()
		switch t := token.(type) {
		case xml.StartElement:
			err = o.begin(d, t)
		case xml.EndElement:
			end := ends[t.Name.Local]
			if end == "\t" {
				o.cells--
			} else if end != "" && o.cells > 0 {
				end = " "
			}
			o.b.WriteString(end)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errTooLong
}

// begin adds the text of an element that has nothing else, and what stands before that of a cell.
func (o *office) begin(d *xml.Decoder, t xml.StartElement) (err error) {
	switch t.Name.Local {
	case "Fallback", "rPh": // says again what stands beside it
		return d.Skip()
	case "row":
		o.column = 0
	case "tc":
		o.cells++
	case "c":
		o.cells++
		attributes := map[string]string{}
		for _, a := range t.Attr {
			attributes[a.Name.Local] = a.Value
		}
		o.isShared = attributes["t"] == "s"
		at := columnOf(attributes["r"])
		o.b.WriteString(strings.Repeat("\t", max(0, at-1-o.column)))
		o.column = max(o.column+1, at)
	case "t", "v":
		var text string
		err = d.DecodeElement(&text, &t)
		n, notNumber := strconv.Atoi(text)
		if o.isShared && notNumber == nil && n >= 0 && n < len(o.shared) {
			text = o.shared[n]
		}
		o.b.WriteString(strings.ReplaceAll(text, "\n", " "))
	}
	return err
}

// columnOf returns the number of a cell's column: 3 for C5.
func columnOf(cell string) (n int) {
	const most = 16_384 // of a sheet
	for _, letter := range strings.TrimRight(cell, "0123456789") {
		n = min(n*26+int(letter-'A')+1, most)
	}
	return n
}
