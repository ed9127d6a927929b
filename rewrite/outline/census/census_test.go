package census

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/span"
)

// size counts a token per byte.
func size(s string) int { return len(s) }

// TestCountsAreTrue compares with counting by hand.
func TestCountsAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New()
		n := rapid.IntRange(8, 60).Draw(t, "items")
		has, states, least, most := 0, map[string]int{}, 1<<30, -1
		var items []string
		for range n {
			number := rapid.IntRange(0, 500).Draw(t, "number")
			item := map[string]any{"n": number, "deep": map[string]any{"er": true}}
			least, most = min(least, number), max(most, number)
			if rapid.Bool().Draw(t, "has") {
				state := rapid.SampledFrom([]string{"on", "off"}).Draw(t, "state")
				item["state"] = state
				states[state]++
				has++
			}
			raw, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, string(raw))
			c.Learn(raw, span.Span{End: len(raw)})
		}
		told := c.Describe(1<<20, size)
		if want := fmt.Sprintf(" deep.er: true ×%d\n", n); !strings.Contains(told, want) {
			t.Fatalf("no %q in %q", want, told)
		}
		for state, k := range states {
			if want := fmt.Sprintf("%q ×%d", state, k); 4*len(states) <= has && !strings.Contains(told, want) {
				t.Fatalf("no %q in %q", want, told)
			}
		}
		if want := fmt.Sprintf("(in %d of %d)", has, n); has > 0 && has < n && !strings.Contains(told, want) {
			t.Fatalf("no %q in %q", want, told)
		}
		if want := fmt.Sprintf(" n: %d to %d\n", least, most); !strings.Contains(told, "n: ") ||
			!strings.Contains(told, "×") && !strings.Contains(told, want) {
			t.Fatalf("no %q in %q", want, told)
		}
		odd, all := c.OddItems(func(i int) Odd { return c.OddItem([]byte(items[i]), span.Span{End: len(items[i])}, i) })
		if all < len(odd) || all > n {
			t.Fatalf("%d of %d items differ, and %d are given", all, n, len(odd))
		}
		for k, o := range odd {
			if o.Score <= 0 || len(o.Why) == 0 || k > 0 && odd[k-1].Index >= o.Index {
				t.Fatalf("%+v", odd)
			}
		}
	})
}

func TestAllElementsOfInnerListsAreCounted(t *testing.T) {
	c := New()
	var inner []string
	for range 29 {
		inner = append(inner, `{"state":"ok"}`)
	}
	items := make([][]byte, 20)
	for i := range items {
		last := "ok"
		if i == 7 {
			last = "stuck"
		}
		items[i] = fmt.Appendf(nil, `{"sub":[%s,{"state":%q}]}`, strings.Join(inner, ","), last)
		c.Learn(items[i], span.Span{End: len(items[i])})
	}
	if want, told := ` sub[].state: "ok" ×599, "stuck" ×1`, c.Describe(1<<20, size); !strings.Contains(told, want) {
		t.Errorf("no %q in %q", want, told)
	}
	odd, all := c.OddItems(func(i int) Odd { return c.OddItem(items[i], span.Span{End: len(items[i])}, i) })
	if all != 1 || odd[0].Index != 7 {
		t.Errorf("%d differ: %+v", all, odd)
	}
}

func TestWhatEveryItemHasIsNotOdd(t *testing.T) {
	f := func(value func(i int) string, want int) {
		t.Helper()
		c := New()
		const n = 100
		item := func(i int) []byte { return []byte(`{"id":` + fmt.Sprint(i+1) + `,"v":` + value(i) + `}`) }
		for i := range n {
			c.Learn(item(i), span.Span{End: len(item(i))})
		}
		odd, all := c.OddItems(func(i int) Odd { return c.OddItem(item(i), span.Span{End: len(item(i))}, i) })
		if len(odd) != want || all != want {
			t.Errorf("%s, %s …: %d of %+v", value(0), value(1), all, odd)
		}
	}
	f(func(int) string { return `"same"` }, 0)
	f(func(i int) string { return fmt.Sprintf(`"all-%d"`, i) }, 0)
	f(func(i int) string { return []string{`true`, `false`}[i%2] }, 0)
	f(func(i int) string { return []string{`null`, `"x"`}[i/99] }, 1)
	f(func(i int) string { return []string{`[]`, `["x"]`}[i/98] }, 2)
	f(func(i int) string { return []string{`"info"`, `"error"`}[i/90] }, 10)
	f(func(i int) string { return []string{`"info"`, `"error"`}[i/40%2] }, 0)
	f(func(i int) string { return fmt.Sprintf(`"%s of step %d"`, []string{"end", "failure"}[i/95], i) }, 5)
	f(func(i int) string { return fmt.Sprint((i*i%89 + 1) * (1 + i/99*1000)) }, 1)
}

