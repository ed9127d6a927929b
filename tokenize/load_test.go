package tokenize

import "testing"

// What reading a vocabulary takes, and allocates: more than what stays, but not much more.
func BenchmarkLoad(b *testing.B) {
	for _, v := range []Vocabulary{O200k, Cl100k} {
		b.Run(v.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := loadRanks(fileOf(v)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
