package recap

import (
	"iter"
	"strings"

	"epitome/rewrite/activity"
)

// names are those that a reader knows already, and those that later calls use: lines of results are chosen by them.
type names struct {
	shown map[string]bool // they stand elsewhere in the request
	used  map[string]int  // the last item that calls with the name
}

// names reads the names in all that is sent, in the text so far, and in all calls.
func (s *summary) names() *names {
	const longest = 64 << 10 // bytes of the arguments of a call
	n := &names{map[string]bool{}, map[string]int{}}
	n.show(s.String())
	for _, text := range s.Sent {
		n.show(text)
	}
	for i := len(s.Request.Items) - 1; i >= s.From; i-- {
		for k := range s.Request.Items[i].Calls {
			c := &s.Request.Items[i].Calls[k]
			if c.Arguments.End-c.Arguments.Start > longest {
				continue
			}
			for name := range namesIn(activity.Texts(s.Request.Body, c)) {
				n.used[name] = max(n.used[name], i)
			}
		}
	}
	return n
}

func (n *names) show(text string) {
	for name := range namesIn(text) {
		n.shown[name] = true
	}
}

// choose returns the first lines that hold names which calls behind item i use and which stand nowhere else.
func (n *names) choose(lines []string, i int) (list []string) {
	const most, longest = 4, 160 // lines, bytes of a line
	for _, line := range lines {
		if len(line) > longest || len(list) == most {
			continue
		}
		isNew := false
		for name := range namesIn(line) {
			isNew = isNew || n.used[name] > i && !n.shown[name]
		}
		if isNew {
			n.show(line)
			list = append(list, line)
		}
	}
	return list
}

// namesIn yields each name in a text: a path, words joined by dots or underscores, a word with a capital inside, or a
// number of six digits and more.
func namesIn(text string) iter.Seq[string] {
	const shortest, longest = 4, 80
	isGap := func(r rune) bool { return r > '~' || !isWordByte(byte(r)) && !strings.ContainsRune("./-:@+~$", r) }
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, isGap) {
			word = strings.Trim(word, ".-/:@+~$")
			if len(word) >= shortest && len(word) <= longest && isName(word) && !yield(word) {
				return
			}
		}
	}
}

func isWordByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isName(word string) bool {
	digits, hasLetter := 0, false
	for i := range len(word) {
		c := word[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case i > 0 && c >= 'A' && c <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z':
			return true
		case hasLetter && (c == '_' || (c == '.' || c == '/') && isWordByte(word[i-1]) && isWordByte(word[i+1])):
			return true
		}
		hasLetter = hasLetter || isLetter(c)
	}
	return digits >= 6 && digits == len(word)
}
