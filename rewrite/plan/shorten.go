package plan

import (
	"fmt"

	"epitome/event"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Shortening shortens one text of a result: to a preview of its JSON, an excerpt, or the final screen of a terminal.
type Shortening struct {
	Plan   *Plan
	Result *history.Result
	Passage
	Limit    int // tokens above which it keeps only so many
	Keep     int
	Recalled string // the artifact that it shows
	Name     string // of its own artifact
	Readable string // of the one with the same for a reader of lines; empty if there is none
}

// Shorten returns the text to send in the passage's place, and why. ok is false if that would not pay.
func (c *Shortening) Shorten() (text string, why Why, ok bool) {
	screen, isScreen := c.Text, false
	if c.Recalled == "" && c.Tokens > c.Plan.Limits.Screen {
		screen, isScreen = shorten.FinalScreen(c.Text)
	}
	switch {
	case c.Tokens > c.Limit && (!isScreen || c.Plan.Count(screen) > c.Limit):
		text, why = c.excerpt(screen, isScreen), Why{Code: event.CodeOverLimit, Words: "over its limit"}
	case isScreen:
		at := c.store(false)
		text = excerpt.Note("final screen of "+c.about(), at) + "\n" + screen
		why = Why{Code: event.CodeScreen, Words: "brought to the final screen"}
	}
	if text == "" {
		return "", Why{}, false
	}
	saved := min(c.Tokens-c.Plan.Count(text), c.Spent-c.Plan.CountAsItem(text, c.Result.Item))
	return text, why, saved >= limits.LeastSaving
}

// excerpt is what is kept of a text that is over its limit; empty if that is all of it.
func (c *Shortening) excerpt(screen string, isScreen bool) string {
	where := c.store(false)
	keep := c.Keep
	if AddressOf(c.Plan, c.Name) == "" && c.Recalled == "" { // nobody will look the rest up
		keep *= 2
	}
	if c.Recalled == "" && !isScreen {
		if preview, ok := excerpt.JSON(c.Text, keep, c.Plan.Count); ok {
			return excerpt.Note("JSON preview of "+c.about(), c.store(true)) + "\n" + preview
		}
	}
	short, omitted := excerpt.Lines(screen, keep, c.Plan.Count)
	if omitted == 0 {
		return ""
	}
	of := "of "
	if isScreen {
		of = "of the final screen of "
	}
	return excerpt.Note(fmt.Sprintf("%d of %s omitted, %s%s", omitted, linesInWords(shorten.CountLines(screen)), of,
		c.about()), where) + "\n" + short
}

// store names the artifact of the text, and says where it is. One value of JSON in few lines lies there a second time
// for a reader of lines.
func (c *Shortening) store(isJSON bool) string {
	const longLine, most = 500, 8 << 20 // bytes
	c.Name = c.Plan.Shelf.Name(c.Plan.Route.Scope, span.ContentOfText(c.Raw, c.Text))
	made := Content{Lines: shorten.CountLines(c.Text), Tokens: c.Tokens}
	if isJSON && len(c.Text) >= longLine*made.Lines && len(c.Text) <= most && AddressOf(c.Plan, c.Name) != "" {
		c.Readable = c.Plan.Shelf.Name(c.Plan.Route.Scope, span.Layout([]byte(c.Text)))
		made.Readable = c.Readable
	}
	return WhereOfContent(c.Plan, c.Result, c.Name, made)
}

// about names the text, with its size: what was called, and which text of its result it is if there are several.
func (c *Shortening) about() string {
	if c.Of < 2 {
		return fmt.Sprintf("%s (%s)", c.Result.String(), c.Size())
	}
	return fmt.Sprintf("text %d of %d of %s (%s)", c.Nth, c.Of, c.Result.String(), c.Size())
}
