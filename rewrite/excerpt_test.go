package rewrite

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// corpusResults gives f the text of every tool result of the real conversations.
func corpusResults(t *testing.T, f func(text string)) {
	t.Helper()
	corpus(t, func(name string, body []byte) {
		r := read(t, string(body))
		for _, it := range r.Items {
			if it.Role != Tool {
				continue
			}
			parts, err := r.Parts(&it)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, p := range parts {
				if p.Kind == TextPart {
					f(string(said(p.Value.Of(r.Body))))
				}
			}
		}
	})
}

// pieces counts a token per word and per line end.
func pieces(text string) int { return len(strings.Fields(text)) + strings.Count(text, "\n") }

func TestExcerptKeepsWholeLines(t *testing.T) {
	f := func(text string, keep int, share float64, want excerpt) {
		t.Helper()
		got, ok := excerptOf(text, keep, share, pieces)
		if got != want || ok != (want.left != "") {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, ok, want)
		}
	}
	f("", 0, 0.5, excerpt{})
	f("a\nb\n", 4, 0.5, excerpt{})
	f("a", 0, 0.5, excerpt{left: "a", from: 1, to: 1, leftTokens: 1})
	f("a\nb\nc\nd\ne\n", 4, 0.5, excerpt{head: "a\n", left: "b\nc\nd\n", tail: "e\n", from: 2, to: 4, leftTokens: 6})
	f("a\nb\nc\nd\ne\n", 4, 0, excerpt{left: "a\nb\nc\n", tail: "d\ne\n", from: 1, to: 3, leftTokens: 6})
	f("a\nb\nc\nd\ne\n", 4, 1, excerpt{head: "a\nb\n", left: "c\nd\ne\n", from: 3, to: 5, leftTokens: 6})
	f("a\r\n\r\nb\r\n\nc", 4, 0.75, excerpt{head: "a\r\n\r\n", left: "b\r\n\n", tail: "c", from: 3, to: 4, leftTokens: 3})
	// what one side does not use goes to the other
	f("too long a line\nb\nc\nd\n", 4, 0.5, excerpt{left: "too long a line\nb\n", tail: "c\nd\n", from: 1, to: 2, leftTokens: 7})
	f("a\nb\nc\nmuch too long a line", 4, 0.25, excerpt{head: "a\nb\n", left: "c\nmuch too long a line", from: 3, to: 4, leftTokens: 7})
	f("in the middle a line is too long\na\n", 5, 0.5, excerpt{left: "in the middle a line is too long\n", tail: "a\n", from: 1, to: 1, leftTokens: 9})
	// out of bounds
	f("a\n", -1, 0.5, excerpt{left: "a\n", from: 1, to: 1, leftTokens: 2})
	f("a\nb\n", 2, 7, excerpt{head: "a\n", left: "b\n", from: 2, to: 2, leftTokens: 2})
	f("a\nb\n", 2, -7, excerpt{left: "a\n", tail: "b\n", from: 1, to: 1, leftTokens: 2})
}

// excerptLaws are what holds for any text.
func excerptLaws(t interface{ Fatalf(string, ...any) }, text string, keep int, share float64) {
	counted := 0
	e, ok := excerptOf(text, keep, share, func(s string) int {
		counted += len(s)
		return pieces(s)
	})
	if !ok {
		if e != (excerpt{}) || pieces(text) > max(keep, 0) {
			t.Fatalf("%q: nothing is left out of more than %d tokens: %+v", text, keep, e)
		}
		return
	}
	if e.head+e.left+e.tail != text || e.left == "" {
		t.Fatalf("%q: not the text: %+v", text, e)
	}
	whole := func(s string) bool { return s == "" || strings.HasSuffix(s, "\n") }
	if !whole(e.head) || e.tail != "" && !whole(e.left) {
		t.Fatalf("%q: a line is cut: %+v", text, e)
	}
	if pieces(e.head)+pieces(e.tail) > max(keep, 0) || e.leftTokens != pieces(e.left) {
		t.Fatalf("%q: more than %d tokens are kept, or those left out miscounted: %+v", text, keep, e)
	}
	all := strings.SplitAfter(text, "\n")
	if strings.Join(all[:e.from-1], "") != e.head || strings.Join(all[e.to:], "") != e.tail {
		t.Fatalf("%q: lines %d to %d are not what is left out: %+v", text, e.from, e.to, e)
	}
	if counted > len(text)+3*widestToken*(max(keep, 0)+1) {
		t.Fatalf("%.200q: %d of %d bytes were counted to keep %d tokens", text, counted, len(text), keep)
	}
}

func TestExcerptAndWhatIsLeftOutAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", "word ", "\n", "\n", "\r\n", "é", strings.Repeat("x ", 300), strings.Repeat("y", 3000)}), 0, 60).Draw(t, "pieces")
		excerptLaws(t, strings.Join(pieces, ""), rapid.IntRange(-1, 60).Draw(t, "keep"), rapid.Float64Range(0, 1).Draw(t, "share"))
	})
}

func TestRealResultsHaveExcerpts(t *testing.T) {
	corpusResults(t, func(text string) { excerptLaws(t, text, 200, 0.6) })
}

func TestOneVeryLongLineIsLeftOutAndCountedOnce(t *testing.T) {
	line, counted := strings.Repeat("word ", 2*manyBytes/5), 0
	e, ok := excerptOf("first\n"+line+"\nlast", 2000, 0.5, func(s string) int {
		counted += len(s)
		return pieces(s)
	})
	if !ok || e.head != "first\n" || e.left != line+"\n" || e.tail != "last" || e.from != 2 || e.to != 2 {
		t.Errorf("%d bytes are left out, lines %d to %d, between %q and %q", len(e.left), e.from, e.to, e.head, e.tail)
	}
	if counted > len(line)+100 {
		t.Errorf("%d bytes were counted of %d", counted, len(line))
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\r\n\nc", 2, 0.5)
	f.Fuzz(func(t *testing.T, text string, keep int, share float64) {
		if math.IsNaN(share) || keep > 1<<20 {
			return
		}
		excerptLaws(t, text, keep, share)
	})
}

// Most of the time is that of counting what is left out; cutting alone counts every line as ten.
func BenchmarkExcerpt(b *testing.B) {
	counter := scale(b, "gpt-4o").Counter
	log := benchText(b, "log")
	f := func(name, text string, count func(string) int) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				excerptOf(text, 2000, 0.5, count)
			}
		})
	}
	f("log", log, counter.CountString)
	f("log in one line", strings.ReplaceAll(log, "\n", " "), counter.CountString)
	f("cutting alone", log, func(string) int { return 10 })
}
