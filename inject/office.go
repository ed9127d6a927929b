package inject

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// office is a DOCX, PPTX or XLSX file: a zip of parts in XML.
type office struct {
	*zip.Reader
	left   int64    // bytes that may still be unpacked
	shared []string // texts that cells name by number
}

func officeText(extension string, content []byte) (string, error) {
	const maxParts, maxBytes = 10_000, 8 * MaxFileBytes
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
		return o.text("word/document.xml")
	case ".xlsx":
		return o.sheets()
	}
	slides, err := fs.Glob(z, "ppt/slides/slide*.xml")
	slices.SortFunc(slides, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	all := ""
	for _, name := range slices.Concat([]string{"ppt/presentation.xml"}, slides) {
		text, failed := o.text(name)
		err = errors.Join(err, failed)
		all += text + "\n"
	}
	return all, err
}

// sheets returns the text of all sheets of an XLSX file, each under its name.
func (o *office) sheets() (string, error) {
	var book struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
		Relations []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	for _, name := range [...]string{"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} {
		part, err := o.part(name)
		if err == nil {
			err = xml.Unmarshal(part, &book)
		}
		if err != nil {
			return "", err
		}
	}
	shared, err := o.text("xl/sharedStrings.xml")
	if errors.Is(err, fs.ErrNotExist) { // no cell needs it
		err = nil
	}
	o.shared = strings.Split(shared, "\n")
	targets := map[string]string{}
	for _, r := range book.Relations {
		targets[r.ID] = "xl/" + strings.TrimPrefix(r.Target, "/xl/")
	}
	all := ""
	for _, sheet := range book.Sheets {
		text, failed := o.text(targets[sheet.ID])
		err = errors.Join(err, failed)
		all += sheet.Name + "\n" + text + "\n"
	}
	return all, err
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

// ends has what stands behind the text of an element: of paragraphs, rows and shared texts, and of cells.
var ends = map[string]string{"p": "\n", "tr": "\n", "row": "\n", "si": "\n", "tc": "\t", "c": "\t"}

// text returns the text of a part.
func (o *office) text(name string) (string, error) {
	part, err := o.part(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(part))
	open := map[string]int{} // elements by name
	column, isShared := 0, false
	for b.Len() <= MaxFileBytes {
		token, err := d.Token()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return b.String(), err
		}
		switch t := token.(type) {
		case xml.StartElement:
			open[t.Name.Local]++
			switch t.Name.Local {
			case "row":
				column = 0
			case "c":
				isShared = attribute(t, "t") == "s"
				at := columnOf(attribute(t, "r"))
				b.WriteString(strings.Repeat("\t", max(0, at-1-column)))
				column = max(column+1, at)
			case "br", "cr", "tab":
				b.WriteByte(' ')
			}
		case xml.EndElement:
			open[t.Name.Local]--
			end := ends[t.Name.Local]
			if end == "\n" && open["tc"] > 0 {
				end = " "
			}
			b.WriteString(end)
		case xml.CharData:
			text := string(t)
			n, err := strconv.Atoi(text)
			switch {
			case open["t"]+open["v"] == 0, open["Fallback"]+open["rPh"] > 0: // said twice
			case isShared && err == nil && n >= 0 && n < len(o.shared):
				b.WriteString(o.shared[n])
			default:
				b.WriteString(strings.ReplaceAll(text, "\n", " "))
			}
		}
	}
	return "", errTooLong
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// columnOf returns the number of a cell's column: 3 for C5.
func columnOf(cell string) (n int) {
	const most = 16_384 // of a sheet
	for _, letter := range strings.TrimRight(cell, "0123456789") {
		n = min(n*26+int(letter-'A')+1, most)
	}
	return n
}
