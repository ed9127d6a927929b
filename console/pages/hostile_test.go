package pages

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"epitome/event"
)

// hostiles are texts that would break out of a page, or break it.
var hostiles = map[string]string{
	"html":      `</td></script><script>alert(1)</script><img src=x onerror=alert(1)>"'&`,
	"template":  `{{.}}{{template "top" .}}{{printf "%s" .Body}}`,
	"attribute": `" onmouseover="alert(1)" style="x`,
	"url":       `javascript:alert(1)//../../-/x?y#z`,
	"controls":  "\x00\x01\x1b[2J\x1b]0;title\x07\r\n\t\x7f\u0085",
	"bidi":      "\u202e\u2066\u200f\u200b\ufeffgnp.exe",
	"broken":    "\xff\xfe\xc3(\xed\xa0\x80",
	"long":      strings.Repeat("<b>m\u202e", 200_000),
	"empty":     "",
}

// poison puts a text into every string within v.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Elem().CanSet() {
			poison(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Map:
		poisonMap(v, text)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				poison(field, text)
			}
		}
	}
}

func poisonMap(v reflect.Value, text string) {
	if v.Type().Key().Kind() != reflect.String || v.Len() == 0 {
		return
	}
	value := v.MapIndex(v.MapKeys()[0])
	v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
}

func TestHostileTextsAreShownAndNothingElse(t *testing.T) {
	for name, hostile := range hostiles {
		m := session()
		poisonSession(m, hostile)
		id := url.PathEscape(hostile)
		for _, path := range []string{"/-/", "/-/?span=" + url.QueryEscape(hostile) + "&by=" + url.QueryEscape(hostile),
			"/-/conversations", "/-/conversations?match=" + url.QueryEscape(hostile[:min(len(hostile), 9_000)]) + "&sort=" +
				url.QueryEscape(hostile), "/-/conversations/" + id, "/-/exchanges/60", "/-/exchanges/66",
			"/-/exchanges/60/edits/70", "/-/artifacts/" + id + "/view", "/-/artifacts/" + id + "/view?find=" +
				url.QueryEscape(hostile), "/-/config", "/-/memory"} {
			if strings.Contains(path+"/", "//") || len(path) > 1<<20 {
				continue // no request comes so far
			}
			status, page := get(t, m, path, true)
			if status >= http.StatusInternalServerError {
				t.Errorf("%s: %.60s: %d %.300s", name, path, status, page)
			}
			if status == http.StatusMovedPermanently {
				continue
			}
			words(t, page)
			if strings.ContainsAny(page, "\x00\x1b\u202e\u2066\u200f\ufeff") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
				at := strings.IndexAny(page, "\x00\x1b\u202e\u2066\u200f\ufeff")
				t.Errorf("%s: %.60s shows what cannot be seen, or ends early: %.200q", name, path, page[max(0, at-100):])
			}
			if len(page) > 1<<20 {
				t.Errorf("%s: %.60s has %d bytes", name, path, len(page))
			}
		}
	}
}

// poisonSession puts the text into all that a source says.
func poisonSession(m *madeUp, text string) {
	decision := m.stories[0].Exchanges[59].Decision
	edits := m.edits[decision]
	edits.List = slices.Clone(edits.List)
	poison(reflect.ValueOf(&m.stories).Elem(), text)
	poison(reflect.ValueOf(&m.summary).Elem(), text)
	poison(reflect.ValueOf(&m.settings).Elem(), text)
	poison(reflect.ValueOf(&m.memories).Elem(), text)
	poison(reflect.ValueOf(&edits.List).Elem(), text)
	for i := range m.stories[0].Exchanges {
		m.stories[0].Exchanges[i].Decision = decision
	}
	m.edits[decision] = edits
	m.contents[strings.TrimSuffix(text, ".txt")] = text + "\n" + text
	m.mode = text
}

