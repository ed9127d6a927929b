package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/money"
)

func TestTokensOfCountsCharacters(t *testing.T) {
	for chars, want := range map[int]int{0: 1, 3: 1, 4: 2, 18: 6, 36: 11, 360: 101} {
		if got := TokensOf(chars); got != want {
			t.Errorf("%d characters: %d tokens, want %d", chars, got, want)
		}
	}
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

// What a replay bills is what the console calls the price of a request, by whatever price.
func TestBillsAreThoseOfTheConsole(t *testing.T) {
	dollars := [...]float64{1, 0.1, 5}
	console := money.New(money.Settings{
		Own: money.Config{"m": {Input: &dollars[0], Cached: &dollars[1], Output: &dollars[2]}}, Life: money.CacheLife,
	})
	f := func(raw, sent Input, pause time.Duration) {
		t.Helper()
		e := &event.Exchange{
			Mode: event.ModeOn, Status: 200, FirstByte: 1,
			Shaping: event.Shaping{
				Model: "m", TokensBefore: event.Tokens{User: raw.Tokens}, TokensAfter: event.Tokens{User: sent.Tokens},
				HeldBefore: int32(raw.Held), HeldAfter: int32(sent.Held),
			},
		}
		console.Bill(e, pause)
		by := BillTariff(NewPrice)
		if by.Expires(pause) {
			raw.Held, sent.Held = 0, 0
		}
		want := [...]int64{int64(math.Round(1000 * by.Price(raw))), int64(math.Round(1000 * by.Price(sent)))}
		if got := [...]int64{e.Bill.Raw, e.Bill.Sent}; got != want || !e.Bill.Ruled {
			t.Errorf("%v and %v: %d, want %d", raw, sent, got, want)
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		any := func() Input { return Input{1 + dice.IntN(5000), dice.IntN(6000)} }
		f(any(), any(), time.Duration(dice.IntN(8))*time.Minute)
	}
}
