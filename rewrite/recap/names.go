package recap

import (
	"slices"
	"strings"

	"epitome/rewrite/activity"
)

// names are those that a reader knows already, and those that later calls use: lines of results are chosen by them.
type names struct {
	told map[string]bool // names that stand elsewhere in the request
	used map[string]int  // the last item that calls with the name
}

// names reads the names in all that is sent, in the text so far, and in all calls.
func (s *summary) names() *names {
	const maxRead, maxCall = 6 << 20, 64 << 10 // bytes in all, and of the arguments of one call
	n, unread := &names{told: map[string]bool{}, used: map[string]int{}}, maxRead
	n.tell(s.String())
	for _, text := range slices.Backward(s.Sent) {
		if unread -= len(text); unread > 0 {
			n.tell(text)
		}
	}
	for i := len(s.Request.Items) - 1; i >= s.From; i-- {
		for k := range s.Request.Items[i].Calls {
			c := &s.Request.Items[i].Calls[k]
			size := c.Arguments.End - c.Arguments.Start
			if unread -= size; unread < 0 || size > maxCall {
				continue
			}
			for name := range namesIn(activity.Texts(s.Request.Body, c)) {
				n.used[name] = max(n.used[name], i)
			}
		}
	}
	return n
}

func (n *names) tell(text string) {
	for name := range namesIn(text) {
		n.told[name] = true
	}
}

// choose returns the lines, in their order, that hold most names which calls behind item i use and which stand nowhere
// else.
func (n *names) choose(lines []string, i int) (list []string) {
	const most, longest = 4, 160 // lines, bytes of a line
	worth := func(line string) (w int) {
		for name := range namesIn(line) {
			if n.used[name] > i && !n.told[name] {
				w++
			}
		}
		return w
	}
	candidates := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return len(l) > longest || worth(l) == 0 })
	var chosen []int
	for len(chosen) < most {
		best, at := 0, -1
		for k, l := range candidates {
			if w := worth(l); w > best {
				best, at = w, k
			}
		}
		if at < 0 {
			break
		}
		n.tell(candidates[at])
		chosen = append(chosen, at)
	}
	slices.Sort(chosen)
	for _, k := range chosen {
		list = append(list, candidates[k])
	}
	return list
}

// namesIn yields each name in a text: a path, words joined by dots or underscores, a word with a capital inside, or a
// number of six digits and more.
func namesIn(text string) func(yield func(name string) bool) {
	const shortest, longest = 4, 80
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && (isWordByte(text[i]) || strings.IndexByte("./-:@+~$", text[i]) >= 0) {
				continue
			}
			word := strings.Trim(text[start:i], ".-/:@+~$")
			if len(word) >= shortest && len(word) <= longest && isName(word) && !yield(word) {
				return
			}
			start = i + 1
		}
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isName(word string) bool {
	digits, letters := 0, false
	for i := range len(word) {
		c := word[i]
		switch isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'; {
		case c >= '0' && c <= '9':
			digits++
		case i > 0 && isLetter && c <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z':
			return true
		case i > 0 && letters && (c == '_' || (c == '.' || c == '/') && isWordByte(word[i-1]) && isWordByte(word[i+1])):
			return true
		default:
			letters = letters || isLetter
		}
	}
	return digits >= 6 && digits == len(word)
}
