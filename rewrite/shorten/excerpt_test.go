package shorten

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
)

// corpusResults gives f the text of every tool result of the real conversations.
func corpusResults(t *testing.T, f func(text string)) {
	t.Helper()
	rewritetest.Corpus(t, func(name string, body []byte) {
		r, err := chat.Read(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, it := range r.Items {
			if it.Role != conversation.Tool {
				continue
			}
			parts, err := r.Parts(&it)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, p := range parts {
				if p.Kind == conversation.TextPart {
					f(string(span.TextOf(p.Value.Of(r.Body))))
				}
			}
		}
	})
}

// pieces counts a token per word and per line end.
func pieces(text string) int { return len(strings.Fields(text)) + strings.Count(text, "\n") }

func TestExcerptKeepsWholeLines(t *testing.T) {
	f := func(text string, keep int, share float64, want Excerpt) {
		t.Helper()
		got, ok := ExcerptOf(text, keep, share, pieces)
		if got != want || ok != (want.Omitted != "") {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, ok, want)
		}
	}
	f("", 0, 0.5, Excerpt{})
	f("a\nb\n", 4, 0.5, Excerpt{})
	f("a", 0, 0.5, Excerpt{Omitted: "a", From: 1, To: 1, OmittedTokens: 1})
	f("a\nb\nc\nd\ne\n", 4, 0.5, Excerpt{Head: "a\n", Omitted: "b\nc\nd\n", Tail: "e\n", From: 2, To: 4, OmittedTokens: 6})
	f("a\nb\nc\nd\ne\n", 4, 0, Excerpt{Omitted: "a\nb\nc\n", Tail: "d\ne\n", From: 1, To: 3, OmittedTokens: 6})
	f("a\nb\nc\nd\ne\n", 4, 1, Excerpt{Head: "a\nb\n", Omitted: "c\nd\ne\n", From: 3, To: 5, OmittedTokens: 6})
	f("a\r\n\r\nb\r\n\nc", 4, 0.75, Excerpt{Head: "a\r\n\r\n", Omitted: "b\r\n\n", Tail: "c", From: 3, To: 4, OmittedTokens: 3})
	// what one side does not use goes to the other
	f("too long a line\nb\nc\nd\n", 4, 0.5, Excerpt{Omitted: "too long a line\nb\n", Tail: "c\nd\n", From: 1, To: 2, OmittedTokens: 7})
	f("a\nb\nc\nmuch too long a line", 4, 0.25, Excerpt{Head: "a\nb\n", Omitted: "c\nmuch too long a line", From: 3, To: 4, OmittedTokens: 7})
	f("in the middle a line is too long\na\n", 5, 0.5, Excerpt{Omitted: "in the middle a line is too long\n", Tail: "a\n", From: 1, To: 1, OmittedTokens: 9})
	// out of bounds
	f("a\n", -1, 0.5, Excerpt{Omitted: "a\n", From: 1, To: 1, OmittedTokens: 2})
	f("a\nb\n", 2, 7, Excerpt{Head: "a\n", Omitted: "b\n", From: 2, To: 2, OmittedTokens: 2})
	f("a\nb\n", 2, -7, Excerpt{Omitted: "a\n", Tail: "b\n", From: 1, To: 1, OmittedTokens: 2})
}

// excerptLaws holds what is true of any text.
func excerptLaws(t interface{ Fatalf(string, ...any) }, text string, keep int, share float64) {
	counted := 0
	e, ok := ExcerptOf(text, keep, share, func(s string) int {
		counted += len(s)
		return pieces(s)
	})
	if !ok {
		if e != (Excerpt{}) || pieces(text) > max(keep, 0) {
			t.Fatalf("%q: nothing is left out of more than %d tokens: %+v", text, keep, e)
		}
		return
	}
	if e.Head+e.Omitted+e.Tail != text || e.Omitted == "" {
		t.Fatalf("%q: not the text: %+v", text, e)
	}
	whole := func(s string) bool { return s == "" || strings.HasSuffix(s, "\n") }
	if !whole(e.Head) || e.Tail != "" && !whole(e.Omitted) {
		t.Fatalf("%q: a line is cut: %+v", text, e)
	}
	if pieces(e.Head)+pieces(e.Tail) > max(keep, 0) || e.OmittedTokens != pieces(e.Omitted) {
		t.Fatalf("%q: more than %d tokens are kept, or those left out miscounted: %+v", text, keep, e)
	}
	all := strings.SplitAfter(text, "\n")
	if strings.Join(all[:e.From-1], "") != e.Head || strings.Join(all[e.To:], "") != e.Tail {
		t.Fatalf("%q: lines %d to %d are not what is left out: %+v", text, e.From, e.To, e)
	}
	if counted > len(text)+3*widestToken*(max(keep, 0)+1) {
		t.Fatalf("%.200q: %d of %d bytes were counted to keep %d tokens", text, counted, len(text), keep)
	}
}

func TestExcerptAndWhatIsLeftOutAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", "word ", "\n", "\n", "\r\n", "é",
			strings.Repeat("x ", 300), strings.Repeat("y", 3000)}), 0, 60).Draw(t, "pieces")
		excerptLaws(t, strings.Join(pieces, ""), rapid.IntRange(-1, 60).Draw(t, "keep"),
			rapid.Float64Range(0, 1).Draw(t, "share"))
	})
}

func TestRealResultsHaveExcerpts(t *testing.T) {
	corpusResults(t, func(text string) { excerptLaws(t, text, 200, 0.6) })
}

func TestOneVeryLongLineIsLeftOutAndCountedOnce(t *testing.T) {
	line, counted := strings.Repeat("word ", 2*manyBytes/5), 0
	e, ok := ExcerptOf("first\n"+line+"\nlast", 2000, 0.5, func(s string) int {
		counted += len(s)
		return pieces(s)
	})
	if !ok || e.Head != "first\n" || e.Omitted != line+"\n" || e.Tail != "last" || e.From != 2 || e.To != 2 {
		t.Errorf("%d bytes are left out, lines %d to %d, between %q and %q", len(e.Omitted), e.From, e.To, e.Head, e.Tail)
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
	counter := rewritetest.Scale(b, "gpt-4o").Counter
	log := benchText(b, "log")
	f := func(name, text string, count func(string) int) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				ExcerptOf(text, 2000, 0.5, count)
			}
		})
	}
	f("log", log, counter.CountString)
	f("log in one line", strings.ReplaceAll(log, "\n", " "), counter.CountString)
	f("cutting alone", log, func(string) int { return 10 })
}
