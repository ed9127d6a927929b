package contexts

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// archive is one with these parts: names and contents in turn.
func archive(t *testing.T, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDocumentsAreReadAsText(t *testing.T) {
	f := func(want string, content []byte) {
		t.Helper()
		if got, err := TextOf(content); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	f("plain é", []byte("plain é"))
	f("plain", []byte("\xef\xbb\xbfplain"))
	f("", nil)
	f("One two\n\tThree\n", archive(t, "word/document.xml", `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>One </w:t></w:r>
		<w:r><w:instrText>HIDDEN</w:instrText><w:t>two</w:t></w:r></w:p><w:p><w:r><w:tab/><w:t>Three</w:t></w:r></w:p></w:body></w:document>`))
	f("# slide2\nFirst\n# slide10\nSecond &\n", archive(t, "ppt/presentation.xml", "<p/>",
		"ppt/slides/slide10.xml", `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>Second &amp;</a:t></a:r></a:p></p:sld>`,
		"ppt/slides/slide2.xml", `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>First</a:t></a:r></a:p></p:sld>`))
	f("# sheet1\nname\t7\nin line\t1.5\n", archive(t, "xl/workbook.xml", "<w/>",
		"xl/sharedStrings.xml", `<sst><si><t>unused</t></si><si><r><t>na</t></r><r><t>me</t></r></si></sst>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c t="s"><v>1</v></c><c><v>7</v></c></row>
		<row><c t="inlineStr"><is><t>in line</t></is></c><c><f>1+0.5</f><v>1.5</v></c></row></sheetData></worksheet>`))
	f("Title\nSome text\n", archive(t, "content.xml", `<o:c xmlns:o="o" xmlns:t="t"><t:h>Title</t:h><t:p>Some <t:span>text</t:span></t:p></o:c>`))
}

func TestWhatIsNoTextIsRefusedInASentence(t *testing.T) {
	f := func(want string, content []byte) {
		t.Helper()
		if got, err := TextOf(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.80q, %v, want %s", got, err, want)
		}
	}
	f("it is a PDF", []byte("%PDF-1.7\n..."))
	f("old format of Office", []byte("\xd0\xcf\x11\xe0..."))
	f("unpack it", archive(t, "a.txt", "text"))
	f("damaged archive", []byte("PK\x03\x04nothing"))
	f("cannot read", archive(t, "word/document.xml", "<a><b></a>"))
	f("cannot read", archive(t, "content.xml", "<p>&bomb;</p>"))
	f("too large", archive(t, "word/document.xml", "<p><t>"+strings.Repeat("a", mostUnpacked)+"</t></p>"))
	f("too large", archive(t, "content.xml", "<p>"+strings.Repeat("text", MostBytes/4)+"</p>"))
	f("nested too deep", archive(t, "content.xml", strings.Repeat("<p>", mostDeep+1)))
	cell := `<c t="s"><v>0</v></c>`
	f("too large", archive(t, "xl/workbook.xml", "<w/>",
		"xl/sharedStrings.xml", "<sst><si><t>"+strings.Repeat("a", 1<<20)+"</t></si></sst>",
		"xl/worksheets/sheet1.xml", "<row>"+strings.Repeat(cell, 100)+"</row>"))
	many := make([]string, 0, 2*mostParts+2)
	for range mostParts + 1 {
		many = append(many, "a", "")
	}
	f("too large", archive(t, many...))
}
