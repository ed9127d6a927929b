package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// script decides what the model answers and what the agent's tools return. It does not remember what was said: what the
// model needs from earlier turns it finds in the request, or in the files that the request names.
type script struct {
	turns   int // of the session
	turn    int
	task    task              // Number is -1 before the first one
	steps   []step            // of the task, still to come
	results map[string]string // of tool calls, by ID; a search of files that epitome stored has none
	closed  bool
}

// step is one answer of the model, with the result of its call.
type step struct {
	Words, Tool, Result string
	Args                map[string]string
	Content             string // name of the prop that is an argument, too
	Size                int    // of the prop
	Find                bool   // search files for the trace of the failed test, unless the request has it
}

// closing is how many turns the end of a session takes.
const closing = 5

// answer returns the model's answer to a request.
func (s *script) answer(messages []message) message {
	s.turn++
	if q := pendingIn(s.task.seed, messages); q != nil {
		return s.reply(q, messages)
	}
	if s.turn == 1 {
		return s.say(step{Words: "Before I begin: is there a rule that I have to keep to?"})
	}
	if s.turn > s.turns-closing && !s.closed {
		s.closed, s.steps = true, nil
		return s.say(step{Words: "Done: the packages up to here agree with the ledger to the cent.\nNext: the release."})
	}
	if len(s.steps) == 0 {
		s.task.Number++
		s.steps = stepsOf(s.task)
	}
	next, failure := s.steps[0], failureOf(s.task)
	if next.Find && failure.in(messages) != "" {
		s.steps = s.steps[1:]
		next = s.steps[0]
	}
	s.steps = s.steps[1:]
	if next.Find {
		return s.search(next.Words, failure, messages)
	}
	return s.say(next)
}

// stepsOf returns the steps of a task, with the texts that they name.
func stepsOf(t task) (steps []step) {
	if err := json.Unmarshal([]byte(t.prop("steps", 0)), &steps); err != nil {
		panic("BUG: " + err.Error())
	}
	for i := range steps {
		x := &steps[i]
		if x.Result != "" {
			x.Result = t.prop(x.Result, x.Size)
		}
		if x.Content != "" {
			x.Args["content"] = t.prop(x.Content, x.Size)
		}
	}
	return steps
}

// say returns a step as a message.
func (s *script) say(x step) message {
	m := message{Role: "assistant", Content: x.Words}
	if x.Tool != "" {
		c := call{ID: fmt.Sprintf("call_%03d", s.turn), Type: "function"}
		c.Function.Name, c.Function.Arguments = x.Tool, string(encode(x.Args))
		m.Calls = append(m.Calls, c)
		s.results[c.ID] = x.Result
	}
	return m
}

// reply answers the user's question from the request, or else searches files once.
func (s *script) reply(q *question, messages []message) message {
	found := q.in(messages)
	if found == "" && messages[len(messages)-1].Role == "user" {
		return s.search("That is no longer before me. I look in the files.", q, messages)
	}
	return s.say(step{Words: q.label + ": " + found})
}

// artifact matches the path of a file that epitome names in the place of a result or in a summary.
var artifact = regexp.MustCompile(`(?:/|[A-Za-z]:\\)\S*[a-z2-7]{26}\.txt`)

// search returns a search for the answer to a question in the files that the request names for its subject, and in the
// transcripts of summaries.
func (s *script) search(words string, q *question, messages []message) message {
	var paths []string
	for _, m := range messages {
		for line := range strings.Lines(m.Content) {
			isStub := strings.HasPrefix(line, "[epitome: ") && strings.Contains(line, q.hint)
			if isStub || strings.HasPrefix(line, "[end of summary ") {
				paths = append(paths, artifact.FindAllString(line, -1)...)
			}
		}
	}
	slices.Sort(paths)
	return s.say(step{Words: words, Tool: "grep", Args: map[string]string{"pattern": q.pattern.String(),
		"path": strings.Join(slices.Compact(paths), "\n")}})
}

