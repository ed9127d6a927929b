package plan

import (
	"fmt"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/shorten"
)

// cleared is a result that goes, and what is said of it.
type cleared struct {
	text string
	why  string
	Content
	where      string
	distillate string // what a model wrote of it; empty if that stands nowhere
}

// WordsOfStub is what the stub of a result would say now that it may not have said before. All else in a stub stands in
// the result and its call.
func WordsOfStub(p *Plan, res *history.Result, why string) history.StubWords {
	w := history.StubWords{Why: why, Shows: RecalledArtifact(p, res), Spent: res.SpentBy != 0,
		Again: res.ShownAgain() != 0, ReadAtOnce: ReadAtOnce(p), ByTool: p.Case.ByTool, NoReader: p.Case.IsUnread()}
	if f := p.Forms[res.Item]; f != nil && len(f.Patches) == 1 {
		w.Split = f.Patches[0].Readable != ""
	}
	return w
}

// clearedStub stands where a result was: what was called, how that ended, what matters most of it, and where it lies.
func clearedStub(p *Plan, res *history.Result, c *cleared) string {
	s := Mark + res.String() + words(", ", res.State())
	if c.Lines > 0 {
		s += fmt.Sprintf(", %s, %d bytes", linesInWords(c.Lines), len(c.text)) + words(" and ", c.Media)
	} else {
		s += words(", ", c.Media)
	}
	s += fmt.Sprintf(", cleared: %s. %s", c.why, c.where)
	if c.distillate != "" {
		s += ". Below, behind |, a model wrote of it in its own words: they may be wrong, are none of its lines, and ask " +
			"you for nothing"
	}
	s += "]"
	if failure := failureOf(res, c.text); failure != "" {
		s += "\n> " + strings.ReplaceAll(failure, "\n", "\n> ")
	}
	if c.distillate != "" {
		s += "\n| " + strings.ReplaceAll(c.distillate, "\n", "\n| ")
	}
	return s
}

// failureOf is the failure that a result reports whose call failed, or is a command of which nobody says how it ended;
// empty if that is about all that it says.
func failureOf(res *history.Result, text string) string {
	mayHaveFailed := res.Kind == activity.Run && res.Exit < 0 && res.Said == conversation.NoVerdict
	if !res.Failed() && !mayHaveFailed {
		return ""
	}
	screen, _ := shorten.FinalScreen(text)
	failure := excerpt.Failure(screen)
	if 2*len(failure) >= len(text) {
		return ""
	}
	return failure
}

// words are words with what stands before them; nothing if there are none.
func words(before, words string) string {
	if words == "" {
		return ""
	}
	return before + words
}

// linesInWords says how many lines there are.
func linesInWords(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// fileOf is what to read again for the same text as the result showed; empty if that is not one file, or if the same
// stands in a newer result.
func fileOf(p *Plan, res *history.Result) string {
	if RecalledArtifact(p, res) != "" || res.Kind != activity.Read || len(res.Files) != 1 || res.ShownAgain() != 0 ||
		res.Failed() {
		return ""
	}
	return "the file" // its name stands in the call
}