func TestEveryFaultAndReasonHasItsWords(t *testing.T) {
	for m := range misses {
		if missWords(m) == string(m) {
			t.Errorf("the miss %q has no words", m)
		}
	}
	for c := range event.Codes() {
		if got := codeWords(c); got == "" || got == string(c) {
			t.Errorf("the code %q has no words", c)
		}
	}
	for _, f := range []event.Fault{event.ClientGone, event.ClientSlow, event.Refused, event.Unreachable, event.Broken,
		event.Timeout, event.Truncated, event.Stopped, event.Panic} {
		if got := faultWords(f); got == string(f) || got == "" {
			t.Errorf("the fault %q has no words", f)
		}
	}
	for _, u := range []string{event.UnpricedModel, event.UnpricedCached, event.UnpricedUsage, event.UnpricedOdd,
		event.UnpricedFailed, event.UnpricedOther} {
		if got := unpricedWords(u); got == u || got == "" {
			t.Errorf("the reason %q has no words", u)
		}
	}
}

func TestLinesAreCutAndCounted(t *testing.T) {
	f := func(in string, want ...line) {
		t.Helper()
		got, more, err := readLines(strings.NewReader(in), 3)
		for i := range got {
			got[i].raw = ""
		}
		if err != nil || more != (strings.Count(in, "\n") > 3) || !slices.Equal(got, want) {
			t.Errorf("%.40q: %.300v, %v, %v", in, got, more, err)
		}
	}
	f("")
	f("a", line{Number: 1, Text: "a"})
	f("a\r\n\n\tb\x1b\n", line{Number: 1, Text: "a"}, line{Number: 2}, line{Number: 3, Text: "\tb␛"})
	f("1\n2\n3\n4\n", line{Number: 1, Text: "1"}, line{Number: 2, Text: "2"}, line{Number: 3, Text: "3"})
	long := strings.Repeat("é", 10<<20)
	f(long+"\nend", line{Number: 1, Text: long[:2*mostLine], Cut: int64(len(long)+1) - 2*mostLine},
		line{Number: 2, Text: "end"})
	exact := strings.Repeat("x", mostLine)
	f(exact+"yz\n", line{Number: 1, Text: exact, Cut: 2})
}

func TestADifferenceTurnsOneTextIntoTheOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() (all []line) {
		for i := range random.IntN(40) {
			all = append(all, line{Number: i + 1, raw: string(rune('a' + random.IntN(4)))})
		}
		return all
	}
	for range 2000 {
		before, after := text(), text()
		var old, fresh []string
		for _, c := range compare(before, after) {
			if c.Kind != "ins" {
				old = append(old, c.raw)
			}
			if c.Kind != "del" {
				fresh = append(fresh, c.raw)
			}
		}
		if !slices.Equal(old, rawOf(before)) || !slices.Equal(fresh, rawOf(after)) {
			t.Fatalf("%v and %v: %v", before, after, compare(before, after))
		}
	}
}

func TestLongRunsOfLinesAreFolded(t *testing.T) {
	f := func(kinds string, want string) {
		t.Helper()
		var all []change
		for i, k := range kinds {
			all = append(all, change{line: line{Number: i + 1}, Kind: map[rune]string{'-': "del", '+': "ins"}[k]})
		}
		var got strings.Builder
		for _, c := range fold(all) {
			got.WriteString(map[string]string{"del": "-", "ins": "+", "skip": fmt.Sprintf("(%d from %d)", c.Left, c.Number),
				"": " "}[c.Kind])
		}
		if got.String() != want {
			t.Errorf("%q is folded to %q, want %q", kinds, got.String(), want)
		}
	}
	f("", "")
	f(" +-- ", " +-- ")
	f(strings.Repeat("-", 12), strings.Repeat("-", 12))
	f(" "+strings.Repeat("-", 13)+"+", " ----(5 from 6)----+")
	f(strings.Repeat("-", 20)+" "+strings.Repeat("-", 20), "----(12 from 5)---- ----(12 from 26)----")
}

func rawOf(all []line) (raw []string) {
	for _, l := range all {
		raw = append(raw, l.raw)
	}
	return raw
}

func TestAnArtifactMayBeEmpty(t *testing.T) {
	m := session()
	m.contents["none"] = ""
	says(t, m, "/-/artifacts/none/view", true, "It is empty", "0 lines")
	says(t, m, "/-/artifacts/aaaa1111/view?find=%00nothing", true, "No line holds it")
}
