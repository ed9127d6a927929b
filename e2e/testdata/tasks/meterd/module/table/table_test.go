package table

import (
	"strings"
	"testing"
	"time"

	"meterd/record"
)

func TestDecimal(t *testing.T) {
	for micro, want := range map[int64]string{0: "0", 1: "0.000001", -2_500_000: "-2.5", 18_000_000: "18", 100_000: "0.1"} {
		if got := Decimal(micro); got != want {
			t.Errorf("%d: %s, want %s", micro, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	var text strings.Builder
	at := time.Date(2026, 3, 17, 0, 15, 0, 0, time.UTC)
	err := Write(&text, []record.Reading{{Meter: 7, At: at, Quantity: "power", Unit: "W", Micro: -5_500_000}})
	if want := "2026-03-17 00:15:00;7;power;-5.5;W\n"; err != nil || text.String() != want {
		t.Errorf("%q, %v, want %q", text.String(), err, want)
	}
}

func TestCounts(t *testing.T) {
	counts := Counts([]byte{3, 1, 3, 2})
	if len(counts) != 3 || counts[0] != (Count{3, 2}) || counts[1].Code != 1 {
		t.Errorf("%v", counts)
	}
}
