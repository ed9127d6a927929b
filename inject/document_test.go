package inject

import (
	"archive/zip"
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// pdfOf returns a PDF with a page for each content stream.
func pdfOf(pages ...string) string {
	kids, objects := "", []string{`<</Type/Catalog/Pages 2 0 R>>`, "", `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`}
	for _, page := range pages {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>", n+1),
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(page), page))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, len(pages))
	text, table := "%PDF-1.4\n", ""
	for n, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(text))
		text += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", n+1, object)
	}
	return fmt.Sprintf("%sxref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n",
		text, len(objects)+1, table, len(objects)+1, len(text))
}

// zipOf returns a zip of files, each given by its name and content.
func zipOf(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDocumentsAreText(t *testing.T) {
	const book = `<workbook><sheets><sheet name="Sales" sheetId="7" r:id="r2"/><sheet name="Notes" r:id="r1"/></sheets></workbook>`
	const files = `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>`
	slide := func(text string) string { return "<p:sld><a:p><a:r><a:t>" + text + "</a:t></a:r></a:p></p:sld>" }
	for _, c := range []struct{ name, content, want string }{
		{"a.md", "%PDF is a word\n", "%PDF is a word\n"},
		{"a.PDF", pdfOf("BT /F 12 Tf 72 700 Td (The port) Tj 60 0 Td [(is ) -20 (80)] TJ 0 -14 Td (Second) Tj ET",
			"BT /F 12 Tf (Page two) Tj ET"), "The port is 80\nSecond\n\nPage two\n\n"},
		{"a.docx", zipOf(t, "word/document.xml", `<w:document><w:body><w:p><w:pPr><w:tabs/></w:pPr><w:r><w:t>A &amp; </w:t></w:r>`+
			`<w:r><w:t>b</w:t><w:tab/><w:t>c</w:t><w:delText>gone</w:delText></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>k`+
			`</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>v</w:t></w:r></w:p></w:tc></w:tr></w:tbl><mc:Fallback><w:p><w:t>`+
			`twice</w:t></w:p></mc:Fallback></w:body></w:document>`), "A & b c\nk \tv \t\n"},
		{"a.pptx", zipOf(t, "ppt/presentation.xml", `<p><sldIdLst><sldId id="256" r:id="r2"/><sldId r:id="r1" id="257"/>`+
			`</sldIdLst></p>`, "ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="r1" `+
			`Target="slides/slide2.xml"/><Relationship Id="r2" Target="/ppt/slides/slide10.xml"/></Relationships>`,
			"ppt/slides/slide2.xml", slide("two"), "ppt/slides/slide10.xml", slide("ten")), "\nten\n\n\ntwo\n\n"},
		{"a.xlsx", zipOf(t, "xl/workbook.xml", book, "xl/_rels/workbook.xml.rels", files,
			"xl/sharedStrings.xml", `<sst><si><t>Name</t></si><si><r><t>To</t></r><r><t>tal</t></r></si></sst>`,
			"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c t="inlineStr"><is><t>Hi
there</t></is></c></row></sheetData></worksheet>`, "xl/worksheets/sheet2.xml", `<worksheet><sheetData><row><c r="A1" t="s">`+
				`<v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row><c r="C2"><f>A1*2</f><v>1</v></c></row></sheetData></worksheet>`),
			"Sales\nName\t\tTotal\t\n\t\t1\t\n\nNotes\nHi there\t\n\n"},
	} {
		got, err := Text(c.name, []byte(c.content))
		if string(got) != c.want || err != nil {
			t.Errorf("%s is %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestDocumentsWithoutTextAreRefused(t *testing.T) {
	scan := pdfOf("q 612 0 0 792 0 0 cm /Im Do Q")
	docx := zipOf(t, "word/document.xml", "<w:p><w:r><w:t>Hi</w:t></w:r></w:p>")
	bomb := zipOf(t, "word/document.xml", "<p>"+strings.Repeat(" ", 8*maxFileBytes)+"</p>")
	const sheet, slide = `<sheet r:id="r"/>`, `<sldId r:id="r"/>`
	const files = `<Relationships><Relationship Id="r" Target="a.xml"/></Relationships>`
	third := "<p><t>" + strings.Repeat("a", maxFileBytes/3) + "</t></p>"
	slides := zipOf(t, "ppt/presentation.xml", "<p><sldIdLst>"+strings.Repeat(slide, 4)+"</sldIdLst></p>",
		"ppt/_rels/presentation.xml.rels", files, "ppt/a.xml", third)
	sheets := zipOf(t, "xl/workbook.xml", "<book><sheets>"+strings.Repeat(sheet, 4)+"</sheets></book>",
		"xl/_rels/workbook.xml.rels", files, "xl/sharedStrings.xml", third, "xl/a.xml", `<c t="s"><v>0</v></c>`)
	page := "BT /F 12 Tf " + strings.Repeat("("+strings.Repeat("a", 1000)+") Tj ", maxFileBytes/1000) + "ET"
	many := make([]string, 2*10_001)
	for i := 0; i < len(many); i += 2 {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct{ name, content, want string }{
		{"scan.pdf", scan, "OCR"},
		{"cut.pdf", pdfOf("BT ET")[:200], "damaged"},
		{"none.pdf", "Hello", "damaged"},
		{"empty.docx", zipOf(t, "word/document.xml", "<w:p></w:p>"), "no text"},
		{"cut.docx", docx[:len(docx)-30], "damaged"},
		{"xml.docx", zipOf(t, "word/document.xml", "<w:p><w:t>Hi"), "damaged"},
		{"other.pptx", docx, "damaged"},
		{"other.xlsx", docx, "damaged"},
		{"bomb.docx", bomb, "too much text"},
		{"sum.pptx", slides, "too much text"},
		{"sum.xlsx", sheets, "too much text"},
		{"bomb.pdf", pdfOf(page), "too much text"},
		{"many.docx", zipOf(t, many...), "too much text"},
	} {
		got, err := Text(c.name, []byte(c.content))
		if got != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s is %q, %v, want an error with %s", c.name, got, err, c.want)
		}
	}
}

// A small office file that unpacks to one large part, which each of many sheets shows, takes little memory in all.
// The test stands before the next, whose readers go on.
func TestManySheetsOfOnePartAreBounded(t *testing.T) {
	content := zipOf(t, "xl/workbook.xml", "<w><sheets>"+strings.Repeat(`<sheet name="s" id="r"/>`, 20)+"</sheets></w>",
		"xl/_rels/workbook.xml.rels", `<r><Relationship Id="r" Target="s.xml"/></r>`,
		"xl/s.xml", "<p>"+strings.Repeat(" ", 7*maxFileBytes)+"</p>")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Text("a.xlsx", []byte(content))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 80*maxFileBytes {
		t.Errorf("took %d MB, with the error %v", took>>20, err)
	}
}
