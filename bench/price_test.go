package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestTokensOfCountsCharacters(t *testing.T) {
	for chars, want := range map[int]int{0: 1, 3: 1, 4: 2, 18: 6, 36: 11, 360: 101} {
		if got := tokensOf(chars); got != want {
			t.Errorf("%d characters: %d tokens, want %d", chars, got, want)
		}
	}
}

func TestPriceOfARequest(t *testing.T) {
	f := func(tokens, cached int, want float64) {
		t.Helper()
		if got := (tariff{write: newPrice}).price(tokens, cached); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%d tokens of which %d are cached: %g, want %g", tokens, cached, got, want)
		}
	}
	f(100, 0, 100)
	f(100, 80, 28)
	f(100, 100, 10)
	f(50, 80, 5) // a request that has shrunk
}

// A request of smalltalk comes when its last message does: the second one three minutes after the first, the third one at the given time.
func TestLongPausesEmptyTheCache(t *testing.T) {
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	minutes := func(all ...float64) []time.Time {
		times := make([]time.Time, len(all))
		for i, m := range all {
			if m >= 0 {
				times[i] = start.Add(time.Duration(m * float64(time.Minute)))
			}
		}
		return times
	}
	f := func(write, cost, raw float64, s Shaper, times []time.Time) {
		t.Helper()
		c, err := newRecording([]byte(smalltalk()))
		if err != nil {
			t.Fatal(err)
		}
		c.times = times
		p := newPlayer(c, "it", 1000, Shaping{Shaper: s})
		p.tariff.write = write
		for b := range c.bounds {
			p.turn(b, c.prefix(c.bounds[b]))
		}
		if math.Abs(p.tally.cost-cost) > 1e-9 || math.Abs(p.tally.rawCost-raw) > 1e-9 || p.tally.unrecorded > 0 {
			t.Errorf("write %g, times %v: cost %g, want %g; raw %g, want %g", write, times, p.tally.cost, cost, p.tally.rawCost, raw)
		}
	}
	warm := 11.0 + (1.1 + 20) + (3.1 + 20) // 11 new · 11 cached, 20 new · 31 cached, 20 new
	cold := 11.0 + (1.1 + 20) + 51         // the third one is all new
	f(1, warm, warm, identity{}, nil)
	f(1, warm, warm, identity{}, minutes(-1, -1, -1, -1, -1))
	f(1, warm, warm, identity{}, minutes(0, 1, 3, 4, 8)) // five minutes to the second
	f(1, cold, cold, identity{}, minutes(0, 1, 3, 4, 8.01))
	f(1, cold, cold, identity{}, minutes(0, 1, 3, 8.5, 4))   // the answer came after what follows it in the list
	f(1, warm, warm, identity{}, minutes(0, -1, -1, 10, 20)) // it is not known when the second one was
	f(1, warm, warm, identity{}, minutes(20, 10, 3, 2, 1))   // a clock that goes back
	f(1, warm, warm, identity{}, minutes(0, 60))             // of other messages
	f(1.25, 11*1.25+(1.1+25)+(3.1+25), 11*1.25+(1.1+25)+(3.1+25), identity{}, nil)
	f(1.25, (11+51)*1.25+(1.1+25), (11+51)*1.25+(1.1+25), identity{}, minutes(0, 1, 3, 4, 60))

	// The third request changes the third message: 1 beside the messages and two of 10 are cached, unless the pause was long.
	change := func() Shaper { return replacing(third, "!!!!", "????") }
	f(1, 11+21.1+0.1*21+30, warm, change(), nil)
	f(1, cold, cold, change(), minutes(0, 1, 3, 4, 60))
}

// The lengths are those of json.dumps in Python 3.
func TestDumpedLengthIsThatOfPython(t *testing.T) {
	f := func(json string, want int) {
		t.Helper()
		if got := dumpedLength(json); got != want {
			t.Errorf("%s: %d characters, want %d", json, got, want)
		}
	}
	f(`[]`, 2)
	f(" [ { \"a\" :1,\n\"b\":[true,null] } ] ", len(`[{"a": 1, "b": [true, null]}]`))
	f(`"a,b:c"`, 7)
	f(`"\n\t\"\\\/"`, len(`"\n\t\"\\/"`))
	f(`"\u0041\u00e9é"`, len(`"A\u00e9\u00e9"`))
	f(`"😀\ud83d\ude00"`, 2+4*6)
	f(`"\u007f\u0001"`, 2+2*6)
	f(`-1.5e3`, 6)
}

func TestLeavesAreTheValuesOfArguments(t *testing.T) {
	f := func(arguments string, want ...string) {
		t.Helper()
		if got := leaves(arguments); !slices.Equal(got, want) {
			t.Errorf("leaves of %s: %q, want %q", arguments, got, want)
		}
	}
	f(`{"path":"a/b","n":12345,"deep":{"x":[true,null,"é\n"]}}`, "a/b", "12345", "true", "null", "é\n")
	f(`{}`)
	f(`["a"]`)
	f(`"a"`)
	f(`{"a":`)
	f(``)
	if got := leaves(`{"a":` + nest(200) + `}`); len(got) != 1 {
		t.Errorf("%d leaves", len(got))
	}
}

func nest(depth int) string {
	b := make([]byte, 2*depth)
	for i := range depth {
		b[i], b[2*depth-1-i] = '[', ']'
	}
	return string(b)
}
