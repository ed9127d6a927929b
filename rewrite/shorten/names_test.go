package shorten

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNamesAreThoseRepeatedMost(t *testing.T) {
	f := func(text string, most int, want string) {
		t.Helper()
		if got := NamesIn(text, most); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	f("", 100, "")
	f("only plain words stand here, and some.", 100, "")
	f("fooBar baz_qux fooBar", 100, "fooBar baz_qux")
	f("fooBar baz_qux fooBar", 14, "fooBar baz_qux")
	f("fooBar baz_qux fooBar", 13, "fooBar")
	f("fooBar baz_qux fooBar", 5, "")
	f("fooBar baz_qux fooBar", -1, "")
	f("fooBar src/main.go", 100, "src/main.go fooBar main.go") // of equally many, paths first
	f("short a_b c/d a.b 12345", 100, "")
	f("./a.b/c ~/a/bcd ../x/yz /etc/hosts //etc/hosts https://host/a/b", 100, "/etc/hosts ./a.b/c ~/a/bcd ../x/yz /host/a/b")
	f("~~/ab/cd a.~/b/cde a/b//cd/ef", 100, "~~/ab/cd .~/b/cde /cd/ef")
	f("1234567 a2345678 1.345678 3456789.5 4567890. $5678901", 100, "1234567 5678901")
	f("9foo_bar.baz 8Groups$x.y 7foo.bar", 100, "9foo_bar 8Groups foo.bar")
	f("self.x.y MAX_2_TIMES v2Beta HTTPServer __init__ $scope.value 9abc.def", 100, "self.x.y MAX_2_TIMES v2Beta $scope.value abc.def")
	f("naïve_name résumé.part docs/réa 文件foo_bar在", 100, "foo_bar")
	f(strings.Repeat("long_", 20), 1000, "")
	f("x_"+strings.Repeat("y", 97), 1000, "x_"+strings.Repeat("y", 97))
	f("aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQ a_very_long_name_that_somebody_gave_to_aFunction", 1000, "a_very_long_name_that_somebody_gave_to_aFunction")
	f("objects/d3/a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d", 1000, "")
}

// slowNames does the same as namesIn, with regular expressions and no bound.
func slowNames(text string, most int) string {
	text = Decoded(text)
	paths := regexp.MustCompile(`[~.]{0,2}/?[\w.@+-]+(?:/[\w.@+-]+)+`)
	joined := regexp.MustCompile(`[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+|\b\w*[A-Za-z0-9]_[A-Za-z0-9]\w*\b|\b[A-Za-z]*[a-z0-9][A-Z]\w*\b`)
	digits := regexp.MustCompile(`\d{4,}`)
	besideNumber, letter := regexp.MustCompile(`[\w.]`), regexp.MustCompile(`[\x{80}-\x{2e7f}]`)
	letters := regexp.MustCompile(`\pL`)
	var all []countedName
	var kept [][]int
	take := func(at []int, path bool) {
		name := text[at[0]:at[1]]
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		fragment := func(r rune) bool { return letter.MatchString(string(r)) && letters.MatchString(string(r)) }
		if len(name) < 6 || len(name) > 99 || isCode(name) {
			return
		}
		i := slices.IndexFunc(all, func(n countedName) bool { return n.Name == name })
		escape := before == '\\' && strings.Contains("nrt", name[:1])
		if i >= 0 {
			all[i].n++
		} else if !fragment(before) && !fragment(after) && !escape {
			all = append(all, countedName{name, 1, path})
		}
	}
	for _, at := range paths.FindAllStringIndex(text, -1) {
		take(at, true)
	}
	kept = joined.FindAllStringIndex(text, -1)
	for _, at := range digits.FindAllStringIndex(text, -1) {
		inside := slices.ContainsFunc(kept, func(k []int) bool { return k[0] < at[1] && at[0] < k[1] })
		beside := text[max(at[0]-1, 0):at[0]] + text[at[1]:min(at[1]+1, len(text))]
		if !inside && !besideNumber.MatchString(beside) {
			kept = append(kept, at)
		}
	}
	slices.SortFunc(kept, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for _, at := range kept {
		take(at, false)
	}
	slices.SortStableFunc(all, func(a, b countedName) int { return cmp.Compare(b.n, a.n) })
	out := ""
	for _, n := range all {
		if len(out)+1+len(n.Name) > most+1 {
			break
		}
		out += " " + n.Name
	}
	return strings.TrimPrefix(out, " ")
}

func TestNamesAreThoseOfTheRegularExpressions(t *testing.T) {
	pieces := []string{"a", "foo", "Bar", "B", "x", "1", "1234", "123456", "_", "_", ".", ".", "/", "/", "~", "$",
		"@", "+", "-", " ", "\n", "é", "漢", "(", "abcdef"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 20, 150).Draw(t, "pieces"), "")
		most := rapid.IntRange(0, 1000).Draw(t, "most")
		if got, want := NamesIn(text, most), slowNames(text, most); got != want {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
}

func TestNamesOfRealResultsAreThoseOfTheRegularExpressions(t *testing.T) {
	results := 0
	corpusResults(t, func(text string) {
		if results++; len(text) > 20_000 || results%7 != 0 {
			return
		}
		if got, want := NamesIn(text, 400), slowNames(text, 400); got != want {
			t.Errorf("%.200q: got\n%s\nwant\n%s", text, got, want)
		}
	})
}

func TestManyNamesTakeBoundedMemory(t *testing.T) {
	var text strings.Builder
	for i := range 3 * mostNames {
		fmt.Fprintf(&text, "name_%d early_name late_%d ", i, i)
	}
	for range 10 {
		text.WriteString("late_comer ")
	}
	if got := NamesIn(text.String(), 17); got != "early_name name_0" {
		t.Errorf("got %q", got)
	}
	n := NameCount{text: text.String(), kinds: nameBytes(), place: make(map[string]int32)}
	for i := range strings.Count(n.text, " ") {
		n.add(i*8, i*8+7, false)
	}
	if len(n.Found) != mostNames || len(n.place) != mostNames {
		t.Errorf("%d names are remembered", len(n.Found))
	}
}

// Anything that is not linear would take minutes.
func TestNamesOfAwkwardTextsAreFoundInOnePass(t *testing.T) {
	for _, piece := range []string{"a", "A", "1", "_", ".", "/", "~", "$", "a/", "a//", "a.", "1.", "a_", "aB", "a$",
		"1$a.", "~/a/b", ".~", "a\n", "é", "\xff"} {
		if got := NamesIn(strings.Repeat(piece, manyBytes/len(piece)), 100); got != "" && piece != "~/a/b" {
			t.Errorf("%q: got %q", piece, got)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("src/main.go fooBar a.b.c x_y 1234567 ~/a/b\xff é", 40)
	f.Fuzz(func(t *testing.T, text string, most int) {
		NamesIn(text, most) // bytes that are no UTF-8 must do no harm
		text = strings.ToValidUTF8(text, "?")
		if len(text) > 4000 {
			return
		}
		if got, want := NamesIn(text, most), slowNames(text, most); got != want || len(got) > max(most, 0) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
}

// benchText returns texts that do not repeat themselves soon: branches that are learned by heart would flatter.
func benchText(b *testing.B, kind string) string {
	b.Helper()
	var out strings.Builder
	pattern := map[string]string{"code": "../*/*.go", "prose": "../../docs/*.md"}[kind]
	files, err := filepath.Glob(pattern)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		out.Write(text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	services := strings.Fields("com.example.service.OrderService com.example.web.Dispatcher org.acme.Pool io.netty.Channel com.example.db.UserStore")
	verbs := strings.Fields("stored loaded dropped rejected retried cached sent received")
	for out.Len() < manyBytes {
		switch kind {
		case "log":
			fmt.Fprintf(&out, "2026-11-20T09:%02d:%02d.%06dZ %-5s [worker-%d] %s - order %d %s in /var/lib/orders/%d.json (%d ms)\n", random.IntN(60), random.IntN(60), random.IntN(1e6),
				[]string{"INFO", "WARN", "DEBUG"}[random.IntN(3)], random.IntN(32),
				services[random.IntN(len(services))], random.IntN(1e8), verbs[random.IntN(len(verbs))],
				random.IntN(1e4), random.IntN(1e3))
		case "base64":
			line := make([]byte, 57)
			for i := range line {
				line[i] = byte(random.Uint32())
			}
			out.WriteString(base64.StdEncoding.EncodeToString(line) + "\n")
		case "names":
			fmt.Fprintf(&out, "name_%d path/to/%d/file.go\n", random.IntN(1e6), random.IntN(1e6))
		default:
			if out.Len() == 0 {
				b.Fatalf("no files %s", pattern)
			}
			out.WriteString(out.String())
		}
	}
	return out.String()
}

func BenchmarkNames(b *testing.B) {
	for _, kind := range []string{"prose", "code", "log", "base64", "names"} {
		text := benchText(b, kind)
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				NamesIn(text, 400)
			}
		})
	}
}
