package deed

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"epitome/rewrite/history/answer"
	"epitome/rewrite/mark"
)

// What is told of a call.
const (
	bytesOfValues = 240      // bytes of what it was given
	bytesOfAnswer = 160      // bytes of what it answered
	bytesOfGiven  = 16 << 10 // bytes of what it was given that are searched for what it answered
	mostLooks     = 3        // calls of a tool that only looks
)

// Call is one call.
type Call struct {
	Tool      string // its name, for a reader
	About     string // it, where its values cannot be told
	Arguments []byte // as their text says; nil if they are no object
	Failed    string // how it ended, if it failed, in words
	Answer    func() string
}

// InWords is the tool of a call and the values that it was given.
func (c *Call) InWords() string {
	values := Values(c.Arguments, bytesOfValues)
	if values == "" || mark.IsForged(values) {
		return c.About
	}
	return c.Tool + " " + values
}

// InPlaceOf is a preview of some fields of an answer whose lines tell too much to be told whole, or nothing; empty if
// they do not, or if it is no JSON object.
func InPlaceOf(lines []string, text func() string) string {
	const longest = 400 // bytes of a line
	if slices.ContainsFunc(lines, func(l string) bool {
		return len(l) <= longest && strings.ContainsFunc(l, unicode.IsLetter)
	}) {
		return ""
	}
	return fields(text(), answer.Known{Given: func(string) bool { return false }})
}

// fields is a preview of some fields of an answer; empty if it is no JSON object.
func fields(text string, known answer.Known) string {
	fields := answer.Preview(text, bytesOfAnswer, known)
	if mark.IsForged(fields) {
		return ""
	}
	return fields
}

// Rows tells calls, the newest first, in at most room bytes: each with its values, how it ended if it failed, and some
// of what it answered. Those that only look come last, few of each tool. more is how many have no place. It goes
// through the calls twice.
func Rows(calls iter.Seq[*Call], room int) (list []string, more int) {
	l := rows{room: room, told: map[string]bool{}, same: map[string]*row{}}
	for c := range calls {
		if !Looks(c.Tool, c.Arguments) {
			l.act(c)
		}
	}
	l.looks(calls)
	for _, r := range l.list {
		list = append(list, r.text())
	}
	return list, l.more
}

// row is what is told of a call, and how often the same was told.
type row struct {
	call, answer string
	times        int
}

// text is the row with its count.
func (r *row) text() string {
	if r.times > 1 {
		return fmt.Sprintf("%s, %d times%s", r.call, r.times, r.answer)
	}
	return r.call + r.answer
}

// rows are what was told of calls.
type rows struct {
	list       []*row
	same       map[string]*row // by what is told of it; none of a browser's, where it matters what came between
	room, more int
	isFull     bool
	told       map[string]bool // fields of answers
	page       []string        // the newest lines of a browser
}

// act takes one call that may have changed something.
func (l *rows) act(c *Call) {
	if l.isFull {
		l.more++
		return
	}
	r := &row{call: c.inRow(), times: 1}
	for _, line := range l.answerOf(c) {
		r.answer += "\n> " + line
	}
	if same := l.same[r.text()]; same != nil && l.page == nil {
		l.again(same)
		return
	}
	if l.isFull = len(r.text())+1 > l.room; l.isFull {
		l.more++
		return
	}
	l.same[r.text()] = r
	l.tell(r)
}

// again counts a row, if there is room for the count.
func (l *rows) again(r *row) {
	const need = 12 // bytes of a count
	if r.times == 1 {
		if l.room < need {
			l.more++
			return
		}
		l.room -= need
	}
	r.times++
}

// tell puts a row behind the others.
func (l *rows) tell(r *row) {
	l.room -= len(r.text()) + 1
	l.list = append(l.list, r)
}

// inRow is a call in words, with how it ended if it failed.
func (c *Call) inRow() string {
	if c.Failed == "" {
		return c.InWords()
	}
	return c.InWords() + ": " + c.Failed
}

// looks takes the newest calls of each tool that only looks.
func (l *rows) looks(calls iter.Seq[*Call]) {
	var order []string
	count, all := map[string]int{}, map[string][]string{}
	for c := range calls {
		if !Looks(c.Tool, c.Arguments) {
			continue
		}
		if count[c.Tool]++; count[c.Tool] == 1 {
			order = append(order, c.Tool)
		}
		if len(all[c.Tool]) == mostLooks {
			continue
		}
		if row := c.inRow(); !slices.Contains(all[c.Tool], row) {
			all[c.Tool] = append(all[c.Tool], row)
		}
	}
	for _, tool := range order {
		for _, text := range all[tool] {
			if count[tool] > mostLooks {
				text = fmt.Sprintf("%s, one of %d", text, count[tool])
			}
			if len(text)+1 > l.room {
				l.more++
				continue
			}
			l.tell(&row{call: text})
		}
	}
}

// answerOf is what a call answered: where a browser stands, if the call right above did not leave it there too, or
// fields of an object, without values that the call says, or fields that were told.
func (l *rows) answerOf(c *Call) []string {
	text := c.Answer()
	if page := answer.Page(text); len(page) > 0 {
		if slices.Equal(page, l.page) {
			return nil
		}
		l.page = page
		return slices.DeleteFunc(slices.Clone(page), func(line string) bool {
			return len(line) > bytesOfValues || mark.IsForged(line)
		})
	}
	given := string(c.Arguments[:min(len(c.Arguments), bytesOfGiven)])
	isGiven := func(value string) bool { return strings.Contains(given, value) }
	told := fields(text, answer.Known{Given: isGiven, Told: l.told})
	if told == "" {
		return nil
	}
	return []string{told}
}
