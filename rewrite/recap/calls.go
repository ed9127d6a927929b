package recap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
)

const (
	longestRow  = 300 // characters of a call
	longestLine = 160 // bytes of a line that is quoted
)

// entry is one call, or several alike, in the list of calls.
type entry struct {
	tool, row string
	lines     string // of the results, quoted
}

// calls are the calls of the span, oldest first: under the tool's name the main argument of each, with lines of its
// result. What was called several times and ended alike stands where it was called last. The oldest are left out first.
func (s *Span) calls(tokens int, n *names) string {
	if tokens == 0 {
		return ""
	}
	var list []*entry
	room, searched, known, more := bytesFor(tokens), 1<<20, map[string]*entry{}, ""
	s.results(func(res *history.Result, call *conversation.Call) bool {
		if res.Kind == activity.Todo || res.Kind == activity.Ask {
			return true
		}
		failure, lines := "", []string(nil)
		if res.Failed() {
			failure = res.State()
		}
		e := &entry{tool: shorten.OneLine(call.Name, 80), row: cmp.Or(s.about(res, call), "(no arguments)") + "\n"}
		if searched > 0 {
			text, _ := shorten.FinalScreen(s.Plan.TextOf(res.Item))
			if searched -= len(text); failure != "" {
				lines = strings.FieldsFunc(excerpt.Failure(text), func(r rune) bool { return r == '\n' })
			} else {
				lines = n.choose(strings.Split(text, "\n"), res.Item)
			}
		}
		if failure != "" {
			e.row += "(" + failure + ")\n"
		}
		for _, l := range lines {
			e.lines += "> " + strings.TrimRight(l, " \t\r") + "\n"
		}
		newer := known[e.tool+"\n"+e.row]
		if newer != nil && failure != "" {
			return true
		}
		if room -= len(e.lines); newer == nil {
			room -= len(e.row) + len(e.tool)/2
		}
		switch {
		case room < 0:
			more = "(older calls are not listed)\n"
			return false
		case newer != nil:
			newer.lines = e.lines + newer.lines
		default:
			n.tell(e.row)
			known[e.tool+"\n"+e.row], list = e, append(list, e)
		}
		return true
	})
	var w strings.Builder
	w.WriteString(more)
	tool := ""
	for _, e := range slices.Backward(list) {
		if e.tool != tool {
			tool = e.tool
			w.WriteString(tool + ":\n")
		}
		w.WriteString(e.row + e.lines)
	}
	return strings.ToValidUTF8(w.String(), "\ufffd")
}

// about is the main argument of a call. It stands on lines of its own, word for word.
func (s *Span) about(res *history.Result, call *conversation.Call) string {
	line := activity.Command(s.Plan.Req.Body, call)
	switch {
	case line != "" && len(line) <= longestRow:
		return line
	case line != "":
		return shorten.OneLine(line, longestRow)
	case len(res.Files) > 0:
		return strings.Join(res.Files[:min(len(res.Files), 8)], "\n")
	}
	return res.About
}

// written are the files that calls wrote, newest first.
func (s *Span) written(tokens int) (list []string) {
	room := bytesFor(tokens)
	s.results(func(res *history.Result, _ *conversation.Call) bool {
		for _, name := range res.Files {
			if res.Failed() || res.Kind != activity.Write || slices.Contains(list, name) || len(name) >= room {
				continue
			}
			room -= len(name) + 1
			list = append(list, name)
		}
		return true
	})
	return list
}

// words are the last words of the agent's newest messages, oldest first, each under the number of its message.
func (s *Span) words(tokens int) string {
	const most = 10
	var list []string
	room := bytesFor(tokens)
	for i := s.To - 1; i >= s.From && len(list) < most; i-- {
		if s.item(i).Role != conversation.Assistant {
			continue
		}
		text := lastWords(s.Plan.TextOf(i))
		if text == "" {
			continue
		}
		text = fmt.Sprintf("message %d:\n> %s", plan.NumberOf(s.Plan, i), strings.ReplaceAll(text, "\n", "\n> "))
		if room -= len(text) + 1; room < 0 {
			break
		}
		list = append(list, text)
	}
	slices.Reverse(list)
	return strings.Join(list, "\n")
}

// lastWords returns the last paragraphs of a text that are not too long together; of a long last one, its end.
func lastWords(text string) string {
	const longest = 320 // bytes
	text = strings.TrimSpace(text)
	if len(text) <= longest {
		return text
	}
	tail := text[len(text)-longest:]
	for _, between := range []string{"\n\n", "\n", ". ", " "} {
		if _, rest, ok := strings.Cut(tail, between); ok {
			return "… " + strings.TrimSpace(rest)
		}
	}
	return "… " + strings.ToValidUTF8(tail, "")
}

// names are what a reader knows already and what the work goes on with: lines of results are chosen by it.
type names struct {
	told map[string]bool // names that stand elsewhere in the request
	used map[string]int  // the last item that calls with the name
}

// newNames learns the names in the rest of the request, in the texts, and in all calls.
func newNames(s Span, texts []string) *names {
	n := &names{told: map[string]bool{}, used: map[string]int{}}
	for _, t := range texts {
		n.tell(t)
	}
	const longestCall = 64 << 10 // bytes of one that is read
	room := 6 << 20              // bytes, as plan.CostOf has them
	for i := s.Plan.Hist.Len() - 1; i >= 0 && room > 0; i-- {
		room -= plan.CostOf(s.Plan, i)
		isIn, f := i >= s.From && i < s.To, s.Plan.Forms[i]
		for _, c := range s.item(i).Calls {
			if c.Arguments.End-c.Arguments.Start > longestCall {
				continue
			}
			text := activity.Texts(s.Plan.Req.Body, &c)
			eachName(text, func(name string) { n.used[name] = max(n.used[name], i) })
			if !isIn && f == nil {
				n.tell(text)
			}
		}
		switch {
		case isIn || i == s.From-1 && f != nil && f.ReplacesContent():
		case f == nil || len(f.Patches) > 0 && f.Patches[0].Place == conversation.Behind: // an earlier summary goes
			n.tell(s.Plan.TextOf(i))
		default:
			for _, q := range f.Patches {
				n.tell(q.Text)
			}
		}
	}
	return n
}

func (n *names) tell(text string) { eachName(text, func(name string) { n.told[name] = true }) }

// choose returns the lines, in their order, that hold most names which calls behind item i use and which stand nowhere
// else, at most four.
func (n *names) choose(lines []string, i int) (list []string) {
	const most = 4
	worth := func(l string) (w int) {
		eachName(l, func(name string) {
			if n.used[name] > i && !n.told[name] {
				w++
			}
		})
		return w
	}
	var candidates, at []int
	for k, l := range lines {
		if len(l) <= longestLine && worth(l) > 0 {
			candidates = append(candidates, k)
		}
	}
	for len(at) < most {
		best, which := 0, -1
		for _, k := range candidates {
			if w := worth(lines[k]); w > best {
				best, which = w, k
			}
		}
		if which < 0 {
			break
		}
		n.tell(lines[which])
		at = append(at, which)
	}
	slices.Sort(at)
	for _, k := range at {
		list = append(list, lines[k])
	}
	return list
}
