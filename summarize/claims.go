package summarize

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/offload/excerpt"
)

// fileForm matches names of files by their ending: a word in prose rarely has one.
var fileForm = regexp.MustCompile(`^[\w./-]*\w\.[a-z]{1,4}$`)

// doubts returns lines about a message of the agent in item i, and what it says: files that nothing before it names, so
// that no call can have written them, and the last command before it, if that failed. A model that goes on believes its
// own words, whatever calls have shown.
func (s *summary) doubts(i int, said string) (text string) {
	const mostNames = 3
	before := s.Request.Body[:s.Request.Items[i].Span.Start]
	var unknown []string
	for _, name := range namesIn(said) {
		isFile := fileForm.MatchString(name) && len(unknown) < mostNames && !slices.Contains(unknown, name)
		if isFile && !bytes.Contains(before, []byte(path.Base(name))) {
			unknown = append(unknown, name)
		}
	}
	for _, name := range unknown {
		text += fmt.Sprintf("(no call before this names %s)\n", name)
	}
	if c := s.lastFailure(i); c != nil {
		text += fmt.Sprintf("(when it last ran before this, `%s` %s)\n", excerpt.OneLine(c.About, 100), c.State())
	}
	return text
}

// lastFailure returns the newest command since the user's last message before item i that failed when it was run last,
// and whose output says so; nil if there is none.
func (s *summary) lastFailure(i int) *activity.Call {
	ran, turn := map[string]bool{}, s.turnOf(i)
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if c.Item < turn {
			return nil
		}
		if c.Item >= i || c.Kind != activity.Run {
			continue
		}
		if c.Failed() && !ran[c.About] && c.Failure(c.ResultText(s.Request)) != "" {
			return c
		}
		ran[c.About] = true
	}
	return nil
}

// turnOf returns the item of the user's last message before item i; 0 if there is none.
func (s *summary) turnOf(i int) int {
	for k := i - 1; k > 0; k-- {
		if it := &s.Request.Items[k]; it.Role == conversation.User && s.Request.OwnWords(it) != "" {
			return k
		}
	}
	return 0
}
