// Package plan is a decision in the making: the sheet on which the rungs of the ladder write.
//
// A Plan knows the form and size of every item and what must lie on the shelf before a form may be sent. Set gives an
// item a form; Checkpoint and Undo take back all that was written since, whole. It decides nothing by itself.
package plan

import (
	"maps"
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/tokenize"
)

// Plan is a decision in the making: the form of each item, and what must lie on the shelf before it may be recorded.
// Items are counted behind the head, tokens in those of the vocabulary.
type Plan struct {
	Case   Case
	Limits limits.Effective
	Scale  conversation.Scale
	Route  decision.Route
	Req    *conversation.Request
	Hist   *history.History
	Shelf  decision.Shelf
	Base   *decision.Decision // by which items were sent before
	Forms  []*decision.Form   // of each item; nil is whole
	End    int                // items that may be decided on: those up to the last that stays where it is
	Size   conversation.Size  // of the request as it came
	Sheet  Sheet
	Ask    *Asker
	Told   Teller
	Result Result
}

// Case is what is special about this request.
type Case struct {
	Manual       bool    // the client asked for a compaction
	Rescue       *Rescue // the provider refused the request; nil if it did not
	OverBudget   bool    // the conversation has used up its budget
	Estimated    bool    // not all that the request counts was looked at
	OverQuota    bool    // the shelf is full or does not outlive the process: results stay whole up to the clear line
	ByTool       bool    // the client reads artifacts with epitome's own tool
	CacheExpired bool    // the provider has nothing cached that a new form of old items could cost
	// NoReader reports whether none of the client's tools is known to read files. It looks that up. nil: some may.
	NoReader func() bool
	// Binds reports whether the model takes what it thought only behind what it thought that behind. It may look that
	// up. nil: no model does.
	Binds func() bool
}

// MayOverwrite reports whether another decision may take the place of what was decided for this request.
func (c Case) MayOverwrite() bool { return c.Manual || c.Rescue != nil }

// IsUnread reports whether the model has no tool that is known to read what lies in a file.
func (c Case) IsUnread() bool { return !c.ByTool && c.NoReader != nil && c.NoReader() }

// Sheet is what was written on a plan.
type Sheet struct {
	Changes   []Change
	Sent      []*decision.Form    // of each item, as it was sent before: nothing here changes that
	Artifacts []decision.Artifact // what was taken out
	NewForms  map[int]bool        // items that have a new form
	Broke     bool                // an item that had been sent is sent in another form
	Thoughts  int                 // parts of what the model thought that are not sent any more
	Unthought []int               // items in which it thought those
	Named     map[string]bool     // names of artifacts that new forms speak of
	Cause     event.Cause         // why the rung that writes now was taken; each sets it first

	earlier  *earlier
	newNames []string // names put into Named, in their order: what Undo takes out again
}

// Note notes the artifacts of which a form speaks.
func (s *Sheet) Note(f *decision.Form) {
	if f == nil {
		return
	}
	for _, name := range f.Artifacts() {
		if !s.Named[name] {
			s.Named[name], s.newNames = true, append(s.newNames, name)
		}
	}
}

// NoteBase notes the artifacts of the forms that were decided before, which nobody changes any more. It comes first,
// and no Undo takes it back.
func (s *Sheet) NoteBase(forms []*decision.Form) { s.earlier = &earlier{forms: forms} }

// Names reports whether a form speaks of the artifact.
func (s *Sheet) Names(artifact string) bool { return s.Named[artifact] || s.earlier.names(artifact) }

// earlier are the forms that were decided before. What they speak of is read when somebody asks: there may be
// thousands, and few texts name an artifact.
type earlier struct {
	forms     []*decision.Form
	artifacts map[string]bool
}

func (e *earlier) names(artifact string) bool {
	if e == nil {
		return false
	}
	if e.artifacts == nil {
		e.artifacts = map[string]bool{}
		for _, f := range e.forms {
			if f == nil {
				continue
			}
			for _, name := range f.Artifacts() {
				e.artifacts[name] = true
			}
		}
	}
	return e.artifacts[artifact]
}

// Result is what a plan came to, as it is told and recorded.
type Result struct {
	Stage      Stage             // the last one of a rescue that was taken
	Notice     event.Compaction  // of the compaction that was begun last
	FilesNamed int               // files that its summary names
	UsersLeft  int               // messages of the user that this request leaves to the transcript
	LatestLeft bool              // the latest is one of them
	Outcomes   decision.Outcomes // of the conversation's compactions, with those of this request
	Compared   int               // tokens that were held against the clear line; 0 if none were
	Due        Due               // what clearing would come to, where it was looked at and not done
}

// Due is what clearing results would come to, in tokens.
type Due struct {
	Looked bool
	Freed  int         // by the results that are old or spent
	AtMost bool        // it may be less: what would be left in their place is not counted
	From   int         // from which on that is done
	Waits  bool        // it is done over the line alone
	Cause  event.Cause // why, where it is done
}

