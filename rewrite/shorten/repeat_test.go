package shorten

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"epitome/rewrite/rewritetest"
)

// numbered returns n lines of 100 characters each, the first of which is number from.
func numbered(from, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("\tline %-94d", from+i)[:99]+".")
	}
	return all
}

// catN returns the lines as cat -n prints them, from the number on.
func catN(from int, sign string, all []string) string {
	var b strings.Builder
	for i, l := range all {
		fmt.Fprintf(&b, "%6d%s%s\n", from+i, sign, l)
	}
	return b.String()
}

func together(all []string) string { return strings.Join(all, "\n") + "\n" }

func TestRepeatsAreFound(t *testing.T) {
	file := together(numbered(1, 20))
	f := func(name string, earlier []string, text string, want ...Repeat) {
		t.Helper()
		l := NewLineIndex()
		for i, e := range earlier {
			l.Add(i, e)
		}
		got := l.Repeats(text)
		if len(got) != len(want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
			return
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: got %+v, want %+v", name, got[i], want[i])
			}
		}
	}
	whole := Repeat{Start: 0, End: 2000 + 20, First: 1, Last: 20, Item: 0, At: 1, count: 20}
	f("the same again", []string{file}, file, whole)
	f("nothing earlier", nil, file)
	f("something else", []string{together(numbered(50, 20))}, file)
	f("without the last line break", []string{file}, strings.TrimSuffix(file, "\n"), Repeat{0, 2019, 1, 20, 0, 1, 20})
	f("white space at the end of lines", []string{file}, strings.ReplaceAll(file, "\n", " \r\n"), Repeat{0, 2060, 1, 20, 0, 1, 20})
	f("a part of it, between other lines", []string{"head\n" + file}, "a\nb\n"+together(numbered(8, 6))+"c\n", Repeat{4, 4 + 606, 3, 8, 0, 9, 6})
	f("five lines", []string{file}, together(numbered(3, 5)), Repeat{0, 505, 1, 5, 0, 3, 5})
	f("four lines", []string{file}, together(numbered(3, 4)))
	f("too few characters", []string{"aaa\nbbb\nccc\nddd\neee\nfff\n"}, "aaa\nbbb\nccc\nddd\neee\nfff\n")
	f("400 characters", []string{strings.Repeat(strings.Repeat("x", 80)+"\n", 5)},
		strings.Repeat(strings.Repeat("x", 80)+"\n", 5), Repeat{0, 405, 1, 5, 0, 1, 5})
	f("399 characters", []string{strings.Repeat(strings.Repeat("x", 80)+"\n", 4) + strings.Repeat("x", 79)},
		strings.Repeat(strings.Repeat("x", 80)+"\n", 4)+strings.Repeat("x", 79))
	f("indentation counts", []string{file}, strings.ReplaceAll(file, "\t", "  "))
	f("order counts", []string{file}, together([]string{numbered(3, 1)[0], numbered(2, 1)[0], numbered(1, 1)[0],
		numbered(5, 1)[0], numbered(4, 1)[0]}))
	f("not in two results together", []string{together(numbered(1, 4)), together(numbered(5, 4))}, together(numbered(1, 8)))
	f("the latest", []string{file, "x\n" + file, "y"}, file, Repeat{0, 2020, 1, 20, 1, 2, 20})
	f("two results one after the other", []string{together(numbered(1, 6)), together(numbered(7, 6))}, together(numbered(1, 12)),
		Repeat{0, 606, 1, 6, 0, 1, 6}, Repeat{606, 1212, 7, 12, 1, 1, 6})
	f("characters, not bytes", []string{strings.Repeat(strings.Repeat("ä", 50)+"\n", 5)}, strings.Repeat(strings.Repeat("ä", 50)+"\n", 5))

	// Line numbers.
	for _, sign := range []string{"\t", "→", ": ", ":", ". ", "|"} {
		text := catN(7, sign, numbered(1, 20))
		f("the same, numbered with "+sign, []string{text}, text, Repeat{0, len(text), 1, 20, 0, 1, 20})
		f("numbered with "+sign+", from elsewhere", []string{catN(99, sign, numbered(1, 20))}, text,
			Repeat{0, len(text), 1, 20, 0, 1, 20})
		f("numbered with "+sign+" here alone", []string{file}, text)
		f("numbered with "+sign+" there alone", []string{text}, file)
		f("numbered with "+sign+", and with another", []string{strings.ReplaceAll(catN(99, sign, numbered(1, 20)), sign, ") ")}, text)
	}
	page := catN(9, "→", numbered(1, 6)) + "the end\n"
	f("numbers and more, to the byte", []string{"head\n" + page}, page, Repeat{0, len(page), 1, 7, 0, 2, 7})
	moved := catN(39, "→", numbered(1, 6))
	f("numbers from elsewhere and more", []string{page}, moved+"the end\n", Repeat{0, len(moved), 1, 6, 0, 1, 6})
	states := func(numbers ...int) (s string) {
		for i, n := range numbers {
			s += fmt.Sprintf("%d: %s\n", n, numbered(i, 1)[0])
		}
		return s
	}
	f("other states", []string{states(404, 404, 404, 404, 404, 404)}, states(500, 500, 500, 500, 500, 500))
	f("the count breaks there", []string{states(1, 2, 3, 7, 8, 9)}, states(4, 5, 6, 7, 8, 9))
	f("the count breaks here", []string{states(4, 5, 6, 7, 8, 9)}, states(1, 2, 3, 7, 8, 9))
	f("the count breaks in both", []string{states(1, 2, 3, 7, 8, 9)}, states(11, 12, 13, 17, 18, 19))
	f("pairs of numbers", []string{states(1, 2, 5, 6, 9, 10)}, states(3, 4, 7, 8, 11, 12))
	clock := func(hour int) (s string) {
		for i := range 6 {
			s += fmt.Sprintf("%02d:30 %s\n", hour+i, numbered(i, 1)[0])
		}
		return s
	}
	f("times of day", []string{clock(3)}, clock(12))
	f("the same times of day", []string{clock(3)}, clock(3), Repeat{0, len(clock(3)), 1, 6, 0, 1, 6})
	matches := func(from int) (s string) {
		for i, l := range numbered(1, 8) {
			s += strconv.Itoa(from+10*i) + ":" + l + "\n"
		}
		return s
	}
	f("matches of a search are at their lines", []string{matches(5)}, matches(6))
	f("no file has so many lines", []string{catN(9_999_999_999, "\t", numbered(1, 20))}, file)
	f("the same matches", []string{matches(5)}, matches(5), Repeat{0, len(matches(5)), 1, 8, 0, 1, 8})
}

