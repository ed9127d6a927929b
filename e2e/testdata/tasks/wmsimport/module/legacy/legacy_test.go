package legacy

import (
	"strings"
	"testing"

	"wmsimport/article"
	"wmsimport/csvx"
)

// TestRow has a row whose article was looked up at its shelf.
func TestRow(t *testing.T) {
	got, err := Row(csvx.Row{
		"ARTNO": "210317", "NAME": "cable drum", "LOC": "0713", "QTY": "24", "UOM": "PCS", "PRICE": "1250", "CNT": "12500",
		"ST": "A", "FL": "",
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := (article.Place{Hall: "A", Aisle: 7, Shelf: 13}); got.Number != "210-00317" || got.Place != want {
		t.Errorf("%+v", got)
	}
	if got.Milli != 24_000 || got.Price != 125_000 {
		t.Errorf("%d thousandths at %d, want 24000 at 125000", got.Milli, got.Price)
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{"410317": "410-00317", "99912345": "999-12345", "1001": "100-00001", "12": "", "41x317": ""} {
		if got, err := number(text); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestImport(t *testing.T) {
	_, _, bad, err := Import(strings.NewReader("ARTNO;NAME\nx;bolt\n12;nut\n"))
	if err != nil || len(bad) != 2 || !strings.HasPrefix(bad[1].Error(), "row 3: ") {
		t.Errorf("%v, %v", bad, err)
	}
}
