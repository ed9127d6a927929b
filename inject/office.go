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
	left   int64           // bytes that may still be unpacked
	shared []string        // texts that cells name by number
	b      strings.Builder // has the text of the parts so far
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

// ends has what stands behind the text of an element: of paragraphs, rows and shared texts, and of cells.
var ends = map[string]string{"p": "\n", "tr": "\n", "row": "\n", "si": "\n", "tc": "\t", "c": "\t"}

// text adds the text of a part.
func (o *office) text(name string) error {
	part, err := o.part(name)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(bytes.NewReader(part))
	open := map[string]int{} // elements by name
	column, isShared := 0, false
	for o.b.Len() <= MaxFileBytes {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
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
				o.b.WriteString(strings.Repeat("\t", max(0, at-1-column)))
				column = max(column+1, at)
			case "br", "cr", "tab":
				o.b.WriteByte(' ')
			}
		case xml.EndElement:
			open[t.Name.Local]--
			end := ends[t.Name.Local]
			if end == "\n" && open["tc"] > 0 {
				end = " "
			}
			o.b.WriteString(end)
		case xml.CharData:
			text := string(t)
			n, err := strconv.Atoi(text)
			switch {
			case open["t"]+open["v"] == 0, open["Fallback"]+open["rPh"] > 0: // said twice
			case isShared && err == nil && n >= 0 && n < len(o.shared):
				o.b.WriteString(o.shared[n])
			default:
				o.b.WriteString(strings.ReplaceAll(text, "\n", " "))
			}
		}
	}
	return errTooLong
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
