package recap

import (
	"regexp"
	"strings"

	"epitome/rewrite/activity"
)

var (
	word = regexp.MustCompile(`[\w./:@+~$-]{4,}`)
	// name matches a path, words joined by dots or underscores, a word with a capital inside, or a number of six digits
	// and more.
	name = regexp.MustCompile(`^\d{6,}$|[a-z][A-Z]|[A-Za-z](?:.*\w)?[./]\w|[A-Za-z].*_`)
)

// namesIn returns the names in a text.
func namesIn(text string) (list []string) {
	const longest = 80 // bytes
	for _, w := range word.FindAllString(text, -1) {
		if w = strings.Trim(w, ".-/:@+~$"); len(w) <= longest && name.MatchString(w) {
			list = append(list, w)
		}
	}
	return list
}

// names are those by which lines of results are chosen.
type names struct {
	shown map[string]bool // they stand elsewhere in the request
	used  map[string]int  // the last item that calls with the name
}

// names reads the names in all that is sent, in the text so far, and in all calls.
func (s *summary) names() *names {
	n := &names{map[string]bool{}, map[string]int{}}
	n.show(s.String())
	for _, text := range s.Sent {
		n.show(text)
	}
	for i := s.From; i < len(s.Request.Items); i++ {
		for k := range s.Request.Items[i].Calls {
			for _, name := range namesIn(activity.Texts(s.Request.Body, &s.Request.Items[i].Calls[k])) {
				n.used[name] = i
			}
		}
	}
	return n
}

func (n *names) show(text string) {
	for _, name := range namesIn(text) {
		n.shown[name] = true
	}
}