func TestTimesAreToldToTheLastDigit(t *testing.T) {
	f := func(zone, want string) {
		t.Helper()
		c := New()
		for i := range 20 {
			item := fmt.Appendf(nil, `{"t":"2026-03-01T10:00:00.%03d%s"}`, (i*7+3)%20, zone)
			c.Learn(item, span.Span{End: len(item)})
		}
		if got := c.Describe(1<<20, size); got != want {
			t.Errorf("%s: %q", zone, got)
		}
	}
	f("Z", " t: \"2026-03-01T10:00:00.000Z\" to \"2026-03-01T10:00:00.019Z\"\n")
	f("+01:00", "")
}

func TestTimesOfOneShapeAloneAreCompared(t *testing.T) {
	f := func(want string, times ...string) {
		t.Helper()
		c := New()
		for _, text := range times {
			item := fmt.Appendf(nil, `{"t":%q}`, text)
			c.Learn(item, span.Span{End: len(item)})
		}
		if got := c.Describe(1<<20, size); got != want {
			t.Errorf("%q: %q", times, got)
		}
	}
	f(" t: \"2026-01-28\" to \"2026-12-01\"\n", "2026-12-01", "2026-01-28", "2026-02-28")
	f(" t: \"2026-01-28 10:00\" to \"2026-12-01 09:00\"\n", "2026-12-01 09:00", "2026-01-28 10:00")
	f(" t: \"2026-03-01T10:00:00Z\" to \"2026-03-01T10:00:00.55Z\"\n",
		"2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00.55Z", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00.45Z")
	f("", "2026-12-01", "2026-01-28T10:00:27Z", "2026-02-28T10:00:00Z")
	f("", "2026-12-01T10:00:00", "2026-12-01T09:00:00Z", "2026-12-01T08:00:00Z")
	f("", "2026-12-01 10:00:00 AM", "2026-12-01 01:00:00 PM", "2026-12-01 11:30:00 AM")
	f("", "2026-12-01 9:00:00", "2026-12-01 10:00:00", "2026-12-01 8:00:00")
}

func TestKeysAreToldApart(t *testing.T) {
	f := func(item, want string) {
		t.Helper()
		c := New()
		for range 40 {
			c.Learn([]byte(item), span.Span{End: len(item)})
		}
		if got := c.Describe(1<<20, size); got != want {
			t.Errorf("%s: %q", item, got)
		}
	}
	f(`{"s":"ok","s":"bad","n":1}`, " s: \"ok\" ×40, \"bad\" ×40\n n: 1 ×40\n")
	f(`{"\u0073":1,"n":2}`, " \"\\u0073\": 1 ×40\n n: 2 ×40\n")
	f(`{"a.b":1,"a":{"b":2}}`, " \"a.b\": 1 ×40\n a.b: 2 ×40\n")
	f(`{"a[]":{"b":1},"a":[{"b":2}]}`, " \"a[]\".b: 1 ×40\n a[].b: 2 ×40\n")
	f(`{"":1,"a b":2}`, " \"\": 1 ×40\n a b: 2 ×40\n")
}

func TestRowsAreCounted(t *testing.T) {
	c := OfColumns([]string{"state", "error"})
	const n = 40
	cell := func(column, row int) []byte {
		switch {
		case column == 0:
			return []byte(`"ok"`)
		case row == 7:
			return []byte(`"timeout"`)
		}
		return []byte(`""`)
	}
	for row := range n {
		c.LearnCell(0, cell(0, row))
		c.LearnCell(1, cell(1, row))
		c.EndRow()
	}
	if got := c.Describe(1<<20, size); got != " state: \"ok\" ×40\n error: \"\" ×39, \"timeout\" ×1\n" {
		t.Errorf("%q", got)
	}
	odd, _ := c.OddItems(func(row int) Odd {
		o := Odd{Index: row}
		c.OddCell(&o, 0, cell(0, row))
		c.OddCell(&o, 1, cell(1, row))
		return o
	})
	if len(odd) != 1 || odd[0].Index != 7 || odd[0].Why[0] != "error" {
		t.Errorf("%+v", odd)
	}
}
