package rewrite

import (
	"strings"

	"epitome/rewrite/ledger"
)

// identify sets what the ledger needs to know of the request. Two conversations that begin alike share no decision if
// they ask for other context files or memory.
func (x *shaping) identify() {
	r, of, day := x.request, &x.subject, ""
	of.Model, of.Leading, of.Chain, of.Head, of.Ends = r.Model, x.leading(), r.Chain(), r.Head, r.Ends()
	if injector := x.shaper.deps.Inject; injector != nil {
		if x.in.Project == "" {
			x.in.Project = injector.Project(r)
		}
		of.Additions, day = injector.Wish(x.in.Contexts, x.in.Project)
		if x.in.Runtime != "" {
			of.Additions += "\x00runtime"
		}
	}
	if r.End() == r.Head {
		of.Opening = ledger.Hash(of.Leading, day, x.in.Runtime)
	}
}

// addSystem adds the context files and the memory that a new conversation asks for to its system prompt.
func (x *shaping) addSystem() {
	const share = 4 // the text may take a quarter of the usable tokens, and no more than the request leaves free
	s, added := x.state, &x.out.Report.Added
	if isNew := x.found == 0 && x.subject.Opening != ""; x.subject.Additions == "" || !isNew || x.in.Replay {
		return
	}
	a, err := x.shaper.deps.Inject.For(x.in.Scope, x.in.Contexts, x.in.Project, s.ReadsByTool)
	if err != nil {
		added.Why = err.Error()
	}
	if x.in.Runtime != "" {
		a.Text = strings.TrimSpace(x.in.Runtime + "\n\n" + a.Text)
		a.Contexts = append(a.Contexts, "runtime")
	}
	if _, ok := x.in.Dialect.AppendSystem(x.request, a.Text); a.Text == "" || !ok { // !ok: it has no place there
		return
	}
	tokens := s.Scale.CountText(a.Text)
	if tokens > min(s.Limits.Usable/share, s.Limits.Usable-s.Total) {
		added.Why = "nothing is added to the system prompt: it takes too much of the window"
		return
	}
	s.Add(ledger.Edit{
		Op: ledger.AppendSystem, Text: a.Text, Tokens: tokens, Step: ledger.StepAdd, Artifacts: a.Artifacts,
		Contexts: a.Contexts, Memory: s.Scale.CountText(a.Text[len(a.Text)-a.Memory:]),
	})
}
