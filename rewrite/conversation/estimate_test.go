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
		n, _ := r.CountContent(s, &r.Items[0], false)
		if again, _ := r.CountContent(s, &r.Items[0], false); n < exact*98/100 || n > exact*102/100 || again != n {
			t.Errorf("%s: %d and %d tokens are told of %d", name, n, again, exact)
		}
		if !conversation.IsEstimate(len(value)) || !conversation.HasEstimate(r) {
			t.Errorf("%s: that is no estimate", name)
		}
	}
	f("words", repeat(1200<<10, func() string { return word() + " " }), false)
	f("lines", repeat(1200<<10, func() string { return word() + "\n" }), false)
	f("quotes", repeat(1200<<10, func() string { return `"` + word() + `\` }), false)
	f("one letter", strings.Repeat("a", 1200<<10), false)
	f("many bytes a character", repeat(1200<<10, func() string { return "数据流" + word() }), false)
	f("escapes", repeat(300_000, func() string { return word() + " 数" }), true)
}

// A picture of megabytes is no text: what stands beside it is counted.
func TestSmallTextsAreCounted(t *testing.T) {
	s := rewritetest.Scale(t, "gpt-5")
	f := func(text, picture int, want bool) {
		t.Helper()
		body := `{"model":"gpt-5","messages":[{"role":"user","content":"` + strings.Repeat("word ", text/5) + `"},` +
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
			strings.Repeat("iVBO", picture/4) + `"}}]}]}`
		r, err := chat.Dialect{}.Read([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := s.Counter.CountString(strings.Repeat("word ", text/5))
		if got, _ := r.CountContent(s, &r.Items[0], false); !want && got != whole {
			t.Errorf("%d bytes beside a picture of %d: %d tokens", text, picture, got)
		}
		if got := conversation.HasEstimate(r); got != want {
			t.Errorf("%d bytes: estimated %v", text, got)
		}
	}
	f(100_000, 0, false)
	f(100_000, 9_000_000, false)
	f(conversation.MostCounted-6, 0, false)
	f(conversation.MostCounted+1, 0, true)
}
