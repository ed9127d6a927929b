package rewrite

import (
	"fmt"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// build makes the body and checks it.
func (x *run) build() error {
	p := x.plan
	x.asItCame()
	after := p.Size
	edits, err := x.spelled.Edits(x.req, p.Forms, len(p.Forms))
	if err != nil {
		return err
	}
	for i, f := range p.Forms {
		if f != nil {
			x.account(&after, i, f)
		}
	}
	x.out.Report.After, x.out.Report.Counted = after.Times(p.Scale.Ratio), plan.Comparable(p, after)
	if len(edits) == 0 { // what a form would leave out, the client has left out itself
		x.out.Report.Repeated = 0
	}
	if edits = append(edits, p.Ask.Head...); len(edits) == 0 {
		return nil
	}
	body, err := span.SpliceInto(x.in.Lend, x.in.Body, edits)
	if err != nil {
		return err
	}
	// What this process checked in this very form before needs no other look.
	if len(p.Sheet.NewForms) > 0 || x.log.standing != p.Base || x.log.adopted {
		if err := check(x.req, body); err != nil {
			return err
		}
	}
	x.out.Body, x.out.Changed, x.out.forms, x.out.ratio = body, true, formsOf(x.req, p.Forms), p.Scale.Ratio
	noteAdded(x, edits)
	return nil
}

// formsOf are the forms by which what came is made again: what the client has left out itself was not taken out.
func formsOf(r *conversation.Request, forms []*decision.Form) []*decision.Form {
	own := false
	for i, f := range forms {
		if f == nil || f.Said == "" || len(r.Items[r.Head+i].Thinking) > 0 {
			continue
		}
		if !own {
			forms, own = slices.Clone(forms), true
		}
		g := *f
		g.Said = ""
		forms[i] = &g
	}
	return forms
}

// check compares a rewritten body with its original.
func check(original *conversation.Request, body []byte) error {
	rewritten, err := original.Dialect.Read(body, nil)
	if err != nil {
		return fmt.Errorf("cannot read the rewritten conversation: %w", err)
	}
	return conversation.Worse(original, rewritten)
}

// account puts an item's form into the report, and what it saves into the size.
func (x *run) account(after *conversation.Size, i int, f *decision.Form) {
	media, now := 0, x.plan.SentSize(i)
	if f.ReplacesContent() {
		media = x.hist.Media[i]
	}
	role, was := x.req.Items[x.req.Head+i].Role, x.hist.Sizes[i]-media
	switch {
	case f.Fold > 0 && role != conversation.Assistant: // a message stands for it
		after.Summary += now
		after.Add(role, -was, -media)
	case role == conversation.User && now > was: // a summary stands in what the user said
		after.Summary += now - was
		after.Add(role, 0, -media)
	default:
		after.Add(role, now-was, -media)
	}
	r := &x.out.Report
	if i < x.plan.Base.Depth() && !x.plan.Sheet.NewForms[i] {
		r.Repeated++
	}
	if f.Rung > x.highest {
		x.highest, r.Action = f.Rung, f.Rung.String()
	}
}

// asItCame takes back what was built.
func (x *run) asItCame() {
	r := &x.out.Report
	x.out.Body, x.out.Changed, x.out.forms, x.highest = x.in.Body, false, nil, 0
	x.out.added.undo, r.Added = nil, Added{Why: r.Added.Why}
	r.Action, r.After, r.Repeated = ActionNone, r.Before, 0
	if x.plan != nil {
		came := x.plan.Size
		came.System -= x.out.added.tokens
		r.Counted = plan.Comparable(x.plan, came)
	}
}
