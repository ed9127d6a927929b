package recap

import (
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/agenda"
	"epitome/rewrite/recap/past"
	"epitome/rewrite/shorten"
)

// known is what a reader of the request knows already, and what the work goes on with: by it, lines are chosen.
type known struct {
	told   map[string]bool // names that stand in the request, or in a line that was chosen
	used   map[string]int  // the last item that calls with the name
	spoken map[string]bool // names of used that stand elsewhere than in what a call puts into a file: that lies there
	moved  bool            // a newer call may have moved the work from where git says that it stands
	placed bool            // a newer call says on which branch it stands
}

// newKnown learns the names of what the rest of the request shows, of the texts, and of all calls from what is read on.
func newKnown(s *past.Span, texts ...string) *known {
	k := &known{told: map[string]bool{}, used: map[string]int{}, spoken: map[string]bool{}}
	k.tell(rest(s))
	for _, text := range texts {
		k.tell(text)
	}
	const longestCall = 16 << 10 // bytes that are looked at
	writing, first := writingCalls(s), s.Plan.End
	for room := 2 * past.MostRead; first > s.Read && room > 0; first-- {
		room -= plan.CostOf(s.Plan, first-1)
	}
	for i := first; i < s.Plan.End; i++ {
		for _, c := range s.ItemAt(i).Calls {
			arguments := c.ArgumentsIn(s.Plan.Req.Body)
			if agenda.Keeps(c.Name, arguments) { // what it names is told as a task
				continue
			}
			text := action.ArgumentTexts(arguments, c.FreeText)
			text = text[:min(len(text), longestCall)]
			shorten.EachName(text, func(name string) { k.used[name] = i })
			if writing[c.ID] {
				text = action.TextsBesideContents(arguments, c.FreeText)
			}
			shorten.EachName(text, func(name string) { k.spoken[name] = true })
		}
	}
	return k
}

// writingCalls are the ids of the calls of writing tools.
func writingCalls(s *past.Span) map[string]bool {
	ids := map[string]bool{}
	for k := range s.Plan.Hist.Results {
		if res := &s.Plan.Hist.Results[k]; res.Action.Kind == action.Writing {
			ids[s.ItemAt(res.Item).Answers] = true
		}
	}
	return ids
}

// tell notes that a text stands in the request.
func (k *known) tell(text string) {
	shorten.EachName(text, func(name string) { k.told[name] = true })
}

// isNew reports whether a line holds a name that stands nowhere else.
func (k *known) isNew(line string) (isNew bool) {
	shorten.EachName(line, func(name string) { isNew = isNew || !k.told[name] })
	return isNew
}

// defines finds a line that defines or declares something.
var defines = pattern.Of(`^[+\s]*(?:\d+[:\t→|]\s*)?(?:export |pub(?:\([a-z]+\))? |public |private |protected |static |async |default |abstract |@\w+ )*` +
	`(?:func|function|type|class|def|interface|struct|enum|trait|impl|const|let|var|fn|module|package|import|from|use|` +
	`CREATE TABLE|describe\(|it\(|test\()\b?[ (]`)

// choose returns at most most lines of those given that are worth a place, whole and in their order. worth says how
// much a line is; 0 is nothing.
func (k *known) choose(lines []string, most int, worth func(line string) int) (list []string) {
	type choice struct{ at, worth int }
	var all []choice
	seen := map[string]bool{}
	for i, l := range lines {
		bare := strings.TrimSpace(l)
		if len(bare) < 4 || len(l) > longestLine || seen[bare] {
			continue
		}
		seen[bare] = true
		if w := worth(l); w > 0 {
			all = append(all, choice{i, w})
		}
	}
	slices.SortStableFunc(all, func(a, b choice) int { return b.worth - a.worth })
	taken := map[int]bool{}
	for _, c := range all {
		if len(taken) == most {
			break
		}
		if worth(lines[c.at]) == 0 { // what was chosen tells its names by now
			continue
		}
		taken[c.at] = true
		k.tell(lines[c.at])
	}
	for i, l := range lines {
		if taken[i] {
			list = append(list, strings.TrimRight(l, " \t\r"))
		}
	}
	return list
}

// imports finds a line that only says where names come from.
var imports = pattern.Of(`^\s*(?:\d+[:\t→|]\s*)?(?:import |from \S+ import |use |package |#include|require[ (])`)

// worthLater says how much a line of the result in item i is worth: each name in it that a later call uses and that
// stands nowhere else. What is imported tells nothing.
func (k *known) worthLater(i int) func(line string) int {
	return func(line string) int {
		n := 0
		if imports.MatchString(line) {
			return 0
		}
		shorten.EachName(line, func(name string) {
			if k.used[name] > i && !k.told[name] {
				n++
			}
		})
		if n > 0 && defines.MatchString(line) {
			n += 2
		}
		return n
	}
}

// worthNow says how much a line is worth that the agent wrote: each name in it that stands nowhere else, and more if
// the line defines something.
func (k *known) worthNow(line string) int {
	n := 0
	shorten.EachName(line, func(name string) {
		if !k.told[name] {
			n++
		}
	})
	if n > 0 && defines.MatchString(line) {
		n += 2
	}
	return min(n, 6)
}

// rest is what the rest of the request shows: all before the span and behind it, in the forms in which it is sent.
func rest(s *past.Span) string {
	var text strings.Builder
	for i := range s.Plan.Hist.Len() {
		f := s.Plan.Forms[i]
		isLeft := i == s.From-1 && f != nil && f.ReplacesContent() // an earlier summary stands in its text
		if i >= s.From && i < s.To || isLeft {
			continue
		}
		if f == nil || len(f.Patches) > 0 && f.Patches[0].Place == conversation.Behind { // an earlier summary goes
			it := s.ItemAt(i)
			text.WriteString(s.Plan.TextOf(i) + "\n")
			for _, c := range it.Calls {
				text.WriteString(action.ArgumentTexts(c.ArgumentsIn(s.Plan.Req.Body), c.FreeText))
			}
			continue
		}
		for _, q := range f.Patches {
			text.WriteString(q.Text + "\n")
		}
	}
	return text.String()
}
