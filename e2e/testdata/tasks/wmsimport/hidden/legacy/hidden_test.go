package legacy

import (
	"errors"
	"testing"
	"time"

	"wmsimport/article"
	"wmsimport/csvx"
)

func TestHidden(t *testing.T) {
	day := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	for _, test := range []struct {
		number, loc, qty, unit, price, cnt, state, flags string
		want                                             article.Article
	}{
		{"210317", "0713", "24", "PCS", "1250", "1", "A", "", article.Article{Number: "210-00317",
			Place: article.Place{Hall: "A", Aisle: 7, Shelf: 13}, Milli: 24_000, Price: 125_000, Counted: day(1992, 1, 1)}},
		{"410317", "6004", "2500", "KG", "1250", "12495", "B", "N", article.Article{Number: "410-00317",
			Place: article.Place{Hall: "A", Aisle: 60, Shelf: 4}, Milli: 2_500, Price: 1_250, Counted: day(2026, 3, 17)}},
		{"110001", "6101", "250", "M", "7", "0", "A", "R", article.Article{Number: "110-00001", Reserved: true,
			Place: article.Place{Hall: "B", Aisle: 1, Shelf: 1}, Milli: 2_500, Price: 700}},
		{"140004", "7929", "501", "L", "333", "3000", "A", "NR", article.Article{Number: "140-00004", Reserved: true,
			Place: article.Place{Hall: "B", Aisle: 19, Shelf: 29}, Milli: 1_002, Price: 33_300, Counted: day(2000, 3, 18)}},
		{"49912345", "2411", "50", "ROL", "99", "11000", "X", "R", article.Article{Number: "499-12345", Reserved: true,
			Place: article.Place{Hall: "A", Aisle: 24, Shelf: 11}, Price: 99, Counted: day(2022, 2, 11)}},
		{"310002", "0101", "50", "ROL", "1", "0", "A", "F", article.Article{Number: "310-00002",
			Place: article.Place{Hall: "A", Aisle: 1, Shelf: 1}, Milli: 1_250, Price: 100}},
	} {
		test.want.Name, test.want.Unit = "thing", test.unit
		got, err := Row(csvx.Row{"ARTNO": test.number, "NAME": "thing", "LOC": test.loc, "QTY": test.qty, "UOM": test.unit,
			"PRICE": test.price, "CNT": test.cnt, "ST": test.state, "FL": test.flags})
		if err != nil || !got.Counted.Equal(test.want.Counted) {
			t.Errorf("%s: counted %v, %v, want %v", test.number, got.Counted, err, test.want.Counted)
		}
		got.Counted, test.want.Counted = time.Time{}, time.Time{}
		if got != test.want {
			t.Errorf("%s:\n%+v, want\n%+v", test.number, got, test.want)
		}
	}
	row := csvx.Row{"ARTNO": "210317", "NAME": "thing", "LOC": "0713", "QTY": "24", "UOM": "PCS", "PRICE": "1", "CNT": "0", "ST": "X",
		"FL": "N"}
	if got, err := Row(row); !errors.Is(err, ErrSkip) {
		t.Errorf("a deleted row: %+v, %v", got, err)
	}
	row["ST"], row["UOM"] = "A", "BOX"
	if got, err := Row(row); err == nil || errors.Is(err, ErrSkip) {
		t.Errorf("a unit that is not known: %+v, %v", got, err)
	}
}
