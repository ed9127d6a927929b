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
	"epitome/tokenize"
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
		it := &r.Items[0]
		m := r.CountContent(s.Within(r, it, 0), it, false)
		if n := m.Text; n < exact*98/100 || n > exact*102/100 || !m.Estimated {
			t.Errorf("%s: %d tokens are told of %d, estimated %v", name, n, exact, m.Estimated)
		}
		if again := r.CountContent(s.Within(r, it, 0), it, false); again != m {
			t.Errorf("%s: %+v, and again %+v", name, m, again)
		}
		if m.Work > 5*conversation.MostCounted {
			t.Errorf("%s: counting costs %d", name, m.Work)
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
		it := &r.Items[0]
		m := r.CountContent(s.Within(r, it, 0), it, false)
		if !want && m.Text != whole {
			t.Errorf("%d bytes beside a picture of %d: %d tokens", text, picture, m.Text)
		}
		if m.Estimated != want {
			t.Errorf("%d bytes: estimated %v", text, m.Estimated)
		}
	}
	f(100_000, 0, false)
	f(100_000, 9_000_000, false)
	f(conversation.MostCounted-60, 0, false)
	f(conversation.MostCounted+60, 0, true)
}

// What counting all items costs is bounded, however many there are and whatever stands in them; what stands first is
// counted, and no count depends on what comes behind it.
func TestCountingAConversationIsBounded(t *testing.T) {
	f := func(name, text string, n int) {
		t.Helper()
		s := rewritetest.Scale(t, "gpt-5")
		body := `{"model":"gpt-5","messages":[` +
			strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"`+text+`"},`, n), ",") + `]}`
		r, err := chat.Dialect{}.Read([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		work, tokens, first := 0, 0, 0
		for i := range r.Items {
			s.Memo = tokenize.NewMemo(32)
			it := &r.Items[i]
			m := r.MeasureItem(s.Within(r, it, work), it, false)
			if i == 0 {
				first = m.Text
			}
			work, tokens = work+m.Work, tokens+m.Text
		}
		if most := 2*conversation.MostWork + 5*conversation.MostCounted; work > most {
			t.Errorf("%s: counting costs %d, want at most %d", name, work, most)
		}
		if exact := first * n; tokens < exact*8/10 || tokens > exact*12/10 {
			t.Errorf("%s: %d tokens are told, about %d they are", name, tokens, exact)
		}
	}
	f("letters", strings.Repeat("a", 900_000), 40)
	f("small texts", strings.Repeat("qzjxkvb pygfwm ", 700), 3_000)
	f("very small texts", strings.Repeat("qzjxkvb pygfwm ", 7), 50_000)
	f("words", strings.Repeat("all is well ", 1_000), 2_000)
}
