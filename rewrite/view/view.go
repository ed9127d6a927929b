// Package view says how a request is sent: which of its items are gone, which say something else, and which are as they
// came. A decision of the ledger is the view of a prefix; the steps of the ladder make a view of the next one; Render
// makes the body.
//
// A View never changes. With is the only function that makes another one of it, and keeps its edits apart: none is about
// an item that another one takes out, and no item is taken out twice. So each item is sent in one form, and edits cannot
// overlap in the body.
package view

import (
	"cmp"
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/summarize"
)

// View is how a request is sent. Its fields are read only.
type View struct {
	Request *conversation.Request
	Edits   []Edit // in the order in which they were made
	New     int    // how many of Edits, the last ones, were made for this request
	Forms   []Form // by item
	Total   int    // tokens of the request as it is sent

	fixed event.Tokens // of all but the items, as the client sent it
}

// Form is how an item is sent.
type Form struct {
	Tokens    int  // that it takes; those of a summary count at the first item that it replaces
	Gone      bool // it is not sent
	Cleared   bool // a stub replaces all that it says
	Shortened bool // an excerpt or screen replaces one of its texts
	Thinks    bool // its thinking is sent
}

// IsWhole reports whether the text of the item is sent as it came.
func (f *Form) IsWhole() bool { return !f.Gone && !f.Cleared && !f.Shortened }

// Op is what an edit does to its items.
type Op uint8

const (
	ReplaceText  Op = iota + 1 // puts Text in the place of one text part or picture of one item
	Clear                      // puts Text in the place of all that one item says
	Drop                       // takes items out, and puts Text (a summary) in their place if it is not empty
	DropThinking               // takes out the reasoning of one item, which the provider would no longer accept
	AppendSystem               // adds Text (context files and memory) to the end of the system prompt
	AddResult                  // adds Text as the result of a call that has none
)

// Step is the step that made an edit.
type Step string

const (
	StepOffload Step = "offload"
	StepClear   Step = "clear"
	StepCompact Step = "compact"
	StepFilter  Step = "filter"
	StepAdd     Step = event.ActionAdd // adds context files and memory to a new conversation; no step of the ladder
)

// Edit is what is sent in the place of some items. Tokens are tokens of the vocabulary.
type Edit struct {
	First     int            `json:"first"`           // index of the first item in the request
	Count     int            `json:"count,omitempty"` // of items; 0 for AppendSystem
	Op        Op             `json:"op"`
	Part      int            `json:"part,omitempty"`      // index of the part that ReplaceText replaces, or of a call
	Text      string         `json:"text,omitempty"`      // plain text; the dialect quotes it when the body is built
	Artifacts []string       `json:"artifacts,omitempty"` // of what it takes out, that for models first; or listed files
	Tokens    int            `json:"tokens,omitempty"`    // of Text
	Saved     int            `json:"saved,omitempty"`     // tokens that the edit makes the request smaller by
	Step      Step           `json:"step"`
	Reason    event.Code     `json:"why,omitempty"`  // as users see it
	Words     summarize.Says `json:"words,omitzero"` // of a model, in a summary, for the next one to update
	Added     *Added         `json:"added,omitempty"`
	Messages  [2]int         `json:"messages"` // indexes of the messages that hold the first and the last item
	Name      string         `json:"-"`        // its key in the store, a hash of all else; empty if it has none
}

// Added says what AppendSystem adds.
type Added struct {
	Contexts []string `json:"contexts,omitempty"` // names of the contexts whose files it lists
	Memory   int      `json:"memory,omitempty"`   // tokens of the edit's Text that are memory
}

// End returns the index of the item behind the last one of the edit.
func (e *Edit) End() int { return e.First + e.Count }

// covers reports whether e takes the place of an earlier edit of the same bytes, which then leaves the view.
func (e *Edit) covers(earlier *Edit) bool {
	switch {
	case earlier.Op == AppendSystem, e.Op == AppendSystem: // it edits no item, and only another one covers it
		return e.Op == earlier.Op
	case e.Op == Drop: // covers all edits of its items, even an earlier summary
		return earlier.First >= e.First && earlier.End() <= e.End()
	case earlier.First != e.First, earlier.Op == Drop: // only another Drop covers a Drop
		return false
	case e.Op == Clear && earlier.Op == ReplaceText:
		return true
	}
	return earlier.Op == e.Op && earlier.Part == e.Part // the same edit with another text
}

// Of returns the view of a counted request that has these edits, none of them new. fixed are the tokens of all but its
// items.
func Of(r *conversation.Request, fixed event.Tokens, edits []Edit) View {
	v := View{Request: r, Edits: edits, Forms: make([]Form, len(r.Items)), Total: fixed.Total(), fixed: fixed}
	for i := range v.Forms {
		v.Forms[i] = Form{Tokens: r.Items[i].Size.Total(), Thinks: len(r.Items[i].Thinking) > 0}
	}
	for k := range edits {
		v.apply(&edits[k])
	}
	for i := range v.Forms {
		v.Forms[i].Tokens = max(0, v.Forms[i].Tokens) // Saved may have been counted for another model
		v.Total += v.Forms[i].Tokens
	}
	return v
}

