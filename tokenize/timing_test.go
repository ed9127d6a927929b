package tokenize_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// kinds returns texts of some 60 KB, put together from few words.
func kinds() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the request answer of server reads Handler ctx HTTPServer error was not found while " +
		"parsing a configuration because its " +
		"length exceeds maximum value buffer tokenizer stream conversation upstream deadline retry connection " +
		"summary window artifact quota")
	signs := strings.Split("天地人日月水火木金土山川東西南北上下左右大小高低新旧私達今朝夕方食飲見聞読書行来出入学校会社電車自転車", "")
	w := func() string { return words[rng.IntN(len(words))] }
	lines := map[string]func() string{
		"prose": func() string { return fmt.Sprintf("When %s %s %s, %s %s don't %s. ", w(), w(), w(), w(), w(), w()) },
		"json": func() string {
			return fmt.Sprintf(`{"id":%d,"%s":{"%s":"%s %s","ok":true}},`, rng.IntN(1e9), w(), w(), w(), w())
		},
		"cjk": func() string {
			sign := func() string { return signs[rng.IntN(len(signs))] }
			return sign() + sign() + sign() + "の、"[3*rng.IntN(2):][:3]
		},
	}
	texts := make(map[string][]byte)
	for _, kind := range []string{"prose", "json", "cjk"} {
		for len(texts[kind]) < 60_000 {
			texts[kind] = append(texts[kind], lines[kind]()...)
		}
	}
	return texts
}

func BenchmarkCount(b *testing.B) {
	for kind, text := range kinds() {
		b.Run(kind, func(b *testing.B) {
			c := counter(b)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c.Count(text)
			}
		})
	}
}
