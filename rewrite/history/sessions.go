package history

import (
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/rewrite/conversation"
)

// runningForm finds a line in which whoever runs commands tells that one goes on, and how later calls name it.
var runningForm = pattern.Of(`(?i)^(?:process running with session id ([\w-]{1,64})(?:\W|$)|` +
	`command (?:running in (?:the )?background|was manually backgrounded by user) with id:? ([\w-]{1,64})|` +
	`command (?:did not complete|exceeded)[^\n]{1,80} moved to (?:the )?background \(?(?:with )?(?:id:? )?([\w-]{1,64})|` +
	`<?(?:shellid:? ([\w-]{1,64}) is still running|command (?:is )?(?:started|running) in (?:the )?background with shellid:? ([\w-]{1,64})))`)

// statusForm finds a line in which a client tells how a command stands that it was asked for.
var statusForm = pattern.Of(`^<status>(running|killed)</status>$`)

// killedForm finds how the answer begins of a tool that ended a command.
var killedForm = pattern.Of(`(?i)^\W*(?:message\W+)?(?:successfully (?:killed|stopped|terminated|cancell?ed)\b|` +
	`(?:the )?(?:shell|process|task|terminal|job|command|session)(?: \S{1,64})? (?:was |has been )?` +
	`(?:killed|stopped|terminated|cancell?ed)\b)`)

// killed reports whether the call ended a command that ran, or says that somebody did. raw is its result as it stands
// in the body.
func (c *Source) killed(raw []byte, text string) bool {
	if c.Action.Session == "" {
		return false
	}
	if _, status := sessionIn(raw); status == "killed" {
		return true
	}
	if !c.Action.Ends {
		return false
	}
	if code, told := c.exitState(raw); told {
		return code > 0
	}
	return c.said != conversation.WentWrong && killedForm.MatchString(firstWords(text))
}

// sessionIn is how a command is named that went on when its result came, or the state that its client tells of one that
// it was asked for; both are empty if nobody says so. raw is the result as it stands in the body.
func sessionIn(raw []byte) (id, status string) {
	const beginning = 600 // bytes
	if len(raw) > 0 && raw[0] == '[' {
		raw = []byte(gjson.GetBytes(raw, "0.text").Raw)
	}
	lines := linesAsTold(raw[:min(len(raw), beginning)])
	if len(raw) > beginning && len(lines) > 1 {
		lines = lines[:len(lines)-1] // it may go on
	}
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if m := runningForm.FindStringSubmatch(l); m != nil {
			return strings.Join(m[1:], ""), ""
		}
		if m := statusForm.FindStringSubmatch(l); m != nil {
			return "", m[1]
		}
		if l != "" && !besideExit.MatchString(l) {
			break
		}
	}
	return "", ""
}

// begun are the calls of which commands went on, by how these are named: the results of those that began them.
type begun map[string]int

// learn notes result n if its command goes on.
func (b begun) learn(n int, res *Result, raw []byte) {
	if k, known := b[res.Action.Session]; known && res.Action.Session != "" {
		res.begun = k + 1
		return
	}
	if id := res.goesOn(raw); id != "" {
		b[id] = n
	}
}

// BegunBy is the result of the call whose command the call of res waits for, gives input to, or ends; nil if it is not
// about an earlier one.
func (h *History) BegunBy(res *Result) *Result {
	if res.begun == 0 {
		return nil
	}
	return &h.Results[res.begun-1]
}
