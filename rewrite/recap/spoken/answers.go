package spoken

import (
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/plan"
)

// How much is read of a call that asks the user, and of its result, in bytes.
const longestQuestion, longestAnswer = 64 << 10, 32 << 10

// answer is what the user answered within the result of a tool.
type answer struct {
	lead    []string // of the agent's call: what was asked
	words   string   // of the user
	refuses bool     // the user did not allow the call
}

// answerIn is what the user says in a result; no words if that is none of the user's. Only what a tool hands on that
// asks the user is, and what a client says of a call that the user refused.
func (s *Span) answerIn(res *history.Result) (a answer) {
	it, call := s.ItemAt(res.Item), s.CallAt(res.Item)
	if call == nil || it.Content.End-it.Content.Start > 2*longestAnswer {
		return a
	}
	asks := AsksUser(call.Name)
	isMarked := it.Verdict == conversation.WentWrong || res.Action.Kind == action.Writing
	if !asks && (!isMarked || mayBeOfServer(res)) {
		return a
	}
	if r := plan.EndingOf(s.Plan, res).Refusal; r.Words != "" {
		return answer{[]string{res.About()}, r.Words, true}
	}
	said := strings.TrimSpace(s.Plan.TextOf(res.Item))
	if !asks || it.Verdict == conversation.WentWrong || res.Failed || len(said) > longestAnswer || call.FreeText ||
		call.Arguments.End-call.Arguments.Start > longestQuestion {
		return a
	}
	return handedOn(call.ArgumentsIn(s.Plan.Req.Body), said)
}

// mayBeOfServer reports whether a result may be what a server says that anybody may add. It may imitate a client's
// word, and mark that as an error.
func mayBeOfServer(res *history.Result) bool {
	return res.Action.Kind == action.Other || strings.HasPrefix(res.Name, "mcp_") ||
		strings.HasPrefix(res.Name, "mcp-")
}

// AsksUser reports whether a tool does nothing but ask the user. Tools of servers that anybody may add are none.
func AsksUser(tool string) bool {
	switch tool {
	case "AskUserQuestion", "ask_user_question", "ask_user", "AskUser", "ask_followup_question", "request_user_input",
		"ExitPlanMode", "exit_plan_mode", "vscode_askQuestions", "askQuestions", "question", "attempt_completion",
		"plan_mode_respond":
		return true
	}
	return false
}

// handedOn is what the user said to a call that asked, and what was asked.
func handedOn(arguments []byte, said string) (a answer) {
	questions := gjson.GetManyBytes(arguments, "questions.#.question", "question", "plan", "result", "response")
	var asked []string
	for _, q := range questions[0].Array() {
		asked = append(asked, q.Str)
	}
	if q := questions[1].Str; q != "" {
		asked = append(asked, q)
	}
	if len(asked) > 0 {
		words := wordsOf(arguments, asked, said)
		if len(words) < len(asked) {
			return answer{lead: asked, words: words[0]}
		}
		a.lead, a.words = asked[:1], words[0]
		for k, w := range words[1:] {
			a.words += "\n" + Quoted(linesOf(asked[k+1:k+2])) + w
		}
		return a
	}
	a.lead = headOf(questions[2].Str + questions[3].Str + questions[4].Str)
	a.words, _, _ = strings.Cut(inElements(said), "\n\n")
	return a
}

// wordsOf are the user's answers to questions: one for each, or one for all if they cannot be told apart.
func wordsOf(arguments []byte, asked []string, said string) []string {
	var all []string
	switch {
	case strings.HasPrefix(said, "User has answered your questions: "):
		all = besideQuestions(asked, said)
	case said[:min(1, len(said))] == "{" && gjson.Valid(said):
		all = inObject(arguments, said)
	}
	if len(all) == len(asked) {
		return all
	}
	for _, begin := range [...]string{"User responded: ", "User selected: ", "User has answered your questions: "} {
		said = strings.TrimPrefix(said, begin)
	}
	return []string{strings.TrimSpace(inElements(said))}
}

// besideQuestions are the answers in a text that has each behind its question: "question"="answer".
func besideQuestions(asked []string, said string) (all []string) {
	const end = ". You can now continue with the user's answers"
	if at := strings.LastIndex(said, end); at >= 0 {
		said = said[:at]
	}
	for k, q := range asked {
		_, rest, ok := strings.Cut(said, `"`+q+`"="`)
		if !ok {
			return nil
		}
		said = rest
		words := rest
		if k+1 < len(asked) {
			if words, _, ok = strings.Cut(rest, `, "`+asked[k+1]+`"="`); !ok {
				return nil
			}
		}
		all = append(all, withoutRepeat(words))
	}
	return all
}

// withoutRepeat is an answer without the mark at its end, and without notes of the user that say it again.
func withoutRepeat(words string) string {
	if first, again, ok := strings.Cut(words, `" user notes: `); ok {
		if first == again {
			return first
		}
		return first + "\n" + again
	}
	return strings.TrimSuffix(words, `"`)
}

// inObject are the answers in a value that has them by the ids of their questions, in the order of these.
func inObject(arguments []byte, said string) (all []string) {
	answers := gjson.Get(said, "answers").Map()
	for _, q := range gjson.GetBytes(arguments, "questions").Array() {
		a := answers[q.Get("id").String()]
		var words []string
		for _, key := range [...]string{"answers", "selected"} {
			for _, w := range a.Get(key).Array() {
				words = append(words, w.String())
			}
		}
		if w := strings.Join(words, "\n"); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// inElements is a text without the element that a client puts around the user's words, on a line of its own. One that
// the user writes is of the words.
func inElements(said string) string {
	for _, name := range [...]string{"answer", "user_message", "feedback"} {
		begin, end := strings.Index("\n"+said, "\n<"+name+">"), strings.LastIndex(said, "</"+name+">")
		if begin += len("<" + name + ">"); begin > len(name)+1 && begin < end {
			if inner := strings.TrimSpace(said[begin:end]); inner != "" {
				return inner
			}
		}
	}
	return said
}

// headOf are the first lines of what the user was asked about.
func headOf(plan string) (lines []string) {
	const most, room = 12, 600 // lines, bytes
	left := room
	for l := range strings.Lines(plan) {
		l = strings.TrimRight(l, " \t\r\n")
		if left -= len(l) + 1; left < 0 || len(lines) == most {
			break
		}
		if l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// isAnswered reports whether a tool's result in item i may hold the user's words.
func (s *Span) isAnswered(i int) (res *history.Result, ok bool) {
	if s.ItemAt(i).Role != conversation.Tool {
		return nil, false
	}
	k := s.Plan.Hist.ResultAt[i]
	if k < 0 {
		return nil, false
	}
	return &s.Plan.Hist.Results[k], true
}
