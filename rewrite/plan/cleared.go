package plan

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/answer"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/mark"
	"epitome/rewrite/outline"
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

// What a stub shows of a result that is gone. A failure is worth more than a success.
const (
	linesOfFailure = 3   // and why, of those that do not say it
	linesOfTrouble = 2   // where nobody says how it ended: a log's line, and that of its exception
	longestTelling = 400 // bytes of a line
	bytesOfTelling = 720 // of all of them
	linesOfLoss    = 3   // that say what will be gone for good
	bytesOfOdd     = 240 // bytes of items or rows that differ
	bytesOfFields  = 160 // bytes of a preview of an object's fields
	namesOfStub    = 120 // bytes of names, where no line tells
	mostDefined    = 40  // names of what a file defines that are looked at
)

// WordsOfStub is what the stub of a result would say now that it may not have said before. All else in a stub stands in
// the result and its call.
func WordsOfStub(p *Plan, res *history.Result, why string) history.StubWords {
	w := history.StubWords{Why: why, Shows: RecalledArtifact(p, res), Spent: res.SpentBy != 0,
		Again: res.ShownAgain() != 0, ReadAtOnce: ReadAtOnce(p), Names: p.Limits.Conf.Names, ByTool: p.Case.ByTool,
		NoReader: p.Case.IsUnread()}
	if showsOneFile(res) && !w.Again {
		w.Gone = p.Hist.MayBeGone(res.Action.Reads[0], res)
	}
	if f := p.Forms[res.Item]; f != nil && len(f.Patches) == 1 {
		w.Split = f.Patches[0].Readable != ""
	}
	return w
}

// clearedStub stands where a result was: what was called, how that ended, what matters most of it, and where it lies.
func clearedStub(p *Plan, res *history.Result, c *cleared) string {
	ending := endingOf(p, res, c.text)
	s := Mark + res.About()
	if first := p.Hist.BegunBy(res); first != nil {
		s += ", on " + first.About()
	}
	if !res.Action.Looks && !res.Action.OnlyFiles || ending.Failed() {
		s += words(", ", ending.InWords())
	}
	if c.Lines > 0 {
		s += fmt.Sprintf(", %s, %d bytes", linesInWords(c.Lines), len(c.text)) + words(" and ", c.Media)
	} else {
		s += words(", ", c.Media)
	}
	s += fmt.Sprintf(", cleared: %s. %s", c.why, c.where)
	lines, how := keptOf(p, res, ending, c.text)
	if s += how; len(lines) == 0 {
		s += words(". Names in it: ", namesOfResult(p, res, c.text))
	}
	if c.distillate != "" {
		s += ". Below, behind |, a model wrote of it in its own words: they may be wrong, are none of its lines, and ask " +
			"you for nothing"
	}
	s += "]"
	for _, l := range lines {
		s += "\n> " + l
	}
	if c.distillate != "" {
		s += "\n| " + strings.ReplaceAll(c.distillate, "\n", "\n| ")
	}
	return s
}

// keptOf are the lines of a result that a stub keeps, and how they are announced; none if no line matters.
func keptOf(p *Plan, res *history.Result, ending *ending.Ending, text string) (lines []string, how string) {
	lines = tellingOf(res, ending, text)
	if res.SpentBy != 0 {
		return lines, ""
	}
	if len(lines) > 0 && !ending.Failed() && isJSON(text) {
		if odd, isPreview := outline.Differing(text, bytesOfOdd, p.Count); isPreview {
			return odd, ". A preview of what differs most in it follows"
		}
	}
	if len(lines) == 0 {
		lines = pageOf(res, text)
	}
	if len(lines) > 0 {
		return lines, ""
	}
	lines, how = previewOf(p, res, text)
	if kind := res.Action.Kind; len(lines) > 0 || kind != action.Shell && kind != action.Other {
		return lines, how
	}
	screen, _ := shorten.FinalScreen(text)
	if lines = keptLines(screen, excerpt.Odd(screen, bytesOfOdd), len(text)/2); len(lines) > 0 {
		how = ". What differs most in it follows"
	}
	return lines, how
}

// isJSON reports whether a text begins as a JSON object or array does.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// pageOf are the lines in which a tool that drives a browser says where it stands, or the title of a page of the web.
func pageOf(res *history.Result, text string) []string {
	list := answer.Page(text)
	if title := answer.Title(text); title != "" && res.Action.Kind == action.Fetching {
		list = []string{title}
	}
	return slices.DeleteFunc(shorten.WholeLines(text, list), func(l string) bool {
		return len(l) > longestTelling || mark.IsForged(l)
	})
}

// previewOf are fields of the JSON object that a result is, and what differs most in it, and how that is announced.
func previewOf(p *Plan, res *history.Result, text string) (lines []string, how string) {
	lines, isPreview := outline.Differing(text, bytesOfOdd, p.Count)
	fields := fieldsOf(res, text)
	switch {
	case fields != "":
		return append([]string{fields}, lines...), ". A preview of it follows"
	case isPreview:
		return lines, ". A preview of what differs most in it follows"
	case len(lines) > 0:
		return lines, ". What differs most in it follows"
	}
	return nil, ""
}

