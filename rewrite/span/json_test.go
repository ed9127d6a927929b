package span

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOddObjectsAreErrors(t *testing.T) {
	f := func(body string, want error) {
		t.Helper()
		var list []string
		end, err := Members([]byte(body), 0, func(key []byte, i int) (int, error) {
			list = append(list, string(key))
			return EndOfValue([]byte(body), i)
		})
		if !errors.Is(err, want) || err == nil && end != len(body) {
			t.Errorf("%.80s: got %v behind the keys %.80q, which end at %d; want %v", body, err, list, end, want)
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
	f(`{"a":1,"a":2}`, errRepeated)
	f("{"+all+`,"key_3":1}`, errRepeated)
	f("{"+all+`,"key_19":1}`, errRepeated)
	f(`{"\u0061":1}`, errEscaped)
	f(`{"a":`+strings.Repeat("[", deepest+1)+strings.Repeat("]", deepest+1)+`}`, errTooDeep)
	f(`{"a":`+strings.Repeat("[", deepest)+strings.Repeat("]", deepest)+`}`, nil)
	f(`{"a" 1}`, ErrNoJSON)
	f(`{"a":1`, ErrNoJSON)
	f(`{"a":"b}`, ErrNoJSON)
	f(`{1:1}`, ErrNoJSON)
	f(`[1]`, ErrNoJSON)
}

func TestEntriesMayStandThereTwice(t *testing.T) {
	f := func(body, want string, fails error) {
		t.Helper()
		got := ""
		_, err := Entries([]byte(body), 0, func(key []byte, i int) (int, error) {
			end, err := EndOfValue([]byte(body), i)
			got += string(key) + "=" + body[i:max(i, end)] + " "
			return end, err
		})
		if got != want || !errors.Is(err, fails) {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
	f(`{"a":1, "a" : [2],"\u0061":3}`, `a=1 a=[2] \u0061=3 `, nil)
	f(`{}`, "", nil)
	f(`{"a":1,2}`, "a=1 ", ErrNoJSON)
}

func TestLeavesAreFoundInTheirOrder(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		var list []string
		Leaves([]byte(body), 0, func(s Span) { list = append(list, string(s.Of([]byte(body)))) })
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%s has the leaves %s, want %s", body, got, want)
		}
	}
	f(`{"a":[1, {"b":"x"}], "c":null, "d":{}, "e":true}`, `1 "x" null true`)
	f(`"x"`, `"x"`)
	f(`[{"a":1,"a":2},3]`, `1`) // what is odd is left out from there on
	f(``, ``)
}

func TestDigestIsOfWhatIsSaid(t *testing.T) {
	digest := func(body string) Sum {
		t.Helper()
		end, d, err := Digest([]byte(body), 0, nil)
		if err != nil || end != len(body) {
			t.Fatalf("%s ends at %d: %v", body, end, err)
		}
		return d
	}
	f := func(same bool, a, b string) {
		t.Helper()
		if (digest(a) == digest(b)) != same {
			t.Errorf("%s and %s have one digest: %v", a, b, !same)
		}
	}
	f(true, `{"a":1,"b":[2,{"c":3}]}`, `{ "b" : [ 2, {"c":3} ], "a" : 1 }`)
	f(false, `{"a":1}`, `{"a":"1"}`)
	f(false, `[1,2]`, `[2,1]`)
	f(false, `[1,[2]]`, `[[1],2]`)
	f(false, `{"ab":{"c":1}}`, `{"a":{"bc":1}}`)
	f(false, `{}`, `[]`)
}
