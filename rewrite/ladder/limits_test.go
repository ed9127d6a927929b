package ladder

import (
	"reflect"
	"strings"
	"testing"
)

// usual are the limits of the default configuration.
func usual(t *testing.T) Limits {
	t.Helper()
	l := Usual()
	l.ClearAt, l.CompactAt, l.Target = 0.8, 0.9, 0.5
	if err := l.SetPreset("balanced"); err != nil {
		t.Fatal(err)
	}
	return l
}

// The header x-epitome-set takes every number of [rewrite] by its key, and refuses what is out of bounds.
func TestEveryNumberCanBeSetByItsName(t *testing.T) {
	n := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		name, kind := f.Tag.Get("toml"), f.Type.Kind()
		if name == "-" || kind != reflect.Int && kind != reflect.Float64 {
			continue
		}
		n++
		got, ok, err := usual(t).With(name, "1")
		value := reflect.ValueOf(got).FieldByIndex(f.Index)
		if !ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if value.CanInt() && value.Int() != 1 || value.CanFloat() && value.Float() != 1 {
			t.Errorf("%s is %v, %v", name, value, err)
		}
		for _, bad := range []string{"", "x", "NaN", "Inf", "-1", "1e99", "999999999"} {
			if got, _, err := usual(t).With(name, bad); err == nil || !reflect.DeepEqual(got, usual(t)) {
				t.Errorf("%s: %q gives %+v, %v", name, bad, got, err)
			}
		}
	}
	if n < 10 {
		t.Errorf("the ladder has only %d numbers", n)
	}
}

func TestTextOnlyCanBeSetByItsName(t *testing.T) {
	got, ok, err := usual(t).With("text_only", "true")
	if !ok || err != nil || !got.TextOnly {
		t.Errorf("text_only is %v, %v", got.TextOnly, err)
	}
	for _, bad := range []string{"", "1", "yes"} {
		if got, _, err := usual(t).With("text_only", bad); err == nil || got.TextOnly {
			t.Errorf("%q gives %v, %v", bad, got.TextOnly, err)
		}
	}
}

func TestSharesMustBeInOrder(t *testing.T) {
	f := func(good bool, pairs ...string) {
		t.Helper()
		l := usual(t)
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			var err error
			if l, _, err = l.With(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.CheckShares(); (err == nil) != good {
			t.Errorf("%q: %v", pairs, err)
		}
	}
	f(true, "compact_at=0.3", "compact_to=0.2", "clear_at=0.3")
	f(true, "clear_at=0.9")
	f(false, "compact_at=0.5")
	f(false, "compact_to=0.9")
	f(false, "clear_at=0.91")
	f(true, "compact_turns=5", "keep_turns=4")
	f(false, "compact_turns=5", "keep_turns=10")
}