// apply sets the forms of the items that an edit is about.
func (v *View) apply(e *Edit) {
	switch e.Op {
	case AppendSystem:
		v.Total += e.Tokens
		return
	case Drop:
		for i := e.First; i < e.End(); i++ {
			v.Forms[i] = Form{Gone: true}
		}
		v.Forms[e.First].Tokens = e.Tokens
		return
	case Clear:
		v.Forms[e.First].Cleared = true
	case ReplaceText:
		v.Forms[e.First].Shortened = true
	case DropThinking:
		v.Forms[e.First].Thinks = false
	}
	v.Forms[e.First].Tokens -= e.Saved
}

// With returns the view with more edits, which are new and take the place of those that they cover. A Drop takes in an
// earlier one that it overlaps. An edit of what is not sent is left out.
func (v View) With(edits ...Edit) View {
	older, added := slices.Clone(v.Edits[:len(v.Edits)-v.New]), slices.Clone(v.Added())
	for _, e := range edits {
		isOfOne := e.Op != Drop && e.Op != AppendSystem // and then of what it says, which has to be sent
		if isOfOne && (v.Forms[e.First].Gone || v.Forms[e.First].Cleared && e.Op == ReplaceText) {
			continue
		}
		older, added = e.without(older), e.without(added)
		e.Messages = [2]int{v.Request.MessagesIn(0, e.First+1) - 1, v.Request.MessagesIn(0, e.End()) - 1}
		added = append(added, e)
	}
	next := Of(v.Request, v.fixed, append(older, added...))
	next.New = len(added)
	return next
}

// without removes the edits from a list whose place e takes.
func (e *Edit) without(list []Edit) []Edit {
	kept := 0
	for i := range list {
		if e.takesPlaceOf(&list[i]) {
			continue
		}
		if kept < i { // an edit is large, and most stay where they are
			list[kept] = list[i]
		}
		kept++
	}
	return list[:kept]
}

// takesPlaceOf reports whether an earlier edit goes, as e covers it. If both are blocks that overlap in part, e becomes
// the block of both.
func (e *Edit) takesPlaceOf(earlier *Edit) bool {
	if e.covers(earlier) {
		return true
	}
	if e.Op != Drop || earlier.Op != Drop || earlier.First >= e.End() || e.First >= earlier.End() {
		return false
	}
	end := max(e.End(), earlier.End())
	e.First = min(e.First, earlier.First)
	e.Count = end - e.First
	e.Text = joined(earlier.Text, e.Text)
	e.Artifacts = slices.Concat(e.Artifacts, earlier.Artifacts)
	e.Tokens += earlier.Tokens
	e.Saved += earlier.Saved
	e.Words = cmp.Or(e.Words, earlier.Words)
	return true
}

// joined returns the texts of two blocks side by side as one.
func joined(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// Added returns the edits that are new.
func (v *View) Added() []Edit { return v.Edits[len(v.Edits)-v.New:] }

// Sent returns the tokens of items [first, end) as they are sent.
func (v *View) Sent(first, end int) (tokens int) {
	for i := first; i < end; i++ {
		tokens += v.Forms[i].Tokens
	}
	return tokens
}

// Sends reports whether any of items [first, end) is sent.
func (v *View) Sends(first, end int) bool {
	return slices.ContainsFunc(v.Forms[first:end], func(f Form) bool { return !f.Gone })
}

// Overhead returns the tokens that no compaction takes out: those of system prompt, tools and the head.
func (v *View) Overhead() int { return v.Total - v.Sent(v.Request.Head, len(v.Forms)) }

// Compacted returns the end of the items that the last compaction took out, the head if there was none, and a model's
// words in the last summary.
func (v *View) Compacted() (end int, words summarize.Says) {
	end = v.Request.Head
	for k := range v.Edits {
		e := &v.Edits[k]
		if e.Op == Drop && e.Step == StepCompact {
			end = max(end, e.End())
		}
		if e.Words.Text != "" {
			words = e.Words
		}
	}
	return end, words
}

// Tokens returns the tokens of the request as it is sent, by kind.
func (v *View) Tokens() event.Tokens {
	t := v.fixed
	for i := range v.Request.Items {
		it, sent := &v.Request.Items[i], v.Forms[i].Tokens
		media := 0
		if sent == it.Size.Total() { // an edited item is taken for text, as its media may be gone
			media = min(it.Size.Media, sent)
		}
		*it.Role.In(&t) += sent - media
		t.Images += media
	}
	for k := range v.Edits {
		e := &v.Edits[k]
		switch e.Op {
		case Drop: // its summary was counted as text of its first item
			*v.Request.Items[e.First].Role.In(&t) -= e.Tokens
			t.Summary += e.Tokens
		case AppendSystem:
			t.System += e.Tokens
		}
	}
	return t
}
