package article

import "testing"

func TestCheck(t *testing.T) {
	good := Article{Number: "410-00317", Name: "bolt", Place: Place{"A", 7, 13}, Unit: "PCS"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	if got := good.Place.String(); got != "A-07-13" {
		t.Errorf("place %s", got)
	}
	if got := good.Group(); got != '4' {
		t.Errorf("group %c", got)
	}
	for _, change := range []func(*Article){
		func(a *Article) { a.Number = "41000317" },
		func(a *Article) { a.Name = "" },
		func(a *Article) { a.Place.Hall = "C" },
		func(a *Article) { a.Place.Aisle = 0 },
		func(a *Article) { a.Milli = -1 },
	} {
		bad := good
		change(&bad)
		if bad.Check() == nil {
			t.Errorf("no error for %+v", bad)
		}
	}
}
