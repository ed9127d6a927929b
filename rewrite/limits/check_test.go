package limits

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"epitome/unit"
)

// someLimits has every number at a value that no test below writes.
func someLimits() Limits {
	l := Limits{Preset: "faithful", ToolLimits: []Limit{{Tool: "x", Tokens: 7}}}
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
		name := f.Tag.Get("toml")
		want := someLimits()
		want.priceFixed = name == "cached_price"
		value := reflect.ValueOf(&want).Elem().FieldByIndex(f.Index)
		if value.Kind() == reflect.Int {
			value.SetInt(1)
		} else {
			value.SetFloat(1)
		}
		if got, ok, err := someLimits().With(name, "1"); !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%v), want %+v", name, got, err, want)
		}
	}
	if n < 10 {
		t.Errorf("the ladder has only %d numbers", n)
	}
}

func TestNumbersHaveBounds(t *testing.T) {
	f := func(name string, good, bad []string, advice string) {
		t.Helper()
		for _, value := range good {
			if _, ok, err := someLimits().With(name, value); !ok || err != nil {
				t.Errorf("%s: %s is answered with %v", name, value, err)
			}
		}
		for _, value := range append(bad, "", "x", "NaN", "Inf", "-1", "1e99", strconv.Itoa(MostTokens+1)) {
			got, _, err := someLimits().With(name, value)
			if want := "write a " + advice; err == nil || err.Error() != want ||
				!reflect.DeepEqual(got, someLimits()) {
				t.Errorf("%s: %q gives %+v and the error %v, want %s", name, value, got, err, want)
			}
		}
	}
	f("offload_tokens", []string{"1", "100000000"}, []string{"0", "1.5", "1e3"}, "whole number of tokens from 1 to 100000000")
	f("protect_groups", []string{"0", "12"}, []string{"0.5"}, "whole number of groups from 0 to 100000000")
	f("rent", []string{"0", "2.5", "1000"}, []string{"1001"}, "factor from 0 to 1000")
	f("clear_at", []string{"0.01", "0.7", "1", "1e-1"}, []string{"0", "1.01", "70%"}, "share from 0.01 to 1")
	f("cached_price", []string{"0", "0.1", "1"}, []string{"1.01"}, "price from 0 to 1")
}

// usual are limits that are sound together.
func usual(t *testing.T) Limits {
	t.Helper()
	l := Limits{Floor: 1, OffloadShare: 0.15, ClearAt: 0.8, PrepareAt: 0.8, CompactAt: 0.9, Target: 0.5,
		CachedPrice: 0.1}
	if err := l.SetPreset("balanced"); err != nil {
		t.Fatal(err)
	}
	return l
}

// A number that the file may hold may stand in a request, and the other way round.
func TestFileAndRequestsHaveTheSameBounds(t *testing.T) {
	taken := 0
	for k := range keys() {
		if !k.maySet() {
			continue
		}
		for _, n := range []float64{-1, k.Min - 0.001, k.Min, k.Min + 0.001, k.Max - 1, k.Max, k.Max + 0.001,
			k.Max + 1} {
			l := usual(t)
			text := strconv.FormatFloat(n, 'f', -1, 64)
			switch field := k.field(&l).(type) {
			case *int:
				if n != math.Trunc(n) {
					continue
				}
				*field = int(n)
			case *float64:
				*field = n
			default:
				continue // a time has no upper bound
			}
			_, _, asked := usual(t).With(k.Name, text)
			var wrong *unit.KeyError
			inFile := !errors.As(l.Check(), &wrong) || len(wrong.Keys) > 1 || wrong.Keys[0][1] != k.Name
			if want := k.Min <= n && n <= k.Max; (asked == nil) != want || inFile != want {
				t.Errorf("%s: a request with %s is answered with %v, and the file with %v", k.Name, text, asked, l.Check())
			}
			taken++
		}
	}
	if taken < 100 {
		t.Errorf("only %d numbers were tried", taken)
	}
}

func TestTheTableHasEveryNumber(t *testing.T) {
	var l Limits
	fields := map[any]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		switch number := reflect.ValueOf(&l).Elem().FieldByIndex(f.Index); number.Kind() {
		case reflect.Int, reflect.Int64, reflect.Float64:
			fields[number.Addr().Interface()] = f.Tag.Get("toml")
		}
	}
	for k := range keys() {
		if fields[k.field(&l)] != k.Name {
			t.Errorf("%s stands for %q", k.Name, fields[k.field(&l)])
		}
		delete(fields, k.field(&l))
	}
	if len(fields) > 0 {
		t.Errorf("%v are in no row of the table, or in two", fields)
	}
}

func TestNumbersThatFightWithOthersAreRefused(t *testing.T) {
	f := func(want string, pairs ...string) {
		t.Helper()
		configured := usual(t)
		asked := configured
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			var err error
			if asked, _, err = asked.With(name, value); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := asked.CheckAsked(&configured); err != nil {
			got = err.Error()
		}
		if want != "" {
			want = "cannot use " + want + "; set all three, or other numbers"
		}
		if got != want {
			t.Errorf("%q: got  %s\nwant %s", pairs, got, want)
		}
	}
	const but = ", but compact_to must be below compact_at, and clear_at not above it"
	f("")
	f("", "compact_at=0.8")
	f("", "compact_at=0.3", "compact_to=0.2", "clear_at=0.3")
	f("", "clear_at=0.9")
	f("compact_at in x-epitome-set: it would be compact_at 0.5 with compact_to 0.5 and clear_at 0.8"+but, "compact_at=0.5")
	f("compact_to in x-epitome-set: it would be compact_at 0.9 with compact_to 0.9 and clear_at 0.8"+but, "compact_to=0.9")
	f("clear_at in x-epitome-set: it would be compact_at 0.9 with compact_to 0.5 and clear_at 0.91"+but, "clear_at=0.91")
	f("compact_at and compact_to in x-epitome-set: it would be compact_at 0.85 with compact_to 0.87 and clear_at 0.8"+but,
		"compact_at=0.85", "compact_to=0.87")
	broken := Limits{} // as nobody configures them: that is no request's fault
	if err := broken.CheckAsked(&broken); err != nil {
		t.Errorf("without a request: %v", err)
	}
}
