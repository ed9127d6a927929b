package invoice

import (
	"strings"
	"testing"

	"dunning/calendar"
)

func TestRead(t *testing.T) {
	const export = `{"no":"R-1","customer":"C1","class":"trade","due":"2026-02-10","total":"100.00",` +
		`"payments":[{"day":"2026-02-12","amount":"40.00"}],"disputes":[["2026-02-20","2026-02-25"]]}

{"no":"R-2","customer":"C2","class":"gov","due":"2026-02-11","total":"10.00","payments":[{"day":"","amount":"12.00"}]}
`
	all, err := Read(strings.NewReader(export))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d invoices, %v", len(all), err)
	}
	if all[0].Open() != 6000 || all[1].Open() != 0 {
		t.Errorf("open: %v and %v, want 60.00 and 0.00", all[0].Open(), all[1].Open())
	}
	if late := calendar.Late(all[0].Due, calendar.Must("2026-02-26"), all[0].Disputes); late != 10 {
		t.Errorf("late: %d, want 10", late)
	}
}

func TestReadBad(t *testing.T) {
	for _, text := range []string{`{`, `{"no":"R-1","class":"vip","due":"2026-02-10","total":"1"}`,
		`{"no":"R-1","class":"gov","due":"10.2.2026","total":"1"}`,
		`{"no":"R-1","class":"gov","due":"2026-02-10","total":"1,00"}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}