// SentSize is how many tokens item i takes as it is sent.
func (p *Plan) SentSize(i int) int {
	if f := p.Forms[i]; f != nil && i >= conversation.Dead(p.Req) {
		return f.Now
	}
	return p.Hist.Sizes[i]
}

// FirstSize is how many tokens item i took when it was first sent.
func (p *Plan) FirstSize(i int) int {
	if f := p.Forms[i]; f != nil {
		return f.First
	}
	return p.Hist.Sizes[i]
}

// ScaleOf is the scale with which item i was measured.
func ScaleOf(p *Plan, i int) conversation.Scale { return p.Hist.Scale(p.Req, p.Scale, i) }

// Count measures a text.
func (p *Plan) Count(text string) int { return p.Scale.CountPlain(text) }

// Set gives item i a new form.
func (p *Plan) Set(i int, f *decision.Form, why Why) {
	before := p.SentSize(i)
	f.Why = why.Code
	notePlace(p, i, f)
	f.Whole, f.First = p.Hist.Sizes[i], p.FirstSize(i)
	if p.Forms[i] == nil && i >= p.Base.Depth() {
		f.First = f.Now
	}
	p.Forms[i] = f
	p.Sheet.Artifacts = append(p.Sheet.Artifacts, f.KeptArtifacts(p.Req, i)...)
	p.Sheet.Broke = p.Sheet.Broke || i < p.Base.Depth()
	p.Sheet.NewForms[i] = true
	p.Sheet.Note(f)
	c := Change{Item: p.Req.Head + i, Rung: f.Rung.String(), Code: why.Code, Why: why.Words,
		Cause: causeOf(p, why.Code)}
	if names := f.Artifacts(); len(names) > 0 {
		c.Artifact = names[0]
	}
	if f.Fold > 1 {
		c.Last = c.Item + f.Fold - 1
	}
	for k := 1; k < f.Fold; k++ {
		before += p.SentSize(i + k)
	}
	c.Before, c.After = int(float64(before)*p.Scale.Ratio), int(float64(f.Now)*p.Scale.Ratio)
	if k := p.Hist.ResultAt[i]; k >= 0 {
		c.Tool, c.Argument = p.Hist.Results[k].Tool, p.Hist.Results[k].About
	} else if it := &p.Req.Items[p.Req.Head+i]; len(it.Calls) > 0 && f.Fold == 0 {
		c.Tool = it.Calls[0].Name
	}
	p.Sheet.Changes = append(p.Sheet.Changes, c)
}

// notePlace notes in a form of item i what it is about.
func notePlace(p *Plan, i int, f *decision.Form) {
	last := i + max(f.Fold, 1) - 1
	f.Item = NumberOf(p, i)
	f.Last = f.Item + conversation.MessagesIn(p.Req, p.Req.Head+i, last-i+1) - 1
	f.Stood = 0
	for k := i; k <= last; k++ {
		f.Stood += p.Hist.Sizes[k]
	}
}

// Changes are the new forms in the order of the items: of each item the last one, and none of those that were left out
// with others after all.
func (p *Plan) Changes() (list []Change) {
	last := map[int]int{}
	for k, c := range p.Sheet.Changes {
		if before, ok := last[c.Item]; ok {
			p.Sheet.Changes[k].Before = p.Sheet.Changes[before].Before
		}
		last[c.Item] = k
	}
	for _, item := range slices.Sorted(maps.Keys(last)) {
		if f := p.Forms[item-p.Req.Head]; f != nil && !f.Gone {
			list = append(list, p.Sheet.Changes[last[item]])
		}
	}
	return list
}

// BaseForms are the forms that were decided before, and all that is new whole.
func BaseForms(p *Plan) []*decision.Form {
	forms := make([]*decision.Form, p.Hist.Len())
	copy(forms, p.Base.Forms)
	if p.Base.Version == 0 {
		recountForms(p, forms)
	}
	return forms
}

// recountForms gives the forms that were decided for another model the sizes that they have for this one.
func recountForms(p *Plan, forms []*decision.Form) {
	for i, f := range forms {
		if f == nil {
			continue
		}
		g := *f
		g.Whole = p.Hist.Sizes[i]
		notePlace(p, i, &g)
		if !f.Gone && f.Fold == 0 { // what stands as it came again is one too: its summary stands elsewhere
			g.Now = patchedSize(p, i, f)
		}
		if f.With != "" {
			if m, err := p.Req.Dialect.ReadMessage([]byte(f.With)); err == nil {
				g.Now = m.CountItem(p.Scale, 0)
			}
		}
		if g.First = g.Now; f.First > f.Now {
			g.First = int(int64(f.First) * int64(g.Whole) / int64(max(1, f.Whole)))
		}
		forms[i] = &g
	}
}

