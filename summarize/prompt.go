package summarize

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"epitome/dialect/conversation"
	"epitome/inject"
	"epitome/offload/excerpt"
)

// prompts has the requests for a summary, and what stands at the beginning of a summary. Its other texts are written
// where they are used.
//
//go:embed prompts
var prompts embed.FS

var templates = template.Must(template.ParseFS(prompts, "prompts/*.md"))

// prompt is what the templates are filled with. It depends on the question alone, so equal questions are equal bytes.
type prompt struct {
	Brief
	Tag     string // begins each line of structure: of the key, which no content can know
	Tokens  int    // that the answer should have at most
	Notes   string // headings of the sections that an update adds to
	Record  string
	Heading string // of a section for later sessions; empty: none is wanted
	Learned string // what later sessions know already
	Why     string // the answer before could not be used; empty for the first one
}

// newPrompt returns what a question is asked with.
func newPrompt(q *Question) prompt {
	round := func(tokens int) int { return max(tokens/100*100, 100) }
	share, _ := q.Brief.Detail.share()
	tokens := round(min(int(summaryTokens*share), q.maxTokens()*3/4))
	if q.Brief.Earlier != "" { // most of its notes stay as they are
		tokens = round(tokens * 2 / 3)
	}
	return prompt{Brief: q.Brief, Tag: fmt.Sprintf("%.8s", q.Key), Tokens: tokens, Notes: strings.Join(notes, ", ")}
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

// A transcript that is too long is cut in steps: first the texts, then the oldest entries.
const (
	maxSaid     = 8_000 // characters of a message
	maxToolText = 2_000 // of a call or result; each step of the first halves both
	minText     = 200   // characters that are never cut
	textSteps   = 4
	entrySteps  = 4 // each leaves out one more fifth of the entries
	lastStep    = textSteps + entrySteps
	uncut       = -1 // the step before the first: only calls and results are cut
)

// turnsOf returns a transcript as text. Each entry begins with a line that has the tag.
func turnsOf(transcript []Entry, tag string, step int) string {
	var b strings.Builder
	first := len(transcript) * max(0, step-textSteps) / (entrySteps + 1)
	if first > 0 {
		fmt.Fprintf(&b, "[%s %d older entries are left out]\n", tag, first)
	}
	for _, e := range transcript[first:] {
		text := e.Text
		if e.IsTool || step != uncut {
			limit := maxSaid
			if e.IsTool {
				limit = maxToolText
			}
			text = cutMiddle(text, max(limit>>min(max(step, 0), textSteps), minText))
		}
		fmt.Fprintf(&b, "[%s %s]\n%s\n", tag, excerpt.OneLine(e.Speaker, minText), text)
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

// Question asks for a summary of the items of a span of a conversation. It must not be changed once it is asked, and
// never be printed: it has a credential and a conversation.
type Question struct {
	// Key names the span and all that the answer depends on, but for Behind and Instructions: scope, additions to the
	// system prompt, chain at its end, mode, detail, earlier summary and focus. The chain covers the content, so no
	// content can know the key.
	Key          string
	Conversation string // ID, for events
	Client       string // its name in the configuration, for events; mostly empty
	Scope        string
	Project      string  // in which the agent works; empty if it is not known
	Model        Model   // of the conversation
	Window       int     // of Model, in its tokens, whoever is asked; for events
	Continue     []byte  // the request as it is sent, up to the end of the span; nil if it cannot be continued
	Transcript   []Entry // the span as text, for the other way to ask, below the user's messages of the head
	SpanTokens   int     // of the span as it is sent now
	Written      string  // the files that were written in the span, a line each: an answer has to name one of them
	Distills     bool    // a distillate of one result is wanted, not a summary
	Room         int     // tokens that the answer may take
	Brief        Brief
}

// Model is a model that is asked, and what a request to it needs. It holds a credential: it is not for logs.
type Model struct {
	Upstream   string
	Name       string
	Dialect    conversation.Dialect // of the upstream
	Credential any                  // by which the upstream knows the client; nil for another one than the client's
	KeyEnv     string               // environment variable with the key, if it is not empty; a Summarizer sets it
	Usable     int                  // tokens of the vocabulary that a request may have
}

// Brief says what an answer is to be like.
type Brief struct {
	Earlier      string // summary by a model that the answer is to update; empty for the first one
	Focus        string // what the user wants this answer to be about above all; empty if they do not say
	Instructions string // of the user, for all answers; a Summarizer sets it
	Detail       Detail // how long the answer is to be
	Alone        bool   // no list of files and calls stands beside the answer
	Behind       int    // tokens of the messages behind the span, which stay; more may come before the answer is used
}

// maxTokens returns how many tokens the answer may have: no more than what it replaces.
func (q *Question) maxTokens() int { return min(q.Room, q.SpanTokens) }

// owner returns whose notes for later sessions the answer may add to.
func (q *Question) owner() inject.Owner {
	return inject.Owner{Scope: q.Scope, Project: inject.ProjectName(q.Project)}
}

// Entry is a piece of a transcript: what somebody said, a call, or a result.
type Entry struct {
	Speaker string // such as "user", "call bash" or "result bash, exit code 1"
	IsTool  bool   // a call or a result; the text of a call is its arguments
	Text    string
}

// The ways to ask.
const (
	WayContinue   = "continue"   // the conversation itself, with an instruction behind it
	WayTranscript = "transcript" // a request of its own, with the span as text
)

// Sender sends a request to a model and returns the whole answer, without content coding, or an error once ctx has
// ended. wait is how long the upstream asks to be left alone; mostly 0. The body holds a conversation: it is not for logs.
type Sender func(ctx context.Context, m Model, body []byte) (status int, answer []byte, wait time.Duration, err error)
