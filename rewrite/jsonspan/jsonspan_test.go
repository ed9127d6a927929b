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
		end, err := Members([]byte(body), 0, func(_ []byte, i int) (int, error) { return EndOfValue([]byte(body), i) })
		if !errors.Is(err, want) || err == nil && end != len(body) {
			t.Errorf("%.80s: got %v, and the end at %d; want %v", body, err, end, want)
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

func TestElementsAreFoundFromTheMiddle(t *testing.T) {
	f := func(body string, from int, want string) {
		t.Helper()
		var list []string
		end, err := ElementsFrom([]byte(body), from, func(i int) (int, error) {
			end, err := EndOfValue([]byte(body), i)
			list = append(list, body[i:end])
			return end, err
		})
		if got := strings.Join(list, " "); got != want || (end == len(body)) != (err == nil) || (err == nil) != (want != "error") {
			t.Errorf("%s from %d: %q, %v", body, from, got, err)
		}
	}
	f(`[ 1 , "]" ,{"a":[2]} ]`, 1, `1 "]" {"a":[2]}`)
	f(`[ 1 , "]" ,{"a":[2]} ]`, 6, `"]" {"a":[2]}`)
	f(`[]`, 1, ``)
	if _, err := Elements([]byte(`{}`), 0, nil); err == nil {
		t.Error("an object is read as a list")
	}
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

func TestDigestIsOfWhatIsSaid(t *testing.T) {
	skip := func(key []byte, depth int) bool { return string(key) == "mark" && depth == 1 }
	digest := func(body string) Sum {
		t.Helper()
		end, sum, err := Digest([]byte(body), 0, skip)
		if err != nil || end != len(body) {
			t.Fatalf("%s ends at %d: %v", body, end, err)
		}
		return sum
	}
	f := func(same bool, a, b string) {
		t.Helper()
		if (digest(a) == digest(b)) != same {
			t.Errorf("%s and %s have one digest: %v", a, b, !same)
		}
	}
	f(true, `{"a":1,"b":[2,{"c":3}]}`, `{ "b" : [ 2, {"c":3} ], "a" : 1 }`)
	f(true, `{"a":{"b":1}}`, `{"a":{"mark":{},"b":1}}`)
	f(false, `{"a":1}`, `{"a":1,"mark":{}}`)
	f(false, `{"a":1}`, `{"a":"1"}`)
	f(false, `[1,2]`, `[2,1]`)
	f(false, `[1,[2]]`, `[[1],2]`)
	f(false, `{"ab":{"c":1}}`, `{"a":{"bc":1}}`)
	f(false, `{}`, `[]`)
	for _, body := range []string{strings.Repeat("[", 1_000_000), `{"a":1,"a":2}`, `[1`, ``} {
		if _, _, err := Digest([]byte(body), 0, nil); err == nil {
			t.Errorf("%.20s has a digest", body)
		}
	}
}