// patchedSize is how many tokens item i has when it is sent in the form.
func patchedSize(p *Plan, i int, f *decision.Form) int {
	it, n, scale := &p.Req.Items[p.Req.Head+i], p.Hist.Sizes[i], ScaleOf(p, i)
	beside := p.Req.AnswersOneOfSeveral(p.Req.Head + i)
	if f.Said != "" {
		n -= conversation.CountThinking(p.Req, scale, it)
	}
	spans := f.Spans(p.Req, it)
	for k, q := range f.Patches {
		n += p.CountAsItem(q.Text, i)
		if q.Place == conversation.Behind {
			continue
		}
		if q.Place == conversation.WholeContent {
			m := p.Req.CountContent(scale, it, beside)
			n -= m.Text + m.Media
		} else {
			n -= scale.CountText(spans[k].Of(p.Req.Body), beside)
		}
	}
	return n
}

// MessageTokens is what a message of an assistant or user with this text takes.
func MessageTokens(p *Plan, text string) int { return tokenize.PerMessage + 1 + p.Count(text) }

// CountAsItem is how many tokens a text takes as that of item i.
func (p *Plan) CountAsItem(text string, i int) int {
	if p.Scale.Model.Exact && p.Req.AnswersOneOfSeveral(p.Req.Head+i) {
		return p.Scale.Counter.CountEscaped([]byte(text))
	}
	return p.Count(text)
}

// Decidable reports whether items that were decided on may be decided on again: not because of what stands behind them.
func (p *Plan) Decidable() bool {
	return p.Case.MayOverwrite() || p.End > p.Base.Depth() || p.Base.Version == 0
}

// NeededArtifacts is what the forms speak of, of what was taken out: some of it is left out with others after all.
func NeededArtifacts(p *Plan) (list []decision.Artifact) {
	if len(p.Sheet.Artifacts) == 0 {
		return nil
	}
	named := map[string]bool{}
	for _, f := range p.Forms {
		if f != nil && !f.Gone {
			for _, name := range f.Artifacts() {
				named[name] = true
			}
		}
	}
	for _, w := range p.Sheet.Artifacts {
		if named[w.Name] {
			list = append(list, w)
			delete(named, w.Name)
		}
	}
	return list
}

// Change is a new form of one item.
type Change struct {
	Item     int // index in the request's messages
	Last     int // of several messages that it is about, the index of the last one; 0 if it is about one
	Rung     string
	Tool     string
	Argument string     // the key one of the call
	Code     event.Code // why; what is taken out of the model's thinking beside that has none of its own
	Why      string     // the same in words
	Cause    event.Cause
	Came     int // tokens of the model as all of it came, where standing changes are told; 0 if not noted
	Before   int // those before this change; 0 if not kept: of several messages, decided before
	After    int
	Artifact string // name of what was taken out
	Thinking string // name of the item as it came, if what was thought in it is not sent
}

// IsKeptInPlace reports whether item i is no part of what is said and done, but tells how, or is of an unknown kind, or
// never goes.
func IsKeptInPlace(p *Plan, i int) bool {
	it := &p.Req.Items[p.Req.Head+i]
	if it.Role == conversation.System || it.Role == conversation.Unknown || i < p.Req.Upkeep.Fixed {
		return true
	}
	// What came later may pin what is left out already.
	return (it.Pinned || i < p.Req.Upkeep.Held) && !p.IsGone(i) && (p.Forms[i] == nil || p.Forms[i].Fold == 0)
}

// IsGone reports whether item i stands in an earlier item's message, or nowhere.
func (p *Plan) IsGone(i int) bool { return p.Forms[i] != nil && p.Forms[i].Gone }

// Total is how many tokens the request takes in the forms that are planned.
func (p *Plan) Total() int {
	n := p.Size.Total()
	for i, f := range p.Forms {
		if f != nil {
			n += p.SentSize(i) - p.Hist.Sizes[i]
		}
	}
	return n
}

// Room is how many tokens the request may take: what is usable, or where it cannot come down to that but only to least
// tokens, the window without an answer of the length that the client asked for, or at least a short one.
func Room(p *Plan, least int) int {
	const answer, share = 1_024, 32 // tokens of the model, and which part of the window at most
	if least <= p.Limits.Usable || p.Case.Rescue != nil {
		return p.Limits.Usable
	}
	asked := max(float64(p.Req.MaxOutput), answer) / p.Scale.Ratio
	if p.Req.MaxOutput == 0 {
		asked = min(asked, float64(p.Limits.Window)/share)
	}
	return max(p.Limits.Usable, p.Limits.Window-int(asked))
}

// Comparable is what a provider's count of a request of this size may be held against; 0 if that would say nothing.
func Comparable(p *Plan, s conversation.Size) int {
	if p.Scale.Model.Exact || s.Images > 0 || p.Req.Opaque || p.Req.Upkeep.Drops || !p.Req.Upkeep.Before.Empty() ||
		p.Case.Estimated {
		return 0
	}
	return s.Total()
}
