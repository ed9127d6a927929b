package jsonspan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOddObjectsAreErrors(t *testing.T) {
	f := func(body string, want error) {
		t.Helper()
		o, err := ObjectAt([]byte(body), 0)
		if !errors.Is(err, want) || err == nil && o.End != len(body) {
			t.Errorf("%.80s: got %v, want %v", body, err, want)
		}
	}
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf(`"key_%d":1`, i))
	}
	all := strings.Join(many, ",")
	f(`{}`, nil)
	f(`{ "a" : [ {"b":"}"} ] , "c" : "\\" }`, nil)
	f("{"+all+"}", nil)
	f(`{"a":1,"b":1,"a":2}`, errRepeated)
	f("{"+all+`,"key_3":1}`, errRepeated)
	f(`{"\u0061":1}`, errEscaped)
	f(`{"a":`+strings.Repeat("[", maxDepth+1)+strings.Repeat("]", maxDepth+1)+`}`, errTooDeep)
	f(`{"a":`+strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth)+`}`, nil)
	f(`{"a" 1}`, ErrNoJSON)
	f(`{"a":1`, ErrNoJSON)
	f(`{"a":1,}`, ErrNoJSON)
	f(`{"a":"b}`, ErrNoJSON)
	f(`{1:1}`, ErrNoJSON)
	f(`[1]`, errNoObject)
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
		for n := range 20 {
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
