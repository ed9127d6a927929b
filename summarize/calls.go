package summarize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/jsonspan"
	"epitome/offload/excerpt"
)

// inSpan reports whether a call is in the span, and its result, too, if it has one.
func (s *Span) inSpan(c *activity.Call) bool {
	return c.Item >= s.From && c.Item < s.To && c.Result < s.To
}

// listedCall is a call in the list, or some with the same tool and argument.
type listedCall struct {
	call   *activity.Call // the newest
	tool   string         // the heading above the calls of one tool
	text   string         // the call's files or main argument
	quoted string         // lines of its result
	times  int
}

func (l *listedCall) String() string {
	text := l.text + "\n"
	times := ""
	if l.times > 1 && !l.call.Kind.Looks() {
		times = fmt.Sprintf(", %d times", l.times)
	}
	if state := l.call.State(); state != "ok" || times != "" {
		text += "(" + state + times + ")\n"
	}
	return text + l.quoted
}

// calls lists the calls of the span in budget tokens, oldest first: below the tool's name the main argument of each call,
// how it ended unless that is ok, and quoted lines of its result. A count stands for older calls that do not fit. A call
// that reads like a newer one is counted with it, unless it did not fail and has other lines to quote.
func (s *summary) calls(budget int) string {
	if s.Budgets.Work == 0 {
		return ""
	}
	list, omitted := s.listCalls(bytesFor(budget))
	var b strings.Builder
	if len(omitted) > 0 {
		b.WriteString(countsByTool(omitted))
	}
	tool := ""
	for _, l := range slices.Backward(list) {
		if l.tool != tool {
			tool = l.tool
			b.WriteString(tool + ":\n")
		}
		b.WriteString(l.String())
		if l.call.State() == "ok" {
			s.shownFiles = append(s.shownFiles, l.call.Files...)
		}
	}
	return b.String()
}

// listCalls returns the calls that fit in room bytes, newest first, and how many others there are of each tool: once a call
// does not fit, older ones are only counted.
func (s *summary) listCalls(room int) (list []*listedCall, omitted map[string]int) {
	omitted = map[string]int{}
	byKey := map[string]*listedCall{} // by what is equal in calls that are counted as one
	n := s.collectNames()
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		isElsewhere := c.Kind == activity.Todo || c.Kind == activity.Ask // tasks and users have a section
		if !s.inSpan(c) || isElsewhere || s.Budgets.State && isPast(c, byKey) {
			continue
		}
		l := &listedCall{call: c, tool: excerpt.OneLine(c.Tool, 80), text: s.argumentOf(c), times: 1}
		key := l.tool + l.text
		if c.Failed() {
			key += c.State()
		}
		same := byKey[key]
		if same != nil && c.Failed() {
			same.times++
			continue
		}
		if len(omitted) > 0 {
			omitted[l.tool]++
			continue
		}
		l.quoted = s.quoteNew(c, n, list)
		if same != nil && l.quoted == "" {
			same.times++
			continue
		}
		size := len(l.String())
		if len(list) == 0 || list[len(list)-1].tool != l.tool {
			size += len(l.tool) + len(":\n")
		}
		if size > room {
			omitted[l.tool]++
			continue
		}
		room -= size
		list = append(list, l)
		byKey[key] = l
		n.markShown(l.text) // results of older calls, which come next, need not repeat its names
		s.seen.add(l.String())
	}
	s.addResults(list, tokensFor(room))
	return list, omitted
}

// isPast reports whether a call does not say how things stand now: it only looked or wrote and did not fail, or a newer
// call is of the same command.
func isPast(c *activity.Call, newer map[string]*listedCall) bool {
	return c.Kind != activity.Run && !c.Failed() || newer[c.Tool+c.About] != nil
}

// quoteNew quotes the lines of a call's result that say what is not known and that no call in list has.
func (s *summary) quoteNew(c *activity.Call, n *names, list []*listedCall) (quoted string) {
	for line := range strings.Lines(quote(s.linesToQuote(c, n))) {
		if !slices.ContainsFunc(list, func(l *listedCall) bool { return strings.Contains("\n"+l.quoted, "\n"+line) }) {
			quoted += line
		}
	}
	return quoted
}

// addResults quotes the lines of short results that say something new and fit in room tokens, those of the newest calls
// first: an answer to a question is often a single value, such as a hash, which has more tokens than its bytes say.
func (s *summary) addResults(list []*listedCall, room int) {
	const longest = 240 // bytes
	for _, l := range list {
		text := l.call.ResultText(s.Request)
		if l.quoted != "" || len(text) > longest {
			continue
		}
		for line := range strings.Lines(text) {
			if s.seen.newWords(line) < newsOfLine {
				continue
			}
			quoted := quote(line)
			if n := s.Count(quoted); n <= room {
				room -= n
				l.quoted += quoted
				s.seen.add(line)
			}
		}
	}
}

// countsByTool says how many calls of each tool are not listed, those of the most frequent one first.
func countsByTool(calls map[string]int) string {
	tools := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(calls[b]-calls[a], strings.Compare(a, b))
	})
	all, list := 0, ""
	for _, tool := range tools {
		all += calls[tool]
		list += fmt.Sprintf(", %s %d", tool, calls[tool])
	}
	return fmt.Sprintf("(%d older calls are not listed: %s)\n", all, list[len(", "):])
}

// argumentOf returns the files of a call, its main argument or all of its arguments. Of several files that it failed to
// change, it names the first: the next try names them all.
func (s *summary) argumentOf(c *activity.Call) string {
	const maxFiles, maxArguments = 8, 100 // characters
	if c.Failed() && len(c.Files) > 1 {
		return fmt.Sprintf("%s (the first of %d files)", c.Files[0], len(c.Files))
	}
	about := cmp.Or(strings.Join(c.Files[:min(len(c.Files), maxFiles)], "\n"), c.About)
	arguments := jsonspan.TextOf(c.Arguments.Of(s.Request.Body))
	return cmp.Or(about, excerpt.OneLine(string(arguments), maxArguments))
}

// linesToQuote returns the failure that a result reports, if its call failed or is a command without exit code. Of
// other results it returns the first lines of at least three different words that have names which the agent has used in
// later calls and sees nowhere else.
func (s *summary) linesToQuote(c *activity.Call, n *names) string {
	const maxLines, longest = 4, 160 // lines with such names, bytes of each
	text, _ := excerpt.Screen(c.ResultText(s.Request))
	if failure := c.Failure(text); c.Failed() || failure != "" {
		return failure
	}
	var list []string
	isNew := func(name string) bool { return n.used[name] > c.Result && !n.shown[name] }
	for line := range strings.SplitSeq(text, "\n") {
		isPart := len(line) > longest || strings.HasSuffix(line, "(") || strings.HasSuffix(line, "[")
		if isPart || len(list) == maxLines || !slices.ContainsFunc(wordsIn(line), isNew) {
			continue
		}
		words := longWord.FindAllString(line, -1)
		slices.Sort(words)
		if len(slices.Compact(words)) >= 3 {
			list = append(list, strings.TrimRight(line, " \t\r"))
			n.markShown(line) // no second line is quoted for the same names
		}
	}
	return strings.Join(list, "\n")
}
