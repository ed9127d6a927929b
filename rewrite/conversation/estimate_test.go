package conversation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
)

// What is too large to be counted is estimated within two in a hundred, if it is alike all over.
func TestLargeTextsAreEstimated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, 2+random.IntN(8))
		for i := range b {
			b[i] = 'a' + byte(random.IntN(26))
		}
		return string(b)
	}
	repeat := func(n int, of func() string) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(of())
		}
		return b.String()
	}
	f := func(name, text string, escaped bool) {
		t.Helper()
		value := span.AppendQuoted(nil, text)
		if escaped {
			value = []byte(`"`)
			for _, r := range text {
				value = fmt.Appendf(value, `\u%04x`, r)
			}
			value = append(value, '"')
		}
		body := []byte(`{"model":"gpt-5","messages":[{"role":"user","content":` + string(value) + `}]}`)
		r, err := chat.Dialect{}.Read(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := rewritetest.Scale(t, "gpt-5")
		exact := s.Counter.CountString(text)
		for _, s.Halved = range []uint8{0, 1, 5} {
			if s.Halved == 0 && len(value) <= conversation.MostCounted {
				continue
			}
			n, _ := r.CountContent(s, &r.Items[0], false)
			if again, _ := r.CountContent(s, &r.Items[0], false); n < exact*98/100 || n > exact*102/100 || again != n {
				t.Errorf("%s, halved %d times: %d and %d tokens are told of %d", name, s.Halved, n, again, exact)
			}
			if !s.IsEstimate(len(value)) {
				t.Errorf("%s, halved %d times: that is no estimate", name, s.Halved)
			}
		}
	}
	f("words", repeat(1200<<10, func() string { return word() + " " }), false)
	f("lines", repeat(1200<<10, func() string { return word() + "\n" }), false)
	f("quotes", repeat(1200<<10, func() string { return `"` + word() + `\` }), false)
	f("one letter", strings.Repeat("a", 1200<<10), false)
	f("many bytes a character", repeat(1200<<10, func() string { return "数据流" + word() }), false)
	f("escapes", repeat(300_000, func() string { return word() + " 数" }), true)
}

func TestSmallTextsAreCounted(t *testing.T) {
	s := rewritetest.Scale(t, "gpt-5")
	f := func(size int, halved uint8, want bool) {
		t.Helper()
		if s.Halved = halved; s.IsEstimate(size) != want {
			t.Errorf("%d bytes, halved %d times: estimated %v", size, halved, !want)
		}
	}
	f(conversation.MostCounted, 0, false)
	f(conversation.MostCounted+1, 0, true)
	f(256, 4, false)
	f(300, 4, true)
	f(0, 4, false)
}