// searchFiles runs a search of files that epitome stored. It returns up to 40 matches with some of the text around.
func searchFiles(c call) string {
	var args struct{ Pattern, Path string }
	if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
		return "error: " + err.Error()
	}
	pattern, err := regexp.Compile(args.Pattern)
	if err != nil {
		return "error: " + err.Error()
	}
	var found []string
	for path := range strings.SplitSeq(args.Path, "\n") {
		text, err := os.ReadFile(path)
		if err != nil {
			return "error: " + err.Error()
		}
		for _, at := range pattern.FindAllIndex(text, 40-len(found)) {
			around := strings.ToValidUTF8(string(text[max(0, at[0]-60):min(len(text), at[1]+100)]), "")
			found = append(found, "…"+path[max(0, len(path)-12):]+": …"+around+"…")
		}
	}
	return cmp.Or(strings.Join(found, "\n"), "no matches")
}

// question is a question about an earlier turn.
type question struct {
	label, short string
	pattern      *regexp.Regexp // its first group is the answer
	hint         string         // stands in the text that names the file
	want         string
}

// in returns the answer if the messages hold it.
func (q *question) in(messages []message) string {
	for _, m := range messages {
		if found := q.pattern.FindStringSubmatch(m.Content); found != nil {
			return found[1]
		}
	}
	return ""
}

func (q *question) text() string { return "A question in between. " + q.label + ": what was it?" }

// failureOf asks for the trace of a task's failed test.
func failureOf(t task) *question {
	test := "Test" + t.Symbol()
	return &question{"The trace with which " + test + " failed", "the failed trace",
		regexp.MustCompile(test + ` trace=(tr-[0-9a-f]{8})`), "PKG=" + t.Package(), t.Trace()}
}

// stuckBatchOf asks for the batch that was stuck when the agent asked the service.
func stuckBatchOf(t task) *question {
	// A transcript has it as JSON within JSON.
	pattern := `(bat_` + t.Package()[:2] + `[0-9a-f]{8})[\\", ]+state[\\": ]+stuck`
	return &question{"The batch of " + t.Package() + " that was stuck", "the stuck batch", regexp.MustCompile(pattern),
		"package=" + t.Package(), t.Stuck()}
}

// questions returns the user's questions: two on the way, and two at the end.
func questions(seed uint64) []*question {
	first, third := task{0, seed}, task{2, seed}
	change := &question{"The change number of the release", "the change number",
		regexp.MustCompile(`change number (CHG-[0-9]{5})`), "change number", first.Change()}
	return []*question{failureOf(first), stuckBatchOf(third), stuckBatchOf(first), change}
}

// pendingIn returns the question in the user's latest message; nil if it has none.
func pendingIn(seed uint64, messages []message) *question {
	latest := ""
	for _, m := range messages {
		if m.Role == "user" {
			latest = m.Content
		}
	}
	for _, q := range questions(seed) {
		if q.text() == latest {
			return q
		}
	}
	return nil
}

// user is the person for whom the agent works.
type user struct {
	turns int  // of the session
	task  task // the latest one
	said  int  // messages
	asked int  // questions
}

// says returns the user's message in a turn, a note about it, and the question in it. The message is empty at the end
// of the session.
func (u *user) says(turn int) (text, note string, q *question) {
	all := questions(u.task.seed)
	isEnd := turn > u.turns-closing
	if isEnd { // a short session has no time for the questions on the way
		u.asked = max(u.asked, 2)
	}
	u.said++
	switch {
	case u.said == 1:
		return u.task.prop("goal", 0), "the goal", nil
	case u.said == 2:
		return u.task.prop("rules", 0), "rules, first job", nil
	case isEnd && u.asked == len(all):
		return "", "", nil
	case isEnd || u.said == 4 || u.said == 8:
		q = all[u.asked]
		u.asked++
		return q.text(), q.short + "?", q
	}
	u.task.Number++
	return u.task.prop("job", 0), "the next job", nil
}
