package inject

import (
	"archive/zip"
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// A small office file that unpacks to one large part, which each of many sheets shows, takes little memory in all.
func TestManySheetsOfOnePartAreBounded(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"xl/workbook.xml":            "<w><sheets>" + strings.Repeat(`<sheet name="s" id="r"/>`, 20) + "</sheets></w>",
		"xl/_rels/workbook.xml.rels": `<r><Relationship Id="r" Target="s.xml"/></r>`,
		"xl/s.xml":                   "<p>" + strings.Repeat(" ", 7*MaxFileBytes) + "</p>",
	} {
		w, _ := z.Create(name)
		_, _ = w.Write([]byte(text))
	}
	_ = z.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Text("a.xlsx", b.Bytes())
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 80*MaxFileBytes {
		t.Errorf("took %d MB, with the error %v", took>>20, err)
	}
}
