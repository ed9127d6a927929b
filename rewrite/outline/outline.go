// Package outline shows what a large text with a structure is made of: JSON today.
//
// It promises that what stands in an outline stands in the text, that its counts are true, that equal texts have equal
// outlines, and that its time grows with the text and no faster.
package outline

// Kind is what a text is made of.
type Kind uint8

// The kinds of texts that have outlines.
const (
	JSON Kind = iota + 1 // one value, or one in each line
)

// Outline is what is shown of a text.
type Outline struct {
	Kind Kind
	Text string // at most as many tokens as were asked for
}

// Of returns the outline of a text in at most keep tokens, as count counts them. ok is false if the text has no
// structure that is known, or if nothing fits.
func Of(text string, keep int, count func(string) int) (o Outline, ok bool) {
	if o.Text, ok = ofJSON(text, keep, count); ok {
		o.Kind = JSON
	}
	return o, ok
}
