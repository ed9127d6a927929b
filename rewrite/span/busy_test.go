package span

import (
	"strings"
	"testing"
)

func TestManyValuesAreBusy(t *testing.T) {
	f := func(text string, most int, want bool) {
		t.Helper()
		if got := IsBusy([]byte(text), most); got != want {
			t.Errorf("%.40q: more than %d values: %v", text, most, got)
		}
	}
	f("["+strings.Repeat("0,", 99)+"0]", 100, false)
	f("["+strings.Repeat("0,", 100)+"0]", 100, true)
	f(strings.Repeat("[", 101)+strings.Repeat("]", 101), 100, true)
	f(strings.Repeat(`{"a":`, 101)+"0"+strings.Repeat("}", 101), 100, true)
	f(`{"a":"`+strings.Repeat(`[,\"{`, 1000)+`"}`, 100, false)
	f(`"`+strings.Repeat(`,`, 1000), 100, false) // no JSON
	f(`[1]`, 100, false)
}

// Wherever the end of a string lies, and however many escapes stand in it or before its end, it is found.
func TestTheEndOfAStringIsFound(t *testing.T) {
	slow := func(b string) int {
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return 0
	}
	for _, unit := range []string{"a", `\"`, `\\`, `a\"`, `aa\\`, "é"} {
		for n := range 60 {
			for _, end := range []string{`"`, `\\"`, `\"`, `\`, ``, `b"`, `\\\"x"`} {
				b := `"` + strings.Repeat(unit, n) + end + `,"c"`
				got, err := EndOfString([]byte(b), 0)
				if want := slow(b); got != want || (err == nil) != (want > 0) {
					t.Fatalf("%s: %d, %v; want %d", b, got, err, want)
				}
			}
		}
	}
}
