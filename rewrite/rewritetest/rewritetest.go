// Package rewritetest is what the tests of several rooms of rewrite share. The program does not use it.
package rewritetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/event"
	"epitome/internal/need"
	"epitome/rewrite/conversation"
	"epitome/rewrite/spent"
	"epitome/tokenize"
)

// Conversations returns the files of real conversations, each a request of Chat Completions.
func Conversations(tb testing.TB) []string {
	tb.Helper()
	folder := os.Getenv("EPITOME_CORPUS")
	if folder == "" {
		folder = filepath.Join(root(tb), "../shared/corpus")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	if len(files) == 0 {
		need.Skip(tb, "no real conversations here: set EPITOME_CORPUS to a folder of chat-completions requests")
	}
	return files
}

// SomeConversations returns all of them where EPITOME_CORPUS names their folder, and else every third: shaping each
// turn of each takes a minute.
func SomeConversations(tb testing.TB) (some []string) {
	all := Conversations(tb)
	if os.Getenv("EPITOME_CORPUS") != "" {
		return all
	}
	for i := 0; i < len(all); i += 3 {
		some = append(some, all[i])
	}
	return some
}

// root returns the module's folder, above the one of the package that is tested.
func root(tb testing.TB) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	tb.Fatalf("cannot find the module's folder: %v", err)
	return ""
}

// Corpus gives the real conversations to f, where they are there.
func Corpus(tb testing.TB, f func(name string, body []byte)) {
	tb.Helper()
	for _, name := range Conversations(tb) {
		body, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		f(filepath.Base(name), body)
	}
}

// ChatBody returns a request with these messages.
func ChatBody(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

// RandomValue draws what JSON can hold, so many levels deep.
func RandomValue(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 6-2*Btoi(depth == 0)).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Float64().Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3, 4:
		return rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\{}[],: \n\u00e9\u2028\U0001F600"))).Draw(t, "text")
	case 5:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range list {
			list[i] = RandomValue(t, depth-1)
		}
		return list
	}
	object := make(map[string]any)
	for range rapid.IntRange(0, 20).Draw(t, "keys") {
		object[rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "key")] = RandomValue(t, depth-1)
	}
	return object
}

// Btoi is 1 for true.
func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Scale measures in the vocabulary of a model.
func Scale(tb rapid.TB, model string) conversation.Scale {
	tb.Helper()
	m := tokenize.NewModels().Of(model)
	var counters tokenize.Counters
	c, err := counters.For(m.Vocabulary)
	if err != nil {
		tb.Fatal(err)
	}
	return conversation.Scale{Model: m, Counter: c, Memo: tokenize.NewMemo(1 << 16)}
}

// Count measures a request: what stands beside its items, and for itself each item that the provider does not pass
// over.
func Count(r *conversation.Request, s conversation.Scale) conversation.Size {
	size, _ := r.CountFixed(s)
	work := 0
	for i := range r.Items[r.Head:] {
		it := &r.Items[r.Head+i]
		m := r.MeasureItem(s.Within(r, it, work), it, r.AnswersOneOfSeveral(r.Head+i))
		if work += m.Work; i >= conversation.Dead(r) {
			size.Add(it.Role, m.Text, m.Media)
		}
	}
	return size
}

// LineNumbers matches the number with which a tool begins a line, and what parts it from the line.
var LineNumbers = regexp.MustCompile(`^[ \t]*([0-9]{1,9})(\t|→|:|\. |\||\.?$)`)

// hearing is a dialect that reads usage.
type hearing interface {
	Opening(heard []byte) spent.Said
	Usage(heard []byte, opening spent.Said) (u event.Usage, input int)
}

// CheckUsage holds what a dialect makes of any bytes to what a record promises.
func CheckUsage(tb testing.TB, heard []byte, d hearing) {
	tb.Helper()
	for _, opening := range []spent.Said{spent.Nothing(), d.Opening(heard)} {
		u, input := d.Usage(heard, opening)
		least := min(input, u.Input, u.Read, u.Write5m, u.Write1h, u.Output, u.Reasoning)
		contradicts := u.Read+u.Write5m+u.Write1h > u.Input
		isNone := u == event.Usage{Charged: u.Charged}
		if least < 0 || u.Charged < 0 || contradicts != u.Odd || u.Source == "" && !isNone {
			tb.Fatalf("%q: %+v, and %d", heard, u, input)
		}
	}
}
