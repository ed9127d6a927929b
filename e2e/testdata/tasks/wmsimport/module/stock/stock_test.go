package stock

import (
	"strings"
	"testing"

	"wmsimport/article"
)

func TestAisles(t *testing.T) {
	aisles := Aisles([]article.Article{
		{Place: article.Place{Hall: "B", Aisle: 2, Shelf: 1}, Milli: 1500, Price: 1010},
		{Place: article.Place{Hall: "A", Aisle: 9, Shelf: 1}, Milli: 24_000, Price: 125_000},
		{Place: article.Place{Hall: "A", Aisle: 9, Shelf: 4}, Milli: 1000, Price: 100},
	})
	if len(aisles) != 2 || aisles[0] != (Aisle{"A", 9, 2, 30_001}) || aisles[1] != (Aisle{"B", 2, 1, 15}) {
		t.Errorf("%+v", aisles)
	}
	var text strings.Builder
	if err := Write(&text, aisles); err != nil || !strings.Contains(text.String(), "300.01\n") {
		t.Errorf("%q, %v", text.String(), err)
	}
}
