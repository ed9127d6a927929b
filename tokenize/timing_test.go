package tokenize_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"epitome/tokenize"
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
		"code": func() string {
			return fmt.Sprintf("\tif %s := s.%s(%s[%d:]); err != nil {\n\t\treturn 0, %s\n\t}\n",
				w(), w(), w(), rng.IntN(99), w())
		},
		"json": func() string {
			return fmt.Sprintf(`{"id":%d,"%s":{"%s":"%s %s","ok":true}},`, rng.IntN(1e9), w(), w(), w(), w())
		},
		"log": func() string {
			return fmt.Sprintf("2025-11-%02dT10:%02d:07Z INFO %s/%s.go:%d: %s id=%08x\n",
				1+rng.IntN(30), rng.IntN(60), w(), w(), rng.IntN(900), w(), rng.Uint32())
		},
		"cjk": func() string {
			sign := func() string { return signs[rng.IntN(len(signs))] }
			return sign() + sign() + sign() + "の、"[3*rng.IntN(2):][:3]
		},
	}
	texts := make(map[string][]byte)
	for _, kind := range []string{"prose", "code", "json", "log", "cjk"} {
		for len(texts[kind]) < 60_000 {
			texts[kind] = append(texts[kind], lines[kind]()...)
		}
	}
	return texts
}

func BenchmarkCount(b *testing.B) {
	for kind, text := range kinds() {
		for _, v := range vocabularies {
			b.Run(kind+"/"+v.String(), func(b *testing.B) {
				c := counter(b, v)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					c.Count(text)
				}
			})
		}
	}
}

// A turn of a conversation of 1 MB in 200 texts: all are known but three of 7 KB each.
func BenchmarkKnownConversation(b *testing.B) {
	c := counter(b, tokenize.O200k)
	text := kinds()["code"]
	var old [][]byte
	for i := range 197 {
		old = append(old, append(fmt.Appendf(nil, "text %d\n", i), text[i*200:][:5_200]...))
	}
	memo := tokenize.NewMemo(10_000)
	turn := 0
	for b.Loop() {
		for _, t := range old {
			memo.Count(c, t)
		}
		for i := range 3 {
			fresh := fmt.Appendf(nil, "turn %d text %d\n", turn, i)
			memo.Count(c, append(fresh, text[i*7_000:][:7_400]...))
		}
		turn++
	}
}
