package ending

import (
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
)

// runningForm finds a line in which whoever runs commands tells that one goes on, and how later calls name it.
var runningForm = pattern.Holding(`(?i)^(?:process running with session id ([\w-]{1,64})(?:\W|$)|`+
	`command (?:running in (?:the )?background|was manually backgrounded by user) with id:? ([\w-]{1,64})|`+
	`command (?:did not complete|exceeded)[^\n]{1,80} moved to (?:the )?background \(?(?:with )?(?:id:? )?([\w-]{1,64})|`+
	`<?(?:shellid:? ([\w-]{1,64}) is still running|command (?:is )?(?:started|running) in (?:the )?background with shellid:? ([\w-]{1,64})))`,
	"running", "background")

// statusForm finds a line in which a client tells how a command stands that it was asked for.
var statusForm = pattern.Beginning(`^<status>(running|killed)</status>$`, "<status>")

// killedForm finds how the answer begins of a tool that ended a command.
var killedForm = pattern.Of(`(?i)^\W*(?:message\W+)?(?:successfully (?:killed|stopped|terminated|cancell?ed)\b|` +
	`(?:the )?(?:shell|process|task|terminal|job|command|session)(?: \S{1,64})? (?:was |has been )?` +
	`(?:killed|stopped|terminated|cancell?ed)\b)`)

// killed reports whether the call ended a command that ran, or says that somebody did.
func (r *result) killed() bool {
	if r.Action.Session == "" {
		return false
	}
	if _, status := sessionIn(r.raw); status == "killed" {
		return true
	}
	switch {
	case !r.Action.Ends:
		return false
	case r.exit.known:
		return r.exit.code > 0
	}
	return r.Said != conversation.WentWrong && killedForm.MatchString(firstWords(r.text))
}

// sessionIn is how a command is named that went on when its result came, or the state that its client tells of one that
// it was asked for; both are empty if nobody says so. raw is the result as it stands in the body.
func sessionIn(raw []byte) (id, status string) {
	const beginning = 600 // bytes
	if len(raw) > 0 && raw[0] == '[' {
		raw = []byte(gjson.GetBytes(raw, "0.text").Raw)
	}
	head := string(raw[:min(len(raw), beginning)])
	if !runningForm.MayStandIn(head) && !strings.Contains(head, "status") {
		return "", ""
	}
	lines := linesAsTold(head)
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

// GoesOn is how the command is named that goes on behind a result, as it stands in the body; empty if it has ended, or
// if nobody says so.
func GoesOn(c *action.Source, raw []byte) string {
	if c.Action.Kind != action.Shell || c.Action.OnlyFiles { // what a file says is not of the call
		return ""
	}
	id, status := sessionIn(raw)
	if status == "running" {
		return c.Action.Session
	}
	return id
}
