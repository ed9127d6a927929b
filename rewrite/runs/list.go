package runs

import (
	"fmt"
	"strings"

	"epitome/rewrite/plan"
)

// place is where artifacts lie: what stands in their addresses before and behind a name.
type place struct{ before, behind string }

// placeOf is the place of an artifact; ok is false if a line with the name could not say it.
func placeOf(p *plan.Plan, name string) (at place, ok bool) {
	address := plan.AddressOf(p, name)
	if address == "" {
		return at, true
	}
	at.before, at.behind, ok = strings.Cut(address, name)
	return at, ok && !strings.Contains(at.behind, name)
}

// advice says what has a result, as its line names it, and what can be done with that.
func (at place) advice(p *plan.Plan) (what, how string) {
	switch {
	case at.before == "":
		return "its artifact", "You cannot read the artifacts from here"
	case p.Case.ByTool:
		return "its artifact", "Read or search the artifacts with " + plan.Tool
	case plan.IsURL(at.before):
		return "the end of its address", "Fetch one from " + at.before + " and search it if it is long"
	}
	if p.Case.IsUnread() {
		return "its file", "Kept in " + at.before + plan.Unread
	}
	return "its file", "Read or search the files in " + at.before
}

// listOf is the stub of a run's first result. Its lines end with what comes from calls, so that nothing in a call can
// pass for what epitome says of a result.
func listOf(p *plan.Plan, run []member) string {
	at, _ := placeOf(p, run[0].artifact)
	what, how := at.advice(p)
	why := mostlyWhy(run)
	calls := make([]call, len(run))
	for k := range run {
		calls[k] = run[k].call
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d results of %s, cleared: %s. This was the first of them. Each has a line below: its number, %s, its size "+
		"and its call, in which … stands for what is left out. %s]", plan.Mark, len(run), run[0].Result.Name, why, what, how)
	for k, text := range told(calls) {
		b.WriteString("\n" + run[k].line(k+1, why, at.behind, text))
	}
	return b.String()
}

// mostlyWhy is why most of the results are cleared.
func mostlyWhy(run []member) (why string) {
	times := map[string]int{}
	for k := range run {
		times[run[k].Why]++
	}
	for k := range run { // of equal numbers, the first one's
		if times[run[k].Why] > times[why] {
			why = run[k].Why
		}
	}
	return why
}

// line is what a list says of a result. why is what it says of all of them, and behind what an address has behind the
// name.
func (m *member) line(number int, why, behind, asked string) string {
	unit := "lines"
	if m.lines == 1 {
		unit = "line"
	}
	s := fmt.Sprintf("%d %s%s, %d %s, %d bytes", number, m.artifact, behind, m.lines, unit, m.bytes)
	if m.ending != "" {
		s += ", " + m.ending
	}
	if m.Why != why {
		s += ", cleared: " + m.Why
	}
	if asked == "" {
		return s
	}
	return s + ": " + asked
}

// pointer is the stub of a result that is listed with an earlier one.
func pointer(p *plan.Plan, number, first int) string {
	return fmt.Sprintf("%scleared: line %d of the list above, in message %d]", plan.Mark, number, plan.NumberOf(p, first))
}
