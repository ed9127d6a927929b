package rewrite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"epitome/dialect/conversation"
	"epitome/inject"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
)

// identify sets what the ledger needs to know of the request. Two conversations that begin alike share no decision if
// they ask for other context files or memory.
func (x *shaping) identify() {
	r, of := x.request, &x.subject
	of.Model, of.Leading = r.Model, x.leading()
	if r.Reused < r.Head || of.Leading != x.last.subject.Leading { // else the request before has found it
		r.Folder = inject.Folder(r)
	} else {
		r.Folder = x.last.request.Folder
	}
	of.Chain, of.Head, of.End, of.Ends = r.Chain(), r.Head, r.End(), r.Ends()
	day := ""
	if injector := x.deps.Inject; injector != nil {
		if x.in.Project == "" {
			x.in.Project = r.Folder
		}
		of.Additions, day = injector.Wish(x.in.Contexts, x.in.Project)
		if x.in.Runtime != "" {
			place, _, _ := strings.Cut(x.in.Runtime, "\n- .gitignore") // which may change
			of.Machine = ledger.Hash(place)
			of.Additions += "\x00" + of.Machine
			day = x.in.Now.Format(time.DateOnly)
		}
	}
	if of.End == r.Head {
		of.Opening = ledger.Hash(of.Leading, day)
	}
}

// leading returns a hash of what a provider caches before the messages: system prompt, tools, settings. If it changes,
// the cache is lost. The shelf's secret is in it, so nobody who sees the hash can find the prompt by trying.
func (x *shaping) leading() string {
	const letters = 16 // of the name: enough to tell one from another
	h := sha256.New()
	for _, span := range x.request.Before(x.request.Lead) {
		_, _ = h.Write(conversation.WithoutBilling(span.Of(x.request.Body)))
		_, _ = h.Write([]byte{'\n'})
	}
	name := x.deps.Shelf.Name(x.in.Scope, h.Sum(nil))
	return name[:min(len(name), letters)]
}

// ErrNoFiles refuses a conversation that begins with a context whose files were removed.
var ErrNoFiles = errors.New("cannot use x-epitome-context")

// addSystem adds the context files and the memory that a new conversation asks for to its system prompt.
func (x *shaping) addSystem() {
	const share = 4 // the text may take a quarter of the usable tokens, and no more than the request leaves free
	k, p := x.known, &x.plan
	isNew := x.found.items == 0 && x.subject.Opening != ""
	if x.subject.Additions == "" || !isNew || x.in.Replay {
		return
	}
	for _, name := range x.in.Contexts[:x.in.Named] {
		names, err := x.deps.Inject.Files.Names(name)
		if err == nil && len(names) == 0 {
			x.out.Refused = fmt.Errorf("%w: no files are kept under the name %.40q any more; 'epitome context list' has the "+
				"names", ErrNoFiles, name)
			return
		}
	}
	a, err := x.deps.Inject.For(x.in.Scope, x.in.Contexts, x.in.Project, k.Artifacts.ByTool)
	p.Faults = errors.Join(p.Faults, err)
	if x.in.Runtime != "" {
		a.Text = strings.TrimSpace(inject.Runtime(x.in.Runtime, x.in.Now) + "\n\n" + a.Text)
		a.Contexts = append(a.Contexts, "runtime")
	}
	if _, hasPlace := x.request.AppendSystem(a.Text); a.Text == "" || !hasPlace {
		return
	}
	tokens := k.Scale.CountText(a.Text)
	if tokens > min(k.Limits.Usable/share, k.Limits.Usable-p.View.Total) {
		err := errors.New("nothing is added to the system prompt: it takes too much of the window")
		p.Faults = errors.Join(p.Faults, err)
		return
	}
	p.View = p.View.With(view.Edit{
		Op: view.AppendSystem, Step: view.StepAdd, Text: a.Text, Tokens: tokens, Artifacts: a.Artifacts,
		Added: &view.Added{Contexts: a.Contexts, Memory: k.Scale.CountText(a.Text[len(a.Text)-a.Memory:])},
	})
}
