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
	seed    uint64
	turns   int // of the session
	turn    int
	tasks   int // begun so far
	queue   []step
	results map[string]string // of tool calls, by ID; a search of files that epitome stored has none
	asked   *question         // to be answered
	looked  bool              // in files, for asked
	closed  bool
}

// step is one answer of the model, with the result of its call. A step with a question is left out if the request holds
// the answer; else the model searches for it in files.
type step struct {
	words, tool string
	args        map[string]string
	result      string
	find        *question
}

// closing is how many turns the end of a session takes.
const closing = 5

// answer returns the model's answer to a request.
func (s *script) answer(messages []message) message {
	s.turn++
	if last := messages[len(messages)-1]; last.Role == "user" {
		s.asked, s.looked = s.questionIn(last.Content), false
	}
	switch {
	case s.asked != nil:
		return s.reply(messages)
	case s.turn == 1:
		return s.say(step{words: "Before I begin: is there a rule that I have to keep to?"})
	case s.turn > s.turns-closing && !s.closed:
		s.closed, s.queue = true, nil
		return s.say(step{words: "Done: the packages up to here agree with the ledger to the cent.\nNext: the release."})
	}
	for {
		if len(s.queue) == 0 {
			s.queue = s.work(s.tasks)
			s.tasks++
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		if next.find == nil {
			return s.say(next)
		}
		if next.find.in(messages) == "" {
			return s.search(next.words, next.find, messages)
		}
	}
}

// say returns a step as a message.
func (s *script) say(x step) message {
	m := message{Role: "assistant", Content: x.words}
	if x.tool != "" {
		c := call{ID: fmt.Sprintf("call_%03d", s.turn), Type: "function"}
		c.Function.Name, c.Function.Arguments = x.tool, string(encode(x.args))
		m.Calls = append(m.Calls, c)
		s.results[c.ID] = x.result
	}
	return m
}

// reply answers the user's question from the request, or else searches files once.
func (s *script) reply(messages []message) message {
	found := s.asked.in(messages)
	if found == "" && !s.looked {
		s.looked = true
		return s.search("That is no longer before me. I look in the files.", s.asked, messages)
	}
	label := s.asked.label
	s.asked = nil
	return s.say(step{words: label + ": " + found})
}

// artifact matches the path of a file that epitome names in the place of a result or in a summary.
var artifact = regexp.MustCompile(`(?:/|[A-Za-z]:\\)\S*[a-z2-7]{26}\.txt`)

// search returns a search for the answer to a question in the files that the request names for its subject, and in the
// transcripts of summaries.
func (s *script) search(words string, q *question, messages []message) message {
	var paths []string
	for _, m := range messages {
		for line := range strings.Lines(m.Content) {
			if strings.HasPrefix(line, "[end of summary ") || strings.HasPrefix(line, "[epitome: ") && strings.Contains(line, q.hint) {
				paths = append(paths, artifact.FindAllString(line, -1)...)
			}
		}
	}
	slices.Sort(paths)
	return s.say(step{words: words, tool: "grep", args: map[string]string{"pattern": q.pattern.String(),
		"path": strings.Join(slices.Compact(paths), "\n")}})
}

// searchFiles returns the result of a search of files that epitome stored, which is really made: up to 40 matches with some
// of the text around.
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
			around := text[max(0, at[0]-60):min(len(text), at[1]+100)]
			found = append(found, fmt.Sprintf("…%s: …%s…", path[max(0, len(path)-12):], strings.ToValidUTF8(string(around), "")))
		}
	}
	return cmp.Or(strings.Join(found, "\n"), "no matches")
}

