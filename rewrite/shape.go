package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
)

// shaping is the work on one request. Its fields are set in this order, by read, know and decide.
type shaping struct {
	*Shaper
	in    Input
	out   Output
	place *place // of the request, among in.Places

	request *conversation.Request // nil if the client left while it was read
	subject ledger.Request        // the request as the ledger knows it
	last    *lastRequest          // of the conversation; its request is nil if there is none
	earlier []string              // texts of compactions by epitome, which stand in the place of its items
	serves  bool                  // the request asks for a compaction, which epitome makes

	known    *ladder.Known
	found    found
	plan     ladder.Plan     // which begins with the view of the decision that was found
	decision ledger.Decision // by which the request is sent: the one that was found, until a new one is made
	held     bool            // it could not be recorded: see record
}

// errClientLeft keeps a compaction from being recorded: its summary may lack what a model would have said.
var errClientLeft = errors.New("the client left while a summary was made")

// decide finds the edits of the request, builds the body and records the decision before it is sent. The order keeps the
// promises: edits decided before come first and hold; the body is verified before its edits are recorded; and if an
// equal request has recorded a decision meanwhile, the body is built anew by that one.
func (x *shaping) decide() error {
	err := x.found.err
	if err != nil && !x.isVital() {
		return err
	}
	if err == nil {
		x.addSystem()
	}
	if x.out.Refused != nil {
		return x.out.Refused
	}
	if x.in.Replay { // a count, or a compaction without a summary: it is about the form that is sent anyway
		return x.build()
	}
	if err := x.restoreArtifacts(); err != nil && !x.isVital() {
		return err
	}
	if x.found.isDecided {
		x.out.Report.Code = event.CodeAgain
		return x.build()
	}
	x.extend()
	if c := x.in.Client; c != nil && x.plan.Compaction != nil && c.Err() != nil {
		return errClientLeft
	}
	err = x.build()
	if err != nil {
		err = x.leaveOut(err)
	}
	if err == nil {
		err = x.keepNew()
	}
	if err != nil {
		return err
	}
	if x.in.Rescue != nil { // it is recorded once the provider has accepted this form as well
		x.out.Settle = x.settle
		return nil
	}
	err = x.record()
	if err != nil && x.isVital() { // the decision is held
		x.out.Report.Code = event.CodeUnrecorded
		return nil
	}
	return err
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

// isVital reports whether the request must become shorter even if that cannot be recorded: the provider has refused it,
// the client will drop what it asks to have compacted, or it is over the line of compaction as it was decided before.
// Any other request waits for the ledger to answer.
func (x *shaping) isVital() bool {
	return x.in.Rescue != nil || x.serves || !x.in.Replay && x.found.view.Total > x.known.Limits.CompactLine
}

// maxNew bounds the new items of a request for which the ladder decides anything, except in a rescue: the time that a
// request takes is bounded. Agents never send so many new items at once. To the next request they are not new.
const maxNew = 30_000

// extend has the ladder add edits of what is new or too much. If it may not, the report has the reason.
func (x *shaping) extend() {
	k, p := x.known, &x.plan
	if x.in.Rescue != nil {
		x.rescue(x.in.Rescue)
		return
	}
	switch {
	case x.request.Upkeep == conversation.ClientSummarizes:
		p.Reason = event.CodeClientSummarises
	case len(x.request.Items)-k.Recorded > maxNew:
		p.Reason = event.CodeManyNew
	default:
		k.Decide(p)
	}
	x.out.Report.Code = p.Reason
	k.DropThinking(p, false) // only thinking that the new edits make invalid, as none was refused
}

// rescue changes the edits as the refusal asks for: none at all, a shorter request, or one without thinking.
func (x *shaping) rescue(how *Rescue) {
	k, p := x.known, &x.plan
	if how.Whole {
		x.takeBack()
		return
	}
	if how.Pair {
		k.Pair(p)
	}
	if how.Pictures > 0 {
		k.RescuePictures(p, how.Pictures)
	}
	if how.Most > 0 { // else only thinking or pictures were refused, not the size
		k.Rescue(p, how.From)
	}
	k.DropThinking(p, how.NoThinking)
}

// takeBack takes the edits back that the provider has refused: all but those that mend pairs.
func (x *shaping) takeBack() {
	d := &x.known.Before
	d.Refused = len(d.Undo()) > 0
	d.Edits = slices.DeleteFunc(d.Edits, func(e view.Edit) bool { return e.Reason != event.CodeUnpaired })
	x.plan.View = x.known.View(d.Edits)
}

// build makes the body as the plan has it. New edits are verified; others were, by fits or by an equal request.
func (x *shaping) build() error {
	v := &x.plan.View
	body, err := v.Render(x.in.Memory)
	if err == nil && v.New > 0 {
		err = v.Verify(body)
	}
	if err == nil {
		x.out.Body, x.out.Changed = body, len(x.earlier) > 0 || !bytes.Equal(body, x.in.Body)
	}
	return err
}

// leaveOut builds the body, which failed with err, without the new edits of the steps that are at fault. It returns err
// if no other new edits are left.
func (x *shaping) leaveOut(err error) error {
	p, added := &x.plan, x.plan.View.Added()
	p.View = x.found.view
	for _, step := range steps {
		isOther := func(e view.Edit) bool { return e.Step != step }
		before := p.View
		p.View = before.With(slices.DeleteFunc(slices.Clone(added), isOther)...)
		fault := x.build()
		if fault == nil {
			continue
		}
		p.View = before
		p.Faults = errors.Join(p.Faults, fmt.Errorf("the step %s is left out: %w", step, fault))
		if step == view.StepCompact {
			p.Fail(fault)
		}
	}
	if p.View.New == 0 {
		return err
	}
	return x.build()
}

// keepNew keeps what the new edits take out. Where it cannot be kept, a rescue is decided once more: without artifacts,
// as the texts then say.
func (x *shaping) keepNew() error {
	urgent := x.known.Artifacts.Scarce // then the ladder took out only what had to go, so it must be kept
	err := x.keepArtifacts(urgent)
	if err == nil || x.in.Rescue == nil {
		return err
	}
	x.known.Artifacts.Nowhere = true
	x.plan = x.known.Begin()
	x.extend()
	x.out.Report.Code = event.CodeUnkept
	return x.build()
}
