package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBlobsAreTheLongRuns(t *testing.T) {
	long := regexp.MustCompile(`[A-Za-z0-9+/=_-]+`)
	f := func(t interface{ Fatalf(string, ...any) }, text string) {
		var want []Span
		for _, at := range long.FindAllStringIndex(text, -1) {
			if at[1]-at[0] >= shortestBlob {
				want = append(want, Span{at[0], at[1]})
			}
		}
		if got := blobs(text); !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
	}
	run := func(n int) string { return strings.Repeat("aZ0+/=_-b9", n/10+1)[:n] }
	f(t, "")
	f(t, run(999))
	f(t, run(1000))
	f(t, "."+run(1000)+"."+run(999)+"é"+run(1001))
	f(t, run(600)+"\n"+run(600)+" "+run(5000)+"\r\n")
	rapid.Check(t, func(rt *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 8).Draw(rt, "runs") {
			text += run(rapid.SampledFrom([]int{0, 1, 499, 998, 999, 1000, 1001, 1999, 2500}).Draw(rt, "n")) + rapid.SampledFrom([]string{"", "\n", ".", "é", "\x00"}).Draw(rt, "break")
		}
		f(rt, text)
	})
}

func BenchmarkBlobs(b *testing.B) {
	f := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				blobs(text)
			}
		})
	}
	base64 := benchText(b, "base64")
	f("log", benchText(b, "log"))
	f("base64 in lines", base64)
	f("base64 in one", strings.ReplaceAll(base64, "\n", ""))
}
