package ladder

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"epitome/internal/unit"
	"epitome/rewrite/activity"
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
		name := f.Tag.Get("toml")
		if name == "-" {
			continue
		}
		n++
		want := someLimits()
		want.PriceFixed = name == "cached_price"
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
	f := func(name string, good, bad []string, kind string) {
		t.Helper()
		for _, value := range good {
			if _, ok, err := someLimits().With(name, value); !ok || err != nil {
				t.Errorf("%s: %s is answered with %v", name, value, err)
			}
		}
		for _, value := range append(bad, "", "x", "NaN", "Inf", "-1", "1e99", strconv.Itoa(unit.MostTokens+1)) {
			got, _, err := someLimits().With(name, value)
			if err == nil || !strings.HasPrefix(err.Error(), "write a "+kind) || !reflect.DeepEqual(got, someLimits()) {
				t.Errorf("%s: %q gives %+v and the error %v", name, value, got, err)
			}
		}
	}
	f("offload_tokens", []string{"1", "100000000"}, []string{"0", "1.5", "1e3"}, "number of tokens")
	f("newest_turns", []string{"0", "12"}, []string{"0.5"}, "number of turns")
	f("rent", []string{"0", "2.5", "1000"}, []string{"1001"}, "factor")
	f("clear_at", []string{"0.01", "0.7", "1", "1e-1"}, []string{"0", "1.01", "70%"}, "share")
	f("cached_price", []string{"0", "0.1", "1"}, []string{"1.01"}, "price")
}

// usual are limits that are sound together.
func usual(t *testing.T) Limits {
	t.Helper()
	l := Usual()
	l.ClearAt, l.CompactAt, l.Target = 0.8, 0.9, 0.5
	if err := l.SetPreset("balanced"); err != nil {
		t.Fatal(err)
	}
	return l
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
	f(true)
	f(true, "compact_at=0.8")
	f(true, "compact_at=0.3", "compact_to=0.2", "clear_at=0.3")
	f(true, "clear_at=0.9")
	f(false, "compact_at=0.5")
	f(false, "compact_to=0.9")
	f(false, "clear_at=0.91")
	f(false, "compact_at=0.85", "compact_to=0.87")
}

func TestLimitsShrinkWithTheWindow(t *testing.T) {
	l := usual(t)
	f := func(window, usable int, want string) {
		t.Helper()
		got, err := json.Marshal(l.EffectiveAt(window, usable, 1))
		if err != nil || string(got) != want {
			t.Errorf("at %d: got  %s (%v)\nwant %s", window, got, err, want)
		}
	}
	f(200_000, 190_000, `{"floor":16384,"offload_tokens":4000,"offload_lookup_tokens":2000,"offload_read_tokens":20000,"offload_keep":2000,`+
		`"clear_at":152000,"clear_at_least":20000,"prepare_at":152000,"compact_at":171000,"compact_to":95000,"keep_tokens":0,`+
		`"protect_tokens":5000,"protect_groups":12}`)
	f(10_000, 8_000, `{"floor":8000,"offload_tokens":1500,"offload_lookup_tokens":1500,"offload_read_tokens":1500,"offload_keep":2000,`+
		`"clear_at":6400,"clear_at_least":2500,"prepare_at":6400,"compact_at":7200,"compact_to":4000,"keep_tokens":0,`+
		`"protect_tokens":2000,"protect_groups":3}`)
}

func TestAPriceThatARequestNamesIsGiven(t *testing.T) {
	l, _, err := Limits{CachedPrice: 0.1}.With("cached_price", "0.1")
	if got := l.AtPrice(0.05).CachedPrice; err != nil || got != 0.1 {
		t.Errorf("%v: the model's price stands above that of the request: %v", err, got)
	}
	l, _, err = Limits{CachedPrice: 0.1}.With("rent", "2")
	if err != nil || l.PriceFixed {
		t.Errorf("%v: another number is taken for a price", err)
	}
}

func TestAKnownPriceHoldsUnlessTheUserGaveOne(t *testing.T) {
	l := Limits{CachedPrice: 0.1}
	if got := l.AtPrice(0.5).CachedPrice; got != 0.5 || l.CachedPrice != 0.1 {
		t.Errorf("a cached token costs %v, and %v before", got, l.CachedPrice)
	}
	l.PriceFixed = true
	if got := l.AtPrice(0.5).CachedPrice; got != 0.1 {
		t.Errorf("the user's price is %v", got)
	}
}

func TestLimitsOfToolsAreTokensOfTheModel(t *testing.T) {
	l := someLimits()
	l.ToolLimits = []Limit{{Tool: "x", Tokens: 2000}}
	if limit, _ := l.EffectiveAt(100_000, 80_000, 1.25).LimitOf(&activity.Call{Tool: "x"}); limit != 1600 {
		t.Errorf("2000 tokens of a model are %d of the vocabulary, want 1600", limit)
	}
}
