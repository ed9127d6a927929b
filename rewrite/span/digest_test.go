package span

import "testing"

// A list says as much as the one text in it, or it has no text of its own at all.
func TestSoleTextIsAllOfAList(t *testing.T) {
	asked := 0
	plain := func(body []byte, i int) (end int, text Span, err error) {
		asked++
		end, err = EndOfValue(body, i)
		if body[i] == '"' {
			text = Span{Start: i, End: end}
		}
		return end, text, err
	}
	f := func(body, want string, reads int) {
		t.Helper()
		asked = 0
		text, end := SoleText([]byte(body), 0, plain)
		if got := string(text.Of([]byte(body))); got != want || want != "" && body[:end] != body[:len(body)-1] {
			t.Errorf("%s: got %q, which ends at %d; want %q", body, got, end, want)
		}
		if asked != reads {
			t.Errorf("%s: %d values were read, want %d", body, asked, reads)
		}
	}
	f(`["a"],`, `"a"`, 1)
	f(`[ "a" ],`, `"a"`, 1)
	f(`"a",`, "", 0)
	f(`[],`, "", 0)
	f(`[1],`, "", 1)
	f(`["a","b","c"],`, "", 1)
	f(`[1,"a"],`, "", 1)
	f(`["a"`, "", 1)
}
