package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFindFindsWhatCallsName(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for _, n := range Find(text, 60) {
			if n.Word {
				got = append(got, n.Text)
			} else {
				got = append(got, "«"+n.Text+"»")
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("names in %q: %q, want %q", text, got, want)
		}
	}
	f("plain words only, 123 and abc")
	f("read src/app/main.go.", "src/app/main.go", "main.go")
	f("~/.config/x ../up/a_b //host/x", "~/.config/x", "/up/a_b", "/host/x") // dots around a name are no part of it
	f("a.b.c d.e", "a.b.c")                                                  // too short is no name
	f("snake_case _private x_ camelCase v2Api HTTPServer éCamel", "snake_case", "camelCase", "v2Api")
	f("1234 123 a1234 1234. 12.3456 12345x", "1234")
	f("$el.value fn$x.y", "$el.value", "fn$x.y")
	f(`say "eight ch" and 'seven c' or `+"`back tick`", "«eight ch»", "«back tick»")
	f("'"+strings.Repeat("é", 80)+"' '"+strings.Repeat("é", 81)+"'", "«"+strings.Repeat("é", 80)+"»")
	f("\"eight\nch\" x")
	f("some_name some_name other_name", "some_name", "other_name")
	f("naï_tést is_ok", "is_ok") // the characters at the underscore have to be ASCII
	f("größe_x1 über/maß", "größe_x1", "über/maß")
}

func TestFindStopsAtSixty(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "name_%d ", i)
	}
	if got := Find(text.String(), 60); len(got) != 60 || got[59].Text != "name_59" {
		t.Errorf("%d names, the last %q", len(got), got[len(got)-1].Text)
	}
}

func TestLongLinesDropsMarksAndRepeats(t *testing.T) {
	long := "a line of twenty-four ch"
	text := "+\t" + long + "  \n- " + long + "\nshort\n" + strings.Repeat("x", 301) + "\n" + strings.Repeat("ß", 300)
	var got []string
	for _, n := range LongLines(text, 40) {
		got = append(got, n.Text)
	}
	if want := []string{long, strings.Repeat("ß", 300)}; !slices.Equal(got, want) {
		t.Errorf("lines %q", got)
	}
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, "line number %d, which is long enough\n", i)
	}
	if got := len(LongLines(many.String(), 40)); got != 40 {
		t.Errorf("%d lines", got)
	}
}

// Texts that a careless search would go through once for each of their characters.
func TestFindIsLinearOnHardTexts(t *testing.T) {
	for _, unit := range []string{"a", "a.", "..", "/", "~/", "_", "$", "1", "\"", "a/", "'x"} {
		text := strings.Repeat(unit, 2_000_000/len(unit))
		if got := len(Find(text, 60)); got > 60 {
			t.Errorf("%d names in many %q", got, unit)
		}
	}
}

// The definition of a name, as regular expressions that are tried at every place: slow, and short enough to be read.
var (
	pathRule  = regexp.MustCompile(`^[~.]{0,2}/?[\w.@+-]+(?:/[\w.@+-]+)+`)
	wordRules = []*regexp.Regexp{
		regexp.MustCompile(`^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+`),
		regexp.MustCompile(`^\w*[A-Za-z0-9]_[A-Za-z0-9]\w*\b`),
		regexp.MustCompile(`^[A-Za-z]*[a-z0-9][A-Z]\w*\b`),
		regexp.MustCompile(`^\d{4,}`),
	}
	quoteRule = regexp.MustCompile("^(?:\"([^\"\\n]{8,80})\"|'([^'\\n]{8,80})'|`([^`\\n]{8,80})`)")
)

func byRules(text string, match func(i int) (end int, found string)) (all []finding) {
	for i := 0; i < len(text); i++ {
		if end, s := match(i); end > 0 {
			all = append(all, finding{Name{Text: s}, i})
			i += end - 1
		}
	}
	return all
}

func TestFinderAgreesWithTheRules(t *testing.T) {
	isWord := func(text string, i int) bool { return i >= 0 && i < len(text) && InWord(rune(text[i])) }
	word := func(text string, i int) (int, string) {
		for kind, rule := range wordRules {
			m := rule.FindString(text[i:])
			end := i + len(m)
			borders := kind == 0 || !isWord(text, i-1)
			if kind == 3 {
				borders = borders && !isWord(text, end) && !strings.HasSuffix(text[:i], ".") &&
					!strings.HasPrefix(text[end:], ".")
			}
			if m != "" && borders {
				return len(m), m
			}
		}
		return 0, ""
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aZq1_9$../~@+-\"'` \n,"))).Draw(t, "text")
		var got finder
		check := func(kind string, find func(), match func(i int) (int, string)) {
			got = finder{text: text}
			find()
			for i := range got.found {
				got.found[i].Word = false
			}
			if want := byRules(text, match); !slices.Equal(got.found, want) {
				t.Fatalf("%s in %q: %v, want %v", kind, text, got.found, want)
			}
		}
		check("paths", func() { got.paths() }, func(i int) (int,
			string) {
			m := pathRule.FindString(text[i:])
			return len(m), m
		})
		check("words", func() { got.words() }, func(i int) (int, string) { return word(text, i) })
		check("quotes", func() { got.quotes() }, func(i int) (int, string) {
			m := quoteRule.FindStringSubmatch(text[i:])
			if m == nil {
				return 0, ""
			}
			return len(m[0]), m[1] + m[2] + m[3]
		})
	})
}

func FuzzFindNeedsNothingOfItsText(f *testing.F) {
	for _, seed := range []string{"", "a/b", "\xff/\xfe_x", "“a_b”", strings.Repeat(`"`, 20), "x.\xc3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range append(Find(text, 60), LongLines(text, 40)...) {
			if size := utf8.RuneCountInString(n.Text); size < 4 || size > 300 || !strings.Contains(text, n.Text) {
				t.Errorf("%q is no name of the text", n.Text)
			}
			if !n.Word && !n.In(text) {
				t.Errorf("%q is not found where it is", n.Text)
			}
		}
	})
}

func TestNameInWantsBordersForWords(t *testing.T) {
	f := func(n Name, text string, want bool) {
		t.Helper()
		if got := n.In(text); got != want {
			t.Errorf("%v in %q: %v", n, text, got)
		}
	}
	f(Name{"main.go", true}, "xmain.go main.go", true)
	f(Name{"main.go", true}, "xmain.go main.gox main.go_", false)
	f(Name{"main.go", true}, "émain.go", false)
	f(Name{"main.go", true}, "main.go", true)
	f(Name{"main.go", false}, "xmain.gox", true)
}
