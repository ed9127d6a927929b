// Package intext reads calls that stand in the texts of an agent, and what its client says of them in messages of the
// user: some clients use no calls of the API.
//
// It promises that a text is a client's only where it has the form of one that is known, that nothing which a program
// put out passes for the user's words, and that each text is read once.
package intext

import (
	"slices"
	"strings"

	"epitome/pattern"
)

// Result is what a client says of a call that stands in a text.
type Result struct {
	Tool  string // as the client names it
	About string // what the client names beside it: a command, a file
	Text  string
}

// The tools of a client whose answers are edits, and whose commands its user runs.
const (
	toolCommand = "command"
	toolCommit  = "commit"
	toolEdit    = "edit"
	toolFiles   = "files"
)

// Read parts the texts of a user's message into what its client says of calls, and what the user says. before is what
// the agent said last. ok is false if nothing in them is a client's.
func Read(texts []string, before string) (results []Result, words []string, ok bool) {
	inResult, called := false, newCalled(before)
	for _, t := range texts {
		switch res, isHead := headIn(t, called); {
		case isHead:
			results, inResult = append(results, res), true
		case inResult:
			last := &results[len(results)-1]
			last.Text += t + "\n"
		default:
			if res, isOwn := noteIn(t); isOwn {
				results = append(results, res)
			} else if inner, isNote := resumedIn(t); isNote {
				ok, words = true, append(words, inner...)
			} else {
				words = append(words, t)
			}
		}
	}
	for k := range results {
		words = append(words, saidIn(&results[k])...)
		if results[k].Tool == toolCommit {
			for _, file := range editedIn(before) {
				results = append(results, Result{Tool: "edit_file", About: file})
			}
		}
	}
	return results, words, ok || len(results) > 0
}

// MayBeResult reports whether a text begins as one may in which a client says something of a call.
func MayBeResult(text string) bool {
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "I ") || strings.HasPrefix(text, "Here are ") ||
		strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "New ")
}

// HasResult reports whether one of some texts begins what a client says of a call in what the agent said before.
func HasResult(texts []string, before string) bool {
	called := newCalled(before)
	return slices.ContainsFunc(texts, func(t string) bool {
		_, ok := headIn(t, called)
		return ok
	})
}

// called are the tools that stand in a text as elements, as far as that was asked.
type called struct {
	text  string
	known map[string]bool
}

func newCalled(text string) *called { return &called{text, map[string]bool{}} }

// has reports whether a tool stands in the text. Few are looked for: each is looked for in all of it.
func (c *called) has(tool string) bool {
	const most = 16 // tools
	is, isKnown := c.known[tool]
	if !isKnown && len(c.known) < most {
		is = strings.Contains(c.text, "<"+tool+">")
		c.known[tool] = is
	}
	return is
}

// longestName is how many bytes the name of a tool has at most.
const longestName = 64

// headIn is the beginning of a result, as Cline and Roo write it: the call stands in what the agent said before.
func headIn(text string, before *called) (res Result, ok bool) {
	const mark = "] Result:"
	rest, isOpen := strings.CutPrefix(text, "[")
	if !isOpen {
		return res, false
	}
	n := 0
	for n < min(len(rest), longestName) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] == '_') {
		n++
	}
	head, said, found := strings.Cut(rest, mark)
	if strings.HasSuffix(strings.TrimSpace(text), mark) { // the command may have the mark in it
		head, said = strings.TrimSuffix(strings.TrimSpace(rest), mark), ""
	}
	if n == 0 || !found || len(head) < n || !before.has(rest[:n]) {
		return res, false
	}
	about, isNamed := strings.CutPrefix(head[n:], " for ")
	if !isNamed && head[n:] != "" && !strings.HasPrefix(head[n:], " ") {
		return res, false
	}
	about = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(about), "'"), "'")
	return Result{Tool: rest[:n], About: about, Text: said}, true
}

// noteIn is what Aider says in the user's name.
func noteIn(text string) (res Result, ok bool) {
	if rest, found := strings.CutPrefix(text, "I ran this command:\n\n"); found {
		command, output, isWhole := strings.Cut(rest, "\n\nAnd got this output:\n\n")
		return Result{Tool: toolCommand, About: command, Text: output}, isWhole
	}
	if m := committed.FindStringSubmatch(text); m != nil {
		return Result{Tool: toolCommit, About: m[1], Text: m[2]}, true
	}
	if m := unmatched.FindStringSubmatch(text); m != nil {
		return Result{Tool: toolEdit, About: m[2], Text: m[1]}, true
	}
	isShown := slices.ContainsFunc(shown[:], func(begin string) bool { return strings.HasPrefix(text, begin) })
	isSaid := slices.Contains(said[:], strings.TrimSpace(text))
	return Result{Tool: toolFiles}, isShown || isSaid || added.MatchString(text)
}

// What Aider writes of an edit that it committed, of one that it could not make, and of files that it puts there.
var (
	committed = pattern.Of(`^I committed the changes with git hash ([0-9a-f]{5,40}) & commit msg: ([^\n]*)\n?$`)
	unmatched = pattern.Of(`^(# \d+ SEARCH/REPLACE blocks? failed to match!)\n\n## Search[^\n]* lines? in ([^\n]*)\n`)
	added     = pattern.Of(`^I added these files to the chat: [^\n]*\nLet me know if there are others we should add\.\s*$`)
)

// shown are beginnings of messages in which Aider puts files.
var shown = [...]string{
	"I have *added these files to the chat* so you can go ahead and edit them.\n",
	"Here are summaries of some files present in my git repository.\n",
	"Here are some READ ONLY files, provided for your reference.\n",
}

// said are messages of its own. What has more words is the user's.
var said = [...]string{
	"I am not sharing any files that you can edit yet.", "I didn't see any properly formatted edits in your reply?!",
	"I updated the files.",
}

// resumedIn are the words of the user in a note of Cline's that belongs to no call. ok is false if it is none.
func resumedIn(text string) (words []string, ok bool) {
	switch {
	case strings.HasPrefix(text, "[ERROR] You did not use a tool in your previous response!"):
		return nil, true
	case strings.HasPrefix(text, "[TASK RESUMPTION] This task was interrupted"):
		return elementsIn(text), true
	case strings.HasPrefix(text, "New instructions for task continuation:\n<user_message>\n"),
		strings.HasPrefix(text, "New message to respond to with plan_mode_respond tool"):
		words = elementsIn(text)
		return words, len(words) > 0
	}
	return nil, false
}

// saidIn are the words of the user in a result: those of a call that asks for them, or of a user who refused one.
func saidIn(res *Result) []string {
	text := strings.TrimSpace(res.Text)
	isDenied := strings.HasPrefix(text, "The user denied this operation and provided the following feedback:") ||
		strings.HasPrefix(text, "The user provided the following feedback:")
	if speaks(res.Tool) || isDenied && !showsOthers(res.Tool) {
		return elementsIn(text)
	}
	return nil
}

// showsOthers reports whether what a tool shows may begin with words of a file, a page or a server, which may be like a
// client's own.
func showsOthers(tool string) bool {
	return tool != "execute_command" && (&Told{Result: Result{Tool: tool}}).group() != groupWritten
}

// elementsIn are what stands in the first element of each name in which clients put the user's words.
func elementsIn(text string) (words []string) {
	for _, name := range [...]string{"answer", "feedback", "user_message"} {
		_, rest, found := strings.Cut(text, "<"+name+">\n")
		if end := strings.LastIndex(rest, "\n</"+name+">"); found && end >= 0 {
			words = append(words, rest[:end])
		}
	}
	return words
}
