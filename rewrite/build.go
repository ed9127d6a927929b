package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
	"epitome/event"
	"epitome/rewrite/ledger"
)

// bodyWith returns the body with the edits made, in memory that jsonspan.Splice takes; r.Body itself if nothing changes.
// Items from end on are left out, for a question to a model about the items before end; a request that is sent has all,
// so end is len(r.Items) then.
func bodyWith(
	r *conversation.Request, edits []ledger.Edit, end int, memory func(bytes int) []byte,
) ([]byte, error) {
	var drops []conversation.Drop
	appended := map[int]string{} // by index of a user's item: the summary that is sent behind the user's text
	for k := range edits {
		e := &edits[k]
		if e.Op != ledger.Drop || e.First >= end {
			continue
		}
		d := conversation.Drop{First: e.First, Count: e.Count}
		switch i := userBefore(r, e.First); {
		case e.Text == "": // of the drops of one summary, the first alone has its text
		case i >= 0: // a message of its own would be the second of the user in a row, which some servers refuse
			appended[i] = "\n\n" + e.Text
		default:
			d.Message = r.Dialect.API().Message("user", e.Text)
		}
		drops = append(drops, d)
	}
	if end < len(r.Items) {
		drops = append(drops, conversation.Drop{First: end, Count: len(r.Items) - end})
	}
	slices.SortFunc(drops, func(a, b conversation.Drop) int { return a.First - b.First })
	ranges, err := conversation.DropItems(r, drops)
	results := map[int][]conversation.Result{} // that are added, by index of the item with the calls
	for k := range edits {
		switch e := &edits[k]; {
		case err != nil || e.Op == ledger.Drop || e.First >= end:
		case e.Op == ledger.AddResult:
			result := conversation.Result{Call: &r.Items[e.First].Calls[e.Part], Text: e.Text}
			results[e.First] = append(results[e.First], result)
		default:
			var more []jsonspan.Edit
			more, err = rangesOf(r, e, appended)
			ranges = append(ranges, more...)
		}
	}
	for i, list := range results {
		isDropped := func(d conversation.Drop) bool { return d.First <= i+1 && i+1 < d.First+d.Count }
		ranges = append(ranges, r.AddResults(i, list, slices.ContainsFunc(drops, isDropped)))
	}
	for i, text := range appended {
		added, _ := r.Append(&r.Items[i], text) // userBefore has checked that it can
		ranges = append(ranges, added)
	}
	if r.Strips {
		ranges = append(ranges, jsonspan.TakeOut(r.Body, r.Unserved)...)
	}
	if err != nil || len(ranges) == 0 {
		return r.Body, err
	}
	return jsonspan.Splice(r.Body, ranges, memory)
}

// userBefore returns the index of the user's item right before item i. System items are skipped: they do not part two
// messages of the user. It is -1 if another role speaks there, or if the dialect cannot append a text to that item.
func userBefore(r *conversation.Request, i int) int {
	for i--; i >= 0 && r.Items[i].Role == conversation.System; i-- {
	}
	if i >= 0 && r.Items[i].Role == conversation.User {
		if _, ok := r.Append(&r.Items[i], ""); ok {
			return i
		}
	}
	return -1
}

// rangesOf returns the byte ranges that an edit other than Drop changes. If it clears an item for which appended has a
// summary, the summary becomes part of the stub and leaves appended: two edits of one content would overlap.
func rangesOf(r *conversation.Request, e *ledger.Edit, appended map[int]string) ([]jsonspan.Edit, error) {
	if e.Op == ledger.AppendSystem {
		added, ok := r.AppendSystem(e.Text)
		if !ok {
			return nil, errors.New("cannot add to the system prompt: it has no place for a text")
		}
		return []jsonspan.Edit{added}, nil
	}
	if e.First >= len(r.Items) || e.Op == ledger.ReplaceText && e.Part >= len(r.Items[e.First].Parts) {
		return nil, fmt.Errorf("cannot edit part %d of item %d: there is none", e.Part, e.First)
	}
	it := &r.Items[e.First]
	switch e.Op {
	case ledger.DropThinking:
		return conversation.DropThinking(r, it), nil
	case ledger.Clear:
		text := e.Text + appended[e.First]
		delete(appended, e.First)
		return r.ReplaceContent(it, text), nil
	}
	if part := &it.Parts[e.Part]; part.Kind == conversation.ImagePart {
		return []jsonspan.Edit{{Span: part.Span, With: r.Dialect.API().TextPart(e.Text)}}, nil
	}
	return []jsonspan.Edit{conversation.ReplaceText(&it.Parts[e.Part], e.Text)}, nil
}

// verify returns an error if body, rewritten from original, breaks a rule of the API that original keeps.
func verify(original *conversation.Request, body []byte) error {
	if bytes.Equal(original.Body, body) {
		return nil
	}
	rewritten, err := original.Dialect.Read(body, nil) // nil: all of body is read, no item is copied from original
	if err != nil {
		return fmt.Errorf("cannot read the rewritten request: %w", err)
	}
	return conversation.Worse(original, rewritten)
}

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
	if _, ok := x.request.AppendSystem(a.Text); a.Text == "" || !ok { // !ok: it has no place there
		return
	}
	tokens := s.Scale.CountText(a.Text)
	if tokens > min(s.Limits.Usable/share, s.Limits.Usable-s.Total) {
		added.Why = "nothing is added to the system prompt: it takes too much of the window"
		return
	}
	s.Add(ledger.StepAdd, event.NoCode, ledger.Edit{
		Op: ledger.AppendSystem, Text: a.Text, Tokens: tokens, Artifacts: a.Artifacts,
		Contexts: a.Contexts, Memory: s.Scale.CountText(a.Text[len(a.Text)-a.Memory:]),
	})
}
