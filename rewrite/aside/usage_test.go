package aside

import "testing"

func TestTokensOfRoundsAreAdded(t *testing.T) {
	f := func(before, now, want string) {
		t.Helper()
		if got := string(AddUsage([]byte(before), []byte(now))); got != want {
			t.Errorf("%s and %s: got %s, want %s", before, now, got, want)
		}
	}
	f("", `{"a":1}`, `{"a":1}`)
	f(`{"a":1}`, "", `{"a":1}`)
	f(`{"a":1}`, "null", `{"a":1}`)
	f(`{"a":1,"b":{"c":2,"d":"x"}}`, `{"b":{"c":3,"d":"y","e":null},"a":4}`, `{"b":{"c":5,"d":"y","e":null},"a":5}`)
	f(`{"a":1,"gone":7}`, `{"a":2}`, `{"a":3,"gone":7}`)
	f(`{"a":{"b":1}}`, `{"a":null}`, `{"a":{"b":1}}`)
	f(`{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`)
	f(`{"a":3}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`)
	f(`{"a":1e308,"b":-1e999}`, `{"a":1e308,"b":1e999}`, `{"a":1e308,"b":1e999}`)
	f(`{"cost":0.25,"n":9007199254740993}`, `{"cost":0.5,"n":1}`, `{"cost":0.75,"n":9007199254740994}`)
}