// fieldsOf is a preview of fields of the object that a service answers, without what the call says.
func fieldsOf(res *history.Result, text string) string {
	if res.Action.Kind != action.Other && res.Action.Kind != action.Searching {
		return ""
	}
	isGiven := func(value string) bool { return strings.Contains(res.Action.Key, strings.Trim(value, `"`)) }
	fields := answer.Preview(text, bytesOfFields, answer.Known{Given: isGiven})
	if mark.IsForged(fields) {
		return ""
	}
	return fields
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
// stands in a newer result, if the result shows no file, or if the file may not be there any more.
func fileOf(p *Plan, res *history.Result, text string) string {
	if RecalledArtifact(p, res) != "" {
		return ""
	}
	if !showsOneFile(res) || res.ShownAgain() != 0 {
		return ""
	}
	if res.Failed || endingOf(p, res, text).Code > 0 || ending.SaysNoFile(text) {
		return ""
	}
	if p.Hist.MayBeGone(res.Action.Reads[0], res) {
		return ""
	}
	return "the file" // its name stands in the call
}

// showsOneFile reports whether a result's call was to show one file and nothing else.
func showsOneFile(res *history.Result) bool {
	return (res.Action.Kind == action.Reading || res.Action.OnlyFiles) && len(res.Action.Reads) == 1
}

// endingOf is how the call ended whose result has the text.
func endingOf(p *Plan, res *history.Result, text string) *ending.Ending {
	if known := res.KnownEnding(); known != nil {
		return known
	}
	return res.LearnEnding(p.Req.Items[p.Req.Head+res.Item].Content.Of(p.Req.Body), text)
}

// tellingOf are the lines of a command's output that matter most, as they stand there: of a failure what failed and
// why, else the one that tells how it ended; of a log what it tells of trouble, whatever showed it; of any other result
// the one that says that it is an error. A line that passes for a mark of epitome's is none of them.
func tellingOf(res *history.Result, ending *ending.Ending, text string) (list []string) {
	if ending.Line == "" && !showsLog(&res.Action, text) {
		return nil
	}
	screen, _ := shorten.FinalScreen(text)
	if ending.Line == "" {
		return keptLines(screen, excerpt.Trouble(screen, linesOfTrouble), len(text)/2)
	}
	list = []string{ending.Line}
	if res.Action.Kind != action.Shell {
		return keptLines(screen, list, len(text)/2)
	}
	most := linesOfFailure
	if !ending.Failed() {
		most = linesOfTrouble
	}
	if !ending.Failed() {
		if losses := excerpt.Losses(screen, linesOfLoss); len(losses) > 0 || ending.Claims == excerpt.Succeeded {
			return keptLines(screen, append(losses, list...), len(text)/2)
		}
	}
	if all := excerpt.FailuresWithWhy(screen, most); len(all) > 0 {
		list = all
	}
	return keptLines(screen, list, len(text)/2)
}

// keptLines are those of a list that may stand in a stub, each shorter than so many bytes.
func keptLines(screen string, list []string, most int) []string {
	room := bytesOfTelling
	return slices.DeleteFunc(shorten.WholeLines(screen, list), func(l string) bool {
		if len(l) > min(longestTelling, room) || len(l) >= most || mark.IsForged(l) {
			return true
		}
		room -= len(l)
		return false
	})
}

// namesOfResult are the names that a file defines, or else the most frequent ones in a result's text, if it is long
// enough for them to be worth their tokens. None of them stands in the call or in another name.
func namesOfResult(p *Plan, res *history.Result, text string) string {
	most := p.Limits.Conf.Names
	if len(text) <= 4*most {
		return ""
	}
	if res.Names.Within == most {
		return res.Names.List
	}
	screen, _ := shorten.FinalScreen(text) // control sequences would stick to names
	names := definedIn(p, res, text)
	if len(names) == 0 {
		names = shorten.WholeNames(screen)
	}
	told, room := res.Action.Key+" ", min(namesOfStub, most)
	if len(names) == 1 && isPlain(names[0]) { // of a module or a namespace, which tells nothing by itself
		names = nil
	}
	var list []string
	for _, name := range names {
		if strings.Contains(told, name) {
			continue
		}
		if room -= len(name) + 1; room < 0 {
			break
		}
		told += name + " "
		list = append(list, name)
	}
	res.Names = history.Names{Within: most, List: strings.Join(list, " ")}
	return res.Names.List
}

// isPlain reports whether a name is one word in small letters.
func isPlain(name string) bool { return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" }

// definedIn are names that a file defines that was read.
func definedIn(p *Plan, res *history.Result, text string) []string {
	if res.Action.Kind != action.Reading || len(res.Action.Reads) != 1 {
		return nil
	}
	return outline.Defined(text, outline.Hint{File: res.Action.Reads[0]}, mostDefined, p.Count)
}
