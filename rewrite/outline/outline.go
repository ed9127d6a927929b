// Package outline shows what a large text with a structure is made of: JSON by its keys and by what the items of a list
// have in common, source by the lines that define something, diffs, what searches print, lists of files, and tables.
//
// It promises that what stands in an outline stands in the text, that lines are whole and in their order with true
// counts of what is between them, that equal texts have equal outlines, and that its time grows with the text and no
// faster.
package outline

// Kind is what a text is made of.
type Kind uint8

// The kinds of texts that have outlines.
const (
	JSON   Kind = iota + 1 // one value, or one in each line
	Source                 // of a program, or of anything else with parts under headings
	Diff
	Matches // of a search, by files
	Listing // of files
	Table   // with a header
)

// Hint is what is known of a text beside itself.
type Hint struct {
	File string // the file that it shows; empty if it shows none, or that is not known
	// LaidOut says that a reader finds the text, if it is JSON, as span.Layout has it: lines are counted there.
	LaidOut bool
	// Unread says that nobody reads the text: of a list of objects as many are shown as there is room for.
	Unread bool
}

// Outline is what is shown of a text.
type Outline struct {
	Kind Kind
	Text string // at most as many tokens as were asked for
	// Numbered says that the lines have numbers of their own, as tools write them that read files.
	Numbered bool
	// Mixed says that other lines stand before the JSON or behind it.
	Mixed bool
}

// Of returns the outline of a text in at most keep tokens, as count counts them. ok is false if the text has no
// structure that is known, or if nothing fits.
func Of(text string, h Hint, keep int, count func(string) int) (o Outline, ok bool) {
	if o, ok = ofJSON(text, h, keep, count); ok {
		return o, true
	}
	if o, ok = ofSource(text, h.File, keep, count); ok {
		return o, true
	}
	for _, of := range [...]func(string, int, func(string) int) (Outline, bool){ofDiff, ofMatches, ofListing, ofTable} {
		if o, ok = of(text, keep, count); ok {
			return o, true
		}
	}
	return Outline{}, false
}
