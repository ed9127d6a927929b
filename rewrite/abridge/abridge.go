// Package abridge makes one result of a tool shorter: an excerpt, a final screen, references to lines that stand
// earlier, or as much as must be where the window is full.
//
// It promises that what is left out lies among the plan's artifacts, and that the text left in its place says where.
// Which results are shortened, and when, is decided by the rungs.
package abridge

import (
	"fmt"
	"slices"
	"strings"

	"epitome/event"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/limits"
	"epitome/rewrite/outline"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Shortening shortens one text of a result.
type Shortening struct {
	Plan   *plan.Plan
	Result *history.Result
	plan.Passage
	Limit    int // tokens above which it keeps only so many
	Keep     int
	Recalled string // the artifact that it shows

	Name     string // of its own artifact
	Readable string // of the one with the same for a reader of lines; empty if there is none
	Spelling span.Spelling
	Refers   []int // items to which the text refers
	log      bool  // it was read as a file, and is a log
}

// Shorten returns the text to send in the passage's place, and why. ok is false if that would not pay.
func (c *Shortening) Shorten() (text string, why plan.Why, ok bool) {
	shown := c.Text
	of := ""
	if c.Recalled == "" && c.Tokens > c.Plan.Limits.Screen {
		if s, changed := shorten.FinalScreen(c.Text); changed {
			shown, of = s, " of the final screen"
		}
	}
	switch {
	case c.Tokens > c.Limit && (of == "" || c.Plan.Count(shown) > c.Limit):
		text, why = c.excerpt(shown, of)
	case of != "":
		text = plan.ScreenStub(shown, c.Size(), c.address())
		why = plan.Why{Code: event.CodeScreen, Words: "brought to the final screen"}
	}
	if text == "" && c.Recalled == "" && c.Plan.Limits.Conf.Repeats {
		text, why = c.references()
	}
	if text == "" {
		return "", plan.Why{}, false
	}
	saved := min(c.Tokens-c.Plan.Count(text), c.Spent-c.Plan.CountAsItem(text, c.Result.Item))
	if len(c.Refers) > 0 {
		return text, why, limits.IsWorthReferring(c.Tokens, saved)
	}
	return text, why, saved >= limits.LeastSaving
}

// address says where the text is kept from now on, and names what it showed if it was read back itself.
func (c *Shortening) address() string {
	var content []byte
	content, c.Spelling = span.UnspellText(c.Raw, c.Text)
	c.Name = c.Plan.Shelf.Name(c.Plan.Route.Scope, content)
	return plan.WhereOfContent(c.Plan, c.Result, c.Name,
		plan.Content{Lines: shorten.CountLines(c.Text), Tokens: c.Tokens})
}

// about names the text: what was called, and which text of its result it is if there are several.
func (c *Shortening) about() string {
	if c.Of < 2 {
		return c.Result.About()
	}
	return fmt.Sprintf("text %d of %d from %s", c.Nth, c.Of, c.Result.About())
}

// headShare returns the share of an excerpt that comes from the beginning, 0 to 1: logs and the output of commands
// tell most at their end.
func (c *Shortening) headShare() float64 {
	if c.Result.Action.Kind == action.Shell || c.log {
		return 0.2
	}
	return 0.5
}

// excerpt cuts a text that is over its limit.
func (c *Shortening) excerpt(shown, of string) (text string, why plan.Why) {
	why = plan.Why{Code: event.CodeOverLimit, Words: "over its limit"}
	c.log = c.Recalled == "" && plan.ReadsLog(&c.Result.Action, shown)
	at := c.address()
	keep := c.Keep
	if plan.AddressOf(c.Plan, c.Name) == "" && c.Recalled == "" { // nobody will look the rest up
		keep *= 2
	}
	e, isPage := c.page(shown, keep)
	if c.Recalled == "" && !isPage {
		if o, ok := outline.Of(shown, c.hint(shown), keep, c.Plan.Count); ok && !c.isOutput(shown, &o) {
			return c.outlined(shown, of, &o), why
		}
	}
	if !isPage {
		cut, ok := excerpt.Of, false
		if c.showsFile() {
			cut = excerpt.Ends // what a file says of errors is no failure
		}
		if e, ok = cut(shown, c.budget(keep), plan.Mark); !ok {
			return "", plan.Why{}
		}
	}
	return plan.ExcerptStub(c.about(), plan.Cut{
		Excerpt: e, Size: c.Size(), Of: of, Where: at,
		Names: unseen(shorten.NamesIn(e.Rare, c.Plan.Limits.Conf.Names), e.Join(false)),
	}), why
}

// budget is what an excerpt of so many tokens may take.
func (c *Shortening) budget(keep int) excerpt.Budget {
	return excerpt.Budget{Tokens: keep, Head: c.headShare(), Count: c.Plan.Count}
}

// page is an excerpt of a page, if the text is one that a tool shows which drives a browser.
func (c *Shortening) page(shown string, keep int) (e excerpt.Excerpt, ok bool) {
	if c.Recalled != "" || c.Result.Action.Kind != action.Other {
		return e, false
	}
	return excerpt.Page(shown, c.budget(keep), plan.Mark)
}

// unseen returns those of the names that do not stand in a text, nor at the end of a path before them.
func unseen(names, text string) string {
	var list []string
	for _, s := range strings.Fields(names) {
		if s = strings.TrimRight(s, "."); s == "" || strings.Contains(text, s) ||
			slices.ContainsFunc(list, func(l string) bool { return l == s || strings.HasSuffix(l, "/"+s) }) {
			continue
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

// showsFile reports whether the text is that of files, and neither a log nor what a command has to say.
func (c *Shortening) showsFile() bool {
	return !c.log && (c.Result.Action.Kind == action.Reading || c.Result.Action.OnlyFiles)
}

// isOutput reports whether a text that looks like rows, or has JSON in its lines, is what a command says of what went
// wrong: those lines are worth more than columns and fields.
func (c *Shortening) isOutput(shown string, o *outline.Outline) bool {
	if c.Result.Action.Kind != action.Shell && !c.log || c.showsFile() {
		return false
	}
	if o.Kind == outline.Diff || o.Kind == outline.Matches || !strings.Contains(strings.TrimSpace(shown), "\n") {
		return false
	}
	first := excerpt.Failures(shown, 1)
	return len(first) > 0 && (o.Kind != outline.JSON || strings.HasPrefix(first[0], "{")) // JSON of a log has a level
}

// hint is what is known of the shown text beside itself.
func (c *Shortening) hint(shown string) (h outline.Hint) {
	if a := &c.Result.Action; (a.Kind == action.Reading || a.OnlyFiles) && len(a.Reads) > 0 {
		h.File = a.Reads[0]
	}
	h.LaidOut, h.Unread = shown == c.Text && c.laysOut(shorten.CountLines(shown)), c.Plan.Case.IsUnread()
	return h
}

// outlined is an outline with what is said of it.
func (c *Shortening) outlined(shown, of string, o *outline.Outline) string {
	made := plan.Content{Kind: o.Kind, Lines: shorten.CountLines(shown), Tokens: c.Tokens}
	made.Numbered = o.Numbered && c.Result.Action.Numbered
	if (o.Kind == outline.Source || made.Numbered) && len(c.Result.Action.Reads) == 1 {
		made.File = c.Result.Action.Reads[0]
	}
	if o.Kind == outline.JSON && !o.Mixed && !o.Numbered && of == "" {
		made.Queryable = true
		made.Readable = c.layOut(made.Lines)
	}
	return plan.OutlineStub(c.about(), &plan.Sketch{Outline: o, Content: made, Size: c.Size(), Of: of,
		Where: plan.WhereOfContent(c.Plan, c.Result, c.Name, made)})
}

// layOut returns the artifact with the same JSON for a reader of lines; nothing if it has lines enough, or if nobody
// could read it.
func (c *Shortening) layOut(lines int) string {
	if !c.laysOut(lines) {
		return ""
	}
	c.Readable = c.Plan.Shelf.Name(c.Plan.Route.Scope, span.Layout([]byte(c.Text)))
	return c.Readable
}

// laysOut reports whether a text of so many lines lies on the shelf a second time, for a reader of lines. A very
// large one does not: that would cost as much as all else that is done with it.
func (c *Shortening) laysOut(lines int) bool {
	const longLine, most = 500, 8 << 20 // bytes
	return len(c.Text) >= longLine*lines && len(c.Text) <= most && plan.AddressOf(c.Plan, c.Name) != ""
}

// references puts a line in the place of each block of lines that stands earlier in the conversation as it is sent.
func (c *Shortening) references() (text string, why plan.Why) {
	const worthwhile = 400 // bytes
	// What is known stands behind this one, or is it.
	if len(c.Text) < worthwhile || c.Plan.Hist.ResultAt[c.Result.Item] < c.Plan.Hist.LinesRead {
		return "", plan.Why{}
	}
	c.Plan.LearnLines(c.Plan.Hist.ResultAt[c.Result.Item])
	found := c.Plan.Hist.Lines.Repeats(c.Text)
	if len(found) > 0 && !c.showsFile() {
		found = c.Plan.Hist.Lines.RepeatsBeside(c.Text, excerpt.Telling(c.Text))
	}
	if len(found) == 0 {
		return "", plan.Why{}
	}
	var b strings.Builder
	at := 0
	for _, r := range found {
		b.WriteString(c.Text[at:r.Start])
		b.WriteString(plan.ReferenceStub(c.Plan, c.Result, r))
		c.Refers = append(c.Refers, r.Item)
		at = r.End
	}
	b.WriteString(c.Text[at:])
	if s := b.String(); !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	whole := "result"
	if c.Of > 1 {
		whole = fmt.Sprintf("text, %d of %d of this result,", c.Nth, c.Of)
	}
	fmt.Fprintf(&b, "%sthe whole %s has %d lines. %s]", plan.Mark, whole, shorten.CountLines(c.Text), c.address())
	return b.String(), plan.Why{Code: event.CodeRepeats, Words: "lines stand in an earlier result"}
}