// work returns how the model goes about a task.
func (s *script) work(task int) []step {
	type args = map[string]string
	pkg := packageOf(task)
	symbol, core, rest, test := symbolOf(pkg), pkg+"/"+pkg+".go", pkg+"/round.go", pkg+"/cents_test.go"
	round := fmt.Sprint(task / len(packages))
	prop := func(name, variant string, size int) string { return prop(s.seed, name, pkg, variant, size) }
	const was, now = "cents := a.Scale(100)", "cents := a.Scale(100) // half to even"
	run := args{"command": "make test PKG=" + pkg}
	steps := []step{
		{words: "Where is it rounded?", tool: "grep", args: args{"pattern": symbol + `\(`, "path": "."},
			result: prop("matches", "", 40)},
		{words: "The core of the package first.", tool: "read_file", args: args{"path": core}, result: prop("source", "", 26)},
		{words: "And the rest.", tool: "read_file", args: args{"path": rest}, result: prop("source", rest, 18)},
		{words: "A test that shows it.", tool: "write_file", args: args{"path": test, "content": prop("test", round, 60)},
			result: "wrote " + test},
		{words: "Tried: rounding late in " + core + ", before the sum.", tool: "edit_file",
			args: args{"path": core, "old_text": was, "new_text": now}, result: "edited " + core + ": 1 replacement"},
		{tool: "bash", args: run, result: prop("failing", "", 240-20*(task%7))},
		{words: "The log does not show how it failed; the rest of it was put aside.", find: failureOf(s.seed, pkg)},
		{words: "Decision: package " + pkg + " rounds half to even, once, after the sum.", tool: "edit_file",
			args: args{"path": core, "old_text": now, "new_text": was}, result: "edited " + core + ": 1 replacement"},
		{words: "Once more, as it is now.", tool: "read_file", args: args{"path": core}, result: prop("source", round, 26)},
		{tool: "bash", args: run, result: prop("passing", "", 90)},
		{words: "The file that the rest depends on, written anew.", tool: "write_file",
			args: args{"path": rest, "content": prop("source", "anew "+round, 14)}, result: "wrote " + rest},
	}
	if asksService(task) {
		steps = append(steps, step{words: "Does the service agree?", tool: "http_request",
			args: args{"method": "GET", "url": "settle/v1/batches?package=" + pkg}, result: prop("batches", "", 230)})
	}
	return append(steps, step{words: "Done: " + pkg + "; " + symbol + " no longer drops half a cent, and its tests pass."})
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

func failureOf(seed uint64, pkg string) *question {
	test := "Test" + symbolOf(pkg)
	return &question{"The trace with which " + test + " failed", "the failed trace",
		regexp.MustCompile(test + ` trace=(tr-[0-9a-f]{8})`), "PKG=" + pkg, traceOf(seed, pkg)}
}

func stuckBatchOf(seed uint64, pkg string) *question {
	// In a transcript the result is JSON within JSON.
	pattern := regexp.MustCompile(`(bat_` + pkg[:2] + `[0-9a-f]{8})[\\", ]+state[\\": ]+stuck`)
	return &question{"The batch of " + pkg + " that was stuck", "the stuck batch", pattern, "package=" + pkg, stuckIn(seed, pkg)}
}

func changeNumber(seed uint64) *question {
	return &question{"The change number of the release", "the change number", regexp.MustCompile(`change number (CHG-[0-9]{5})`),
		"change number", fmt.Sprintf("CHG-%05d", 10_000+dice(seed, "change").IntN(90_000))}
}

// questions returns the user's questions: two on the way, and two at the end.
func questions(seed uint64) []*question {
	return []*question{failureOf(seed, packageOf(0)), stuckBatchOf(seed, packageOf(2)), stuckBatchOf(seed, packageOf(0)),
		changeNumber(seed)}
}

// questionIn returns the question in a user's message; nil if it has none.
func (s *script) questionIn(text string) *question {
	for _, q := range questions(s.seed) {
		if q.text() == text {
			return q
		}
	}
	return nil
}

// user is the person for whom the agent works.
type user struct {
	seed  uint64
	turns int // of the session
	said  int // messages
	asked int // questions
	tasks int
}

// says returns the user's message in a turn, a note about it, and the question in it. The message is empty at the end of
// the session.
func (u *user) says(turn int) (text, note string, q *question) {
	all := questions(u.seed)
	isEnd := turn > u.turns-closing
	if isEnd { // a short session has no time for the questions on the way
		u.asked = max(u.asked, 2)
	}
	u.said++
	switch {
	case u.said == 1:
		return "Goal: make the sums of the service settle agree with its ledger to the cent, package by package. Run a package's " +
			"tests after each change.", "the goal", nil
	case u.said == 2:
		return "Two things. Rule: never touch store/migrate.go. Rule: the release goes out under change number " +
			changeNumber(u.seed).want + "; I will ask you for it at the very end. " + taskText(0), "rules, first job", nil
	case isEnd && u.asked == len(all):
		return "", "", nil
	case isEnd || u.said == 4 || u.said == 8:
		q = all[u.asked]
		u.asked++
		return q.text(), q.short + "?", q
	}
	u.tasks++
	return taskText(u.tasks), "the next job", nil
}

// taskText returns how the user asks for a task.
func taskText(task int) string {
	pkg := packageOf(task)
	switch {
	case task >= len(packages):
		return "Have a second look at " + pkg + ": does " + symbolOf(pkg) + " hold with negative amounts?"
	case asksService(task):
		return "Now package " + pkg + ". Customers see a difference of a cent in its sums; ask the service as well."
	}
	return "Good. Go on with package " + pkg + ", the same way: find where " + symbolOf(pkg) + " loses the cent, fix it, run its tests."
}
