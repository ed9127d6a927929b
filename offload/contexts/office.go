package contexts

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a document that is an archive.
const (
	mostParts    = 5_000
	mostDeep     = 200      // elements in one another
	mostUnpacked = 64 << 20 // bytes of the parts that are read
)

var (
	errNoDocument = errors.New("it is an archive, and no document of Word, Excel, PowerPoint or OpenDocument; unpack it")
	errTooLarge   = errors.New("it is too large unpacked, or nested too deep")
)

// TextOf is the text of a file: its content, or what a document of Word, Excel, PowerPoint or OpenDocument says.
func TextOf(content []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(content, []byte("%PDF-")):
		return nil, errors.New("it is a PDF, which epitome does not read; make text of it, as with 'pdftotext FILE'")
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")):
		return nil, errors.New("it is a document in an old format of Office; save it as docx, xlsx or pptx")
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		return documentText(content)
	}
	return bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), nil
}

// document is an archive of XML that is read, within bounds.
type document struct {
	parts map[string]*zip.File
	left  int64 // bytes that may still be unpacked
	out   bytes.Buffer
}

func documentText(content []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("it is a damaged archive: %w", err)
	}
	if len(z.File) > mostParts {
		return nil, errTooLarge
	}
	d := &document{parts: map[string]*zip.File{}, left: mostUnpacked}
	for _, f := range z.File {
		d.parts[f.Name] = f
	}
	switch {
	case d.parts["word/document.xml"] != nil:
		err = d.paragraphs("word/document.xml", "t")
	case d.parts["xl/workbook.xml"] != nil:
		err = d.sheets()
	case d.parts["ppt/presentation.xml"] != nil:
		for _, slide := range d.numbered("ppt/slides/slide") {
			fmt.Fprintf(&d.out, "# %s\n", path.Base(strings.TrimSuffix(slide, ".xml")))
			err = errors.Join(err, d.paragraphs(slide, "t"))
		}
	case d.parts["content.xml"] != nil:
		err = d.paragraphs("content.xml", "p", "h", "span", "a")
	default:
		err = errNoDocument
	}
	if d.out.Len() > MostBytes && err == nil {
		err = errTooLarge
	}
	return d.out.Bytes(), err
}

// numbered are the parts that are called so with a number behind, in the order of those.
func (d *document) numbered(stem string) (list []string) {
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, stem), ".xml"))
		if err != nil {
			return -1
		}
		return n
	}
	for name := range d.parts {
		if strings.HasPrefix(name, stem) && strings.HasSuffix(name, ".xml") && number(name) >= 0 {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return list
}

// walk gives f each token of a part's XML, with the local names of the elements that it stands in.
func (d *document) walk(part string, f func(t xml.Token, in []string)) error {
	r, err := d.parts[part].Open()
	if err != nil {
		return fmt.Errorf("cannot unpack %.80q: %w", part, err)
	}
	defer func() { _ = r.Close() }()
	bounded := &io.LimitedReader{R: r, N: d.left + 1}
	x := xml.NewDecoder(bounded)
	var in []string
	for {
		t, err := x.Token()
		if bounded.N <= 0 || d.out.Len() > MostBytes {
			return errTooLarge
		}
		if errors.Is(err, io.EOF) {
			d.left = bounded.N - 1
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read %.80q: %w", part, err)
		}
		if s, begins := t.(xml.StartElement); begins {
			if in = append(in, s.Name.Local); len(in) > mostDeep {
				return errTooLarge
			}
		}
		f(t, in)
		if _, ends := t.(xml.EndElement); ends {
			in = in[:len(in)-1]
		}
	}
}

// paragraphs writes what stands right in elements of these names in a part, each paragraph on a line of its own.
func (d *document) paragraphs(part string, texts ...string) error {
	return d.walk(part, func(t xml.Token, in []string) {
		switch t := t.(type) {
		case xml.CharData:
			if len(in) > 0 && slices.Contains(texts, in[len(in)-1]) {
				d.out.WriteString(strings.Trim(string(t), "\n"))
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "tab":
				d.out.WriteByte('\t')
			case "br", "line-break":
				d.out.WriteByte('\n')
			case "s": // OpenDocument's space
				d.out.WriteByte(' ')
			}
		case xml.EndElement:
			if name := t.Name.Local; name == "p" || name == "h" {
				d.out.WriteByte('\n')
			}
		}
	})
}

// sheets writes the cells of all sheets, each row on a line, with tabs between.
func (d *document) sheets() error {
	shared, err := d.sharedTexts()
	if err != nil {
		return err
	}
	for _, sheet := range d.numbered("xl/worksheets/sheet") {
		fmt.Fprintf(&d.out, "# %s\n", path.Base(strings.TrimSuffix(sheet, ".xml")))
		if err := d.rows(sheet, shared); err != nil {
			return err
		}
	}
	return nil
}

// sharedTexts are the texts that cells name by their number.
func (d *document) sharedTexts() (list [][]byte, err error) {
	const part = "xl/sharedStrings.xml"
	if d.parts[part] == nil {
		return nil, nil
	}
	err = d.walk(part, func(t xml.Token, in []string) {
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local == "si" {
				list = append(list, nil)
			}
		case xml.CharData:
			if last := len(list) - 1; last >= 0 && len(in) > 0 && in[len(in)-1] == "t" {
				list[last] = append(list[last], t...)
			}
		}
	})
	return list, err
}

// isByNumber reports whether an attribute says that its cell names a shared text.
func isByNumber(a xml.Attr) bool { return a.Name.Local == "t" && a.Value == "s" }

// rows writes the cells of one sheet. shared are the texts that cells name by their number.
func (d *document) rows(sheet string, shared [][]byte) error {
	byNumber, cells := false, 0
	return d.walk(sheet, func(t xml.Token, in []string) {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				cells = 0
			case "c":
				byNumber = slices.ContainsFunc(t.Attr, isByNumber)
				if cells++; cells > 1 {
					d.out.WriteByte('\t')
				}
			}
		case xml.CharData:
			if len(in) == 0 || in[len(in)-1] != "v" && in[len(in)-1] != "t" {
				return
			}
			text := []byte(t)
			if n, err := strconv.Atoi(string(t)); byNumber && err == nil && n >= 0 && n < len(shared) {
				text = shared[n]
			}
			d.out.Write(text)
		case xml.EndElement:
			if t.Name.Local == "row" {
				d.out.WriteByte('\n')
			}
		}
	})
}
