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
