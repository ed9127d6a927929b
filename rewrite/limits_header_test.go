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

func TestUnknownNamesAreRefusedWithTheNearest(t *testing.T) {
	f := func(name, advice string) {
		t.Helper()
		got, err := someLimits().With(name, "1")
		if want := "unknown header x-epitome-" + strings.ToLower(name) + "; " + advice; err == nil || err.Error() != want || !reflect.DeepEqual(got, someLimits()) {
			t.Errorf("%q: got %+v and the error %v, want %s", name, got, err, want)
		}
	}
	f("offload-token", "did you mean x-epitome-offload-tokens?")
	f("clear-at-", "did you mean x-epitome-clear-at?")
	f("Clear_Att", "did you mean x-epitome-clear-at?")
	f("mod", "did you mean x-epitome-mode?")
	f("presets", "did you mean x-epitome-preset?")
	for _, name := range []string{"", "-", "nothing", "tools", "repeats", "clear-arguments", "floor", "Offload"} {
		f(name, "write x-epitome-mode, x-epitome-preset, x-epitome-compact, x-epitome-summarize-mode, x-epitome-summarize-detail, or x-epitome-KEY with the KEY of a number of [rewrite]")
	}
}

func TestPresetCanBeSetByItsName(t *testing.T) {
	want := someLimits()
	if err := want.SetPreset("economy"); err != nil {
		t.Fatal(err)
	}
	if got, err := someLimits().With("Preset", "economy"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	got, err := someLimits().With("preset", "secret")
	if err == nil || err.Error() != "cannot use x-epitome-preset: write one of balanced, faithful, cautious, economy" || !reflect.DeepEqual(got, someLimits()) {
		t.Errorf("got %+v and the error %v", got, err)
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