func TestALineThatIsKeptIsInNoRun(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "line %d of a text that stands in an earlier result\n", i*i)
	}
	l := NewLineIndex()
	l.Add(3, b.String())
	f := func(want string, kept ...int) {
		t.Helper()
		flags := make([]bool, 60)
		for _, k := range kept {
			flags[k] = true
		}
		got := ""
		for _, r := range l.RepeatsBeside(b.String(), flags) {
			got += fmt.Sprintf("%d-%d ", r.First, r.Last)
		}
		if got != want {
			t.Errorf("kept %v: %s", kept, got)
		}
	}
	f("1-60 ")
	f("2-60 ", 0)
	f("1-59 ", 59)
	f("1-20 22-60 ", 20)
	f("1-20 41-60 ", 20, 26, 32, 39) // what stands between is too little
}

func TestDroppedResultsAreForgotten(t *testing.T) {
	file := together(numbered(1, 10))
	l := NewLineIndex()
	l.Add(3, file)
	l.Add(5, file)
	l.Add(7, together(numbered(4, 7)))
	f := func(want ...int) {
		t.Helper()
		var items []int
		for _, r := range l.Repeats(file) {
			items = append(items, r.Item)
		}
		if !slices.Equal(items, want) {
			t.Errorf("repeats of %v, want %v", items, want)
		}
	}
	f(5)
	l.Drop(5)
	f(3)
	l.Drop(4) // never there
	f(3)
	l.Drop(3)
	f(7)
	l.Add(5, file)
	f(5)
	l.Drop(5)
	l.Drop(7)
	f()
	if len(l.Held) != 0 || len(l.at) != 0 || l.Total != 0 {
		t.Errorf("something is left: %+v", l)
	}
}

// runesOf returns how many characters lines have, without numbers that count up.
func runesOf(lines []string) (n int) {
	_, counted := rewritetest.BehindNumbers(lines)
	for _, l := range lines {
		if counted {
			l = l[len(rewritetest.LineNumbers.FindString(l)):]
		}
		n += utf8.RuneCountInString(l)
	}
	return n
}

