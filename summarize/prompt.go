package summarize

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"epitome/inject"
	"epitome/summarize/prose"
)

// All that a model is told stands in these files.
//
//go:embed prompts
var files embed.FS

var templates = template.Must(template.ParseFS(files, "prompts/*.md"))

// prompt is what the templates are filled with. It depends on the question alone, so equal questions are equal bytes.
type prompt struct {
	name    string // of the templates for a transcript
	Tag     string // begins each line of structure; nothing in the question holds it
	Tokens  int    // that the answer should have at most
	Update  bool   // of Earlier
	Earlier string
	Record  string
	Learns  bool   // a section for later sessions is wanted, too
	Heading string // of that section
	Asks    string // says what stands there
	Notes   string // what later sessions know already
	Why     string // the answer before could not be used; empty for the first one
}

// newPrompt returns what a question is asked with, for an answer that may have so many tokens; 0 is no limit.
func newPrompt(q *prose.Question, maxTokens int) prompt {
	const least = 100 // tokens
	p := prompt{name: "summary", Tag: tagFor(q, ""), Tokens: summaryTokens,
		Update: q.Earlier != "", Earlier: q.Earlier, Heading: inject.Heading, Asks: inject.Asks}
	if maxTokens > 0 {
		p.Tokens = max(min(p.Tokens, maxTokens*3/4), least)
	}
	return p
}

// headings returns those of a summary, in their order. They stand in prompts/parts.md.
func headings() []string {
	return []string{"Goal", "Constraints", "Progress", "Key Decisions", "Failed Approaches", "Open Issues", "Next Steps",
		"Critical Values"}
}

func (p prompt) render(name string) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, p); err != nil {
		panic(err) // of a file in this package
	}
	return b.String()
}

// tagFor returns a short tag that nothing in the question holds, nor what is asked beside it.
func tagFor(q *prose.Question, beside string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "transcript %d %s", n, q.Key))
		tag := hex.EncodeToString(sum[:4])
		holds := func(e prose.Entry) bool { return strings.Contains(e.Tool+"\n"+e.State+"\n"+e.Text, tag) }
		if !strings.Contains(q.Earlier+"\n"+beside, tag) && !slices.ContainsFunc(q.Transcript, holds) {
			return tag
		}
	}
}
