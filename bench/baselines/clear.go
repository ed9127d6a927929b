package baselines

import (
	"encoding/base32"
	"hash/fnv"
	"strings"
)

// cleared is what stands for a result that is cleared: 14 tokens with the framing of its message.
const cleared = "[Old tool result content cleared]"

// What masking keeps, and how many results it masks at once.
const (
	maskKeeps = 10
	maskBatch = 20
)

// masking clears all results but the newest ten whenever there are twenty of them.
func masking(int) baseline {
	done := 0 // results that were looked at
	return func(t *thread) {
		if older := len(t.results) - maskKeeps; older-done >= maskBatch {
			done = t.clear(done, older)
		}
	}
}

// What clearing keeps, and the line in tokens at which a provider that offers it begins.
const (
	clearKeeps = 3
	clearLine  = 100_000
)

// clearing clears all results but the newest three with each request over the line.
func clearing(line int) baseline {
	done := 0
	return func(t *thread) {
		if older := len(t.results) - clearKeeps; t.total > line && older > done {
			done = t.clear(done, older)
		}
	}
}

// clear clears the results with numbers in [from, to). It returns the number up to which results are cleared.
func (t *thread) clear(from, to int) int {
	for _, i := range t.results[from:to] {
		t.replace(i, cleared)
	}
	return to
}

// What shrinkNew leaves of a result, and the size from which it does, in characters.
const (
	shrinkOver = 4096
	shrinkTo   = 3072
)

// shrinkNew cuts large results when they come and never touches what was sent. What it cuts can be fetched.
func shrinkNew(t *thread) {
	for n := len(t.results) - 1; n >= 0 && t.results[n] >= t.sent; n-- {
		i := t.results[n]
		text := t.text(i)
		runes := []rune(text)
		if len(runes) <= shrinkOver {
			continue
		}
		name := nameOf(text)
		t.whole[name] = []byte(text)
		head, tail := runes[:shrinkTo/2], runes[len(runes)-shrinkTo/2:]
		t.replace(i, string(head)+strings.Replace(shrunk, "NAME", name, 1)+string(tail))
	}
}

// shrunk stands between head and tail of what was cut: 25 tokens and a line of three dots, with the name in it.
const shrunk = "\n...\n[A part of this result is left out. The whole is stored as NAME.]\n"

// nameOf returns an artifact's name for a text.
func nameOf(text string) string {
	sum := fnv.New128a()
	sum.Write([]byte(text))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)))
}