// checkRepeats holds what was found against the rule: all of it is true, nothing is left out.
func checkRepeats(t interface{ Fatalf(string, ...any) }, visible map[int]string, text string, found []Repeat) {
	says := rewritetest.TrimmedLines(text)
	lineStart := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			lineStart = append(lineStart, i+1)
		}
	}
	lineStart = append(lineStart[:len(says)], len(text))
	large := func(i, j int) bool { return j-i >= minRepeatLines && runesOf(says[i:j]) >= minRepeatChars }
	has := func(all, run []string) bool {
		for i := 0; i+len(run) <= len(all); i++ {
			if rewritetest.SameLines(all[i:i+len(run)], run) {
				return true
			}
		}
		return false
	}
	earlier := map[int][]string{}
	for item, text := range visible {
		earlier[item] = rewritetest.TrimmedLines(text)
	}
	behind := 0 // of the last one
	gap := func(end int) {
		for i := behind; i < end; i++ {
			j := i
			for j < end && !large(i, j) {
				j++
			}
			for item := range earlier {
				if large(i, j) && has(earlier[item], says[i:j]) {
					t.Fatalf("lines %d to %d stand in %d and were not found in\n%s\n%+v", i+1, j, item, text, found)
				}
			}
		}
	}
	for _, r := range found {
		there, ok := earlier[r.Item]
		switch {
		case !ok || r.First <= behind || r.Last > len(says) || r.count != r.Last-r.First+1 || r.At < 1 ||
			r.At-1+r.count > len(there):
			t.Fatalf("%+v is out of bounds", r)
		case r.Start != lineStart[r.First-1] || r.End != lineStart[r.Last]:
			t.Fatalf("%+v has other bytes than lines", r)
		case !rewritetest.SameLines(says[r.First-1:r.Last], there[r.At-1:r.At-1+r.count]):
			t.Fatalf("%+v is not true", r)
		case !large(r.First-1, r.Last):
			t.Fatalf("%+v is too small", r)
		case r.Last < len(says) && r.At-1+r.count < len(there) &&
			rewritetest.SameLines(says[r.First-1:r.Last+1], there[r.At-1:r.At+r.count]):
			t.Fatalf("%+v ends too early", r)
		}
		gap(r.First - 1)
		behind = r.Last
		least := r.First - 1 + minRepeatLines
		for !large(r.First-1, least) {
			least++
		}
		for item := range earlier {
			if item > r.Item && has(earlier[item], says[r.First-1:least]) {
				t.Fatalf("%+v stands later in %d", r, item)
			}
		}
	}
	gap(len(says))
}

// drawResults draws texts that share many runs.
func drawResults(t *rapid.T) string {
	stock := []string{"", "}", "\t}", strings.Repeat("é", 99), strings.Repeat("x", 130)}
	stock = append(stock, numbered(1, 8)...)
	var b strings.Builder
	for range rapid.IntRange(0, 5).Draw(t, "pieces") {
		from := rapid.IntRange(0, len(stock)-1).Draw(t, "from")
		run := stock[from:rapid.IntRange(from, len(stock)).Draw(t, "to")]
		run = slices.Repeat(run, rapid.IntRange(1, 4).Draw(t, "times"))
		switch rapid.IntRange(0, 4).Draw(t, "as") {
		case 0:
			b.WriteString(catN(rapid.IntRange(1, 30).Draw(t, "number"), "\t", run))
		case 1:
			b.WriteString(strings.Join(run, " \r\n"))
		default:
			b.WriteString(together(run))
		}
	}
	return b.String()
}

func TestRepeatsAreTrueAndComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, visible := NewLineIndex(), map[int]string{}
		for item := range rapid.IntRange(1, 8).Draw(t, "results") {
			text := drawResults(t)
			checkRepeats(t, visible, text, l.Repeats(text))
			l.Add(item, text)
			visible[item] = text
			if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
				gone := rapid.IntRange(0, item).Draw(t, "gone")
				l.Drop(gone)
				delete(visible, gone)
			}
		}
	})
}

func FuzzRepeats(f *testing.F) {
	f.Add(catN(1, "\t", numbered(1, 8)), together(numbered(1, 9)))
	f.Add(strings.Repeat("}\n", 900), strings.Repeat("}\n", 500))
	f.Add(strings.Repeat("a\n\n", 600), "999999999\t\xff\n1000000000\t")
	f.Add("1: "+together(numbered(2, 6)), "1:\n2:\n3. \n4|")
	f.Fuzz(func(t *testing.T, earlier, text string) {
		if len(earlier)+len(text) > 4_000 {
			return
		}
		l := NewLineIndex()
		l.Add(1, earlier)
		l.Add(2, "head\n"+text)
		l.Drop(2)
		checkRepeats(t, map[int]string{1: earlier}, text, l.Repeats(text))
	})
}

