package summarize

import (
	"embed"
	"fmt"
	"math"
	"strings"
	"text/template"

	"epitome/inject"
)

// prompts has the requests for a summary. Texts around a summary and in it are written where they are used.
//
//go:embed prompts
var files embed.FS

var templates = template.Must(template.ParseFS(files, "prompts/*.md"))

// prompt is what the templates are filled with. It depends on the question alone, so equal questions are equal bytes.
type prompt struct {
	*Question
	Tag     string // begins each line of structure: of the key, which no content can know
	Tokens  int    // that the answer should have at most
	Notes   string // headings of the sections that an update adds to
	Record  string
	Learns  bool   // a section for later sessions is wanted, too
	Heading string // of that section
	Asks    string // says what stands there
	Learned string // what later sessions know already
	Why     string // the answer before could not be used; empty for the first one
}

// newPrompt returns what a question is asked with, for an answer that may have so many tokens; 0 is no limit.
func newPrompt(q *Question, maxTokens int) prompt {
	const least = 100 // tokens
	share, _ := q.Detail.share()
	p := prompt{Question: q, Tag: fmt.Sprintf("%.8s", q.Key), Tokens: int(summaryTokens * share),
		Notes: strings.Join(notes, ", "), Heading: inject.Heading, Asks: inject.Asks}
	if maxTokens > 0 {
		p.Tokens = max(min(p.Tokens, maxTokens*3/4)/100*100, least)
	}
	if q.Earlier != "" { // most of its notes stay as they are
		p.Tokens = max(p.Tokens*2/3/100*100, least)
	}
	return p
}

// notes are the headings of the sections that an update adds to. What a model has written there stays, byte for byte:
// a fact that is written anew each time is lost sooner or later.
var notes = []string{
	"Constraints", "User Corrections", "Progress", "Key Decisions", "Failed Approaches", "Critical Values",
}

// headings returns those of a summary, in their order. They stand in prompts/parts.md.
func headings() (list []string) {
	for line := range strings.Lines(prompt{}.render("form")) {
		if name, isHeading := strings.CutPrefix(line, "## "); isHeading {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return list
}

func (p prompt) render(name string) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, p); err != nil {
		panic(err) // of a file in this package
	}
	return b.String()
}

// A transcript that is too long is cut in steps: first the texts, then the oldest groups.
const (
	maxSaid     = 8_000 // characters of a message
	maxToolText = 2_000 // of a call or result; each step of the first halves both
	minText     = 200   // characters that are never cut
	textSteps   = 4
	groupSteps  = 4 // each leaves out one more fifth of the entries
	lastStep    = textSteps + groupSteps
	uncut       = -1 // the step before the first: only calls and results are cut
)

// turnsOf returns the span of a question as text. Each entry begins with a line that has the tag.
func turnsOf(q *Question, tag string, step int) string {
	var b strings.Builder
	first := len(q.Transcript) * max(0, step-textSteps) / (groupSteps + 1)
	for first > 0 && q.Transcript[first-1].Group == q.Transcript[first].Group {
		first--
	}
	if first > 0 {
		fmt.Fprintf(&b, "[%s %d older entries are left out]\n", tag, first)
	}
	for _, e := range q.Transcript[first:] {
		limit := maxSaid
		if e.IsTool {
			limit = maxToolText
		}
		limit = max(limit>>min(max(step, 0), textSteps), minText)
		if step == uncut && !e.IsTool {
			limit = math.MaxInt
		}
		head := strings.Join(strings.Fields(e.Speaker), " ") // one line
		head = strings.TrimRight(strings.ToValidUTF8(head[:min(len(head), minText)], ""), ", ")
		fmt.Fprintf(&b, "[%s %s]\n%s\n", tag, head, cutMiddle(e.Text, limit))
	}
	return b.String()
}

// cutMiddle cuts a text to limit characters. Head and tail stay.
func cutMiddle(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	tail := limit / 2
	return fmt.Sprintf("%s\n[… %d of %d characters left out …]\n%s",
		string(runes[:limit-tail]), len(runes)-limit, len(runes), string(runes[len(runes)-tail:]))
}
