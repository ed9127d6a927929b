package rewrite

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// someLimits has every number at a value that no test below writes.
func someLimits() Limits {
	l := Limits{Preset: "faithful", ToolLimits: []Limit{{Tool: "x", Tokens: 7}}, Repeats: true}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		switch number := reflect.ValueOf(&l).Elem().FieldByIndex(f.Index); number.Kind() {
		case reflect.Int, reflect.Int64:
			number.SetInt(77)
		case reflect.Float64:
			number.SetFloat(0.77)
		}
	}
	return l
}

func TestEveryNumberCanBeSetByItsName(t *testing.T) {
	n := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		if kind := f.Type.Kind(); kind != reflect.Int && kind != reflect.Float64 {
			continue
		}
		n++
		name := strings.ReplaceAll(f.Tag.Get("toml"), "_", "-")
		want := someLimits()
		value := reflect.ValueOf(&want).Elem().FieldByIndex(f.Index)
		if value.Kind() == reflect.Int {
			value.SetInt(1)
		} else {
			value.SetFloat(1)
		}
		for _, spelled := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_")} {
			if got, err := someLimits().With(spelled, "1"); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v (%v), want %+v", spelled, got, err, want)
			}
		}
	}
	if n < 10 {
		t.Errorf("the ladder has only %d numbers", n)
	}
}

func TestWhatIsNoNumberOfTheLadderChangesNothing(t *testing.T) {
	for _, name := range []string{"", "-", "mode", "nothing", "preset", "tools", "repeats", "clear-arguments", "floor", "clear-at-", "Offload"} {
		if got, err := someLimits().With(name, "1"); err != nil || !reflect.DeepEqual(got, someLimits()) {
			t.Errorf("%q: got %+v (%v)", name, got, err)
		}
	}
}

func TestNumbersHaveBounds(t *testing.T) {
	f := func(name string, good, bad []string, advice string) {
		t.Helper()
		for _, value := range good {
			if _, err := someLimits().With(name, value); err != nil {
				t.Errorf("%s: %s is answered with %v", name, value, err)
			}
		}
		for _, value := range append(bad, "", "x", "NaN", "Inf", "-1", "1e99", strconv.Itoa(mostTokens+1)) {
			got, err := someLimits().With(name, value)
			if want := "cannot use x-epitome-" + name + ": write a " + advice; err == nil || err.Error() != want || !reflect.DeepEqual(got, someLimits()) {
				t.Errorf("%s: %q gives %+v and the error %v, want %s", name, value, got, err, want)
			}
		}
	}
	f("offload-tokens", []string{"1", "100000000"}, []string{"0", "1.5", "1e3"}, "whole number from 1 to 100000000")
	f("protect-groups", []string{"0", "12"}, []string{"0.5"}, "whole number from 0 to 100000000")
	f("rent", []string{"0", "2.5", "1000"}, []string{"1001"}, "number from 0 to 1000")
	f("clear-at", []string{"0.01", "0.7", "1", "1e-1"}, []string{"0", "1.01", "70%"}, "number from 0.01 to 1")
	f("cached-price", []string{"0", "0.1", "1"}, []string{"1.01"}, "number from 0 to 1")
}
