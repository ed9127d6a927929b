package rewrite

import (
	"slices"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// StandingChanges are the changes of all items that are not sent whole, in their order: those of the report, what was
// thought that goes with them, and those that were decided earlier, which have no reason in words. What stands in
// another item's form is not told again. r is the request as it came.
func (s Output) StandingChanges(r *conversation.Request) []plan.Change {
	if len(s.forms) == 0 {
		return nil
	}
	made := map[int]plan.Change{}
	for _, c := range s.Report.Changes {
		made[c.Item] = c
	}
	calls := activity.NewCalls()
	var list []plan.Change
	for i, f := range s.forms {
		it := &r.Items[r.Head+i]
		var source activity.Call
		switch it.Role {
		case conversation.Assistant:
			calls.Learn(r, it)
		case conversation.Tool:
			source = calls.Answered(it)
		}
		if f == nil || f.Gone || f.IsWhole() {
			continue
		}
		c, ok := made[r.Head+i]
		if !ok {
			c = s.stands(f, &source)
			c.Item = r.Head + i
			if f.Fold > 1 {
				c.Last, c.Before = c.Item+f.Fold-1, 0
			}
		}
		c.Came = int(float64(f.Came()) * s.ratio)
		s.noteThinking(&c, i, it)
		list = append(list, c)
	}
	return list
}

// noteThinking notes in the change of item i behind the head that what was thought in it goes, too.
func (s Output) noteThinking(c *plan.Change, i int, it *conversation.Item) {
	f := s.forms[i]
	switch {
	case f.Said != "":
		c.Thinking = f.Said
	case f.Fold == 1 && f.With == "" && it.SaysNothing():
		c.Thinking = f.Kept
	}
	if !slices.Contains(s.unthought, i) {
		return
	}
	if c.Why != "" {
		c.Why += "; "
	}
	c.Why += plan.WhyUnthought
	c.After = int(float64(f.Now) * s.ratio)
}

// stands is a change that was made earlier.
func (s Output) stands(f *decision.Form, o *activity.Call) plan.Change {
	c := plan.Change{Rung: f.Rung.String(), Code: plan.CodeOf(f), Tool: o.Tool, Argument: o.About}
	c.Before, c.After = int(float64(f.Whole)*s.ratio), int(float64(f.Now)*s.ratio)
	if names := f.Artifacts(); len(names) > 0 {
		c.Artifact = names[0]
	}
	return c
}