// Work that grows faster than the text would not end within the time that a test has.
func TestLinesThatRepeatTakeNoMoreTime(t *testing.T) {
	f := func(name, period string, size int, runs int) {
		t.Helper()
		text := strings.Repeat(period, size/len(period))
		l := NewLineIndex()
		l.Add(1, text)
		l.Add(2, "first\n"+text)
		found := l.Repeats(text)
		if len(found) != runs {
			t.Errorf("%s: %d runs, want %d", name, len(found), runs)
		}
		if runs == 1 && found[0].End-found[0].Start != len(text) {
			t.Errorf("%s: only %+v of %d bytes", name, found[0], len(text))
		}
		l.Drop(2)
		if found = l.Repeats("}\n" + text + "last"); len(found) != runs {
			t.Errorf("%s: %d runs, want %d", name, len(found), runs)
		}
	}
	const size = 1 << 20
	f("brackets", "}\n", size, 1)
	f("blank lines", "\n", size, 0)
	f("lines of blanks", strings.Repeat(" ", 999)+"\n", size, 0)
	f("period 2", "}\n\n", size, 1)
	f("period 3", "a\n\n}\n", size, 1)
	f("much white", "a"+strings.Repeat("\n", 1000), size, 1)
	f("one line", strings.Repeat("x", size), size, 0)
	f("digits", strings.Repeat("1", 1000)+"\n", size, 1)

	// Each result ends within the run of the next, so that many are candidates everywhere.
	l := NewLineIndex()
	for i := range 300 {
		l.Add(i, strings.Repeat("}\n", 2000+i)+"{\n")
	}
	if found := l.Repeats(strings.Repeat("}\n", 100_000)); len(found) == 0 {
		t.Error("nothing found")
	}
}

// A conversation's lines may cost about what its texts take.
func TestRememberingCostsLessThanTheTexts(t *testing.T) {
	var texts []string
	size := 0
	for i := range 40 {
		var b strings.Builder
		for k := range 500 {
			fmt.Fprintf(&b, "    some line of usual length %7d %6d\n", i, k) // 45 bytes; agents' results have 44
		}
		texts = append(texts, b.String())
		size += b.Len()
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	l := NewLineIndex()
	for i, text := range texts {
		l.Add(i, text)
	}
	cost := heap() - before
	runtime.KeepAlive(l)
	runtime.KeepAlive(texts)
	t.Logf("%d bytes for texts of %d, %.1f for each line", cost, size, float64(cost)/float64(40*500))
	if cost > int64(size) {
		t.Errorf("%d bytes to remember texts of %d", cost, size)
	}
}

// corpusTexts returns the texts of the tool results of real conversations, one list for each.
func corpusTexts(t testing.TB) (all [][]string) {
	rewritetest.Corpus(t, func(name string, body []byte) {
		var request struct {
			Messages []struct {
				Role    string
				Content any
			}
		}
		if err := json.Unmarshal(body, &request); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var results []string
		for _, m := range request.Messages {
			if s, ok := m.Content.(string); ok && m.Role == "tool" {
				results = append(results, s)
			}
		}
		all = append(all, results)
	})
	return all
}

func TestRepeatsOfRealConversationsAreTrue(t *testing.T) {
	bytes, repeated, runs := 0, 0, 0
	for _, results := range corpusTexts(t) {
		l, says := NewLineIndex(), map[int][]string{}
		for item, text := range results {
			mine := rewritetest.TrimmedLines(text)
			for _, r := range l.Repeats(text) {
				if !rewritetest.SameLines(mine[r.First-1:r.Last], says[r.Item][r.At-1:r.At-1+r.count]) {
					t.Fatalf("%+v is not true", r)
				}
				repeated += r.End - r.Start
				runs++
			}
			bytes += len(text)
			l.Add(item, text)
			says[item] = mine
		}
	}
	t.Logf("%d runs, %d of %d bytes", runs, repeated, bytes)
	if runs == 0 {
		t.Error("nothing repeats in real conversations")
	}
}

func BenchmarkAddLines(b *testing.B) {
	text := together(numbered(1, 2000))
	text += strings.ReplaceAll(text, " ", "")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		NewLineIndex().Add(1, text)
	}
}

func BenchmarkRepeats(b *testing.B) {
	bench := func(name, earlier, text string) {
		b.Run(name, func(b *testing.B) {
			l := NewLineIndex()
			l.Add(1, earlier)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				l.Repeats(text)
			}
		})
	}
	text := strings.ReplaceAll(catN(1, "\t", numbered(1, 4000)), "  ", "")
	bench("same", text, text)
	bench("other", text, strings.ReplaceAll(text, "line", "other"))
	bench("brackets", strings.Repeat("}\n", 200_000), strings.Repeat("}\n", 200_000))
}

func BenchmarkRealConversations(b *testing.B) {
	all := corpusTexts(b)
	bytes := 0
	for _, results := range all {
		for _, text := range results {
			bytes += len(text)
		}
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for _, results := range all {
			l := NewLineIndex()
			for item, text := range results {
				l.Repeats(text)
				l.Add(item, text)
			}
		}
	}
}
