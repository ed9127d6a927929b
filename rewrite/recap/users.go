package recap

import (
	"regexp"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
)

// quote is a message of the user, or their answer in the result of a tool that asked them.
type quote struct {
	item             int // behind the head
	note, lead, text string
}

// ofClient finds texts in the user's messages that their client put there.
var ofClient = regexp.MustCompile(`(?s)^\s*(?:<(?:system-reminder|task-notification|local-command-\w+|bash-\w+|` +
	`environment_\w+|skill|turn_aborted|subagent_notification|user-prompt-submit-hook)\b|` +
	`<command-(?:name|message)>.*<command-args>\s*</command-args>\s*$|` +
	`Caveat: The messages below|Base directory for this skill: |\[Request interrupted by user)`)

// isCommand finds a command that the user typed and that stands for a text which follows.
var isCommand = regexp.MustCompile(`^\s*<command-message>`)

// users are the newest messages of the user that fit, oldest first, and the items of the others.
func (s *Span) users(b Budgets) (list []quote, more []int) {
	const frame = 10 // tokens of the line above a message
	newest := true
	for i := s.Plan.End - 1; i >= s.From; i-- {
		isUser := s.item(i).Role == conversation.User
		q, media, room := quote{item: i, text: s.said(i)}, "", &b.Users
		if isUser {
			media = history.MediaIn(s.Plan.Req, s.item(i).Content)
		}
		if q.text == "" && media == "" {
			continue
		}
		if newest && i < s.To {
			q.note, room = ", the newest: go on with it unless it is done", &b.Latest
		}
		if newest = false; i >= s.To {
			continue
		}
		size := len(q.text) / 8 // tokens, at least about
		if size <= *room {
			size = plan.MessageTokens(s.Plan, q.text) + frame
		}
		if q.text == "" || size > *room {
			more = append(more, i)
			continue
		}
		*room -= size
		if media != "" {
			q.note += ", with " + media + ", not shown here"
		}
		if isUser {
			q.lead = answered(s.before(i), q.text)
		}
		if q.lead != "" {
			q.note = ", in answer to your lines after >" + q.note
		}
		list = append(list, q)
	}
	slices.Reverse(list)
	slices.Reverse(more)
	return list, more
}

// said is what the user says in item i, without what the client put in: its own texts, and what stands for a command of
// the user's behind that.
func (s *Span) said(i int) string {
	if k := s.Plan.Hist.ResultAt[i]; k >= 0 && s.Plan.Hist.Results[k].Kind == activity.Ask {
		return strings.TrimSpace(s.Plan.TextOf(i))
	}
	if s.item(i).Role != conversation.User {
		return ""
	}
	before := ""
	if i > 0 && s.item(i-1).Role == conversation.User {
		before = s.Plan.TextOf(i - 1)
	}
	var own []string
	for _, t := range plan.TextsOf(s.Plan, i) {
		t = conversation.OwnWords(t)
		if isBody := isCommand.MatchString(before); t != "" && !isBody && !ofClient.MatchString(t) {
			own = append(own, t)
		}
		before = t
	}
	return strings.Join(own, "\n")
}

// named finds the option that a reply names, and option finds where a line of a list begins with one.
var (
	named  = regexp.MustCompile(`(?i)(?:^|\b(?:option|choice|number|approach) )(\d\d?|[a-h])(?:[\s.,:)]|$)`)
	option = regexp.MustCompile(`(?i)^[\s|>*_(#-]*(?:option |choice |approach )?(\d\d?|[a-h])[*_]*\s*[.):|–—-]`)
)

// before is what the agent said last before the user's item i.
func (s *Span) before(i int) string {
	for k := i - 1; k >= max(0, i-8) && s.item(k).Role != conversation.User; k-- {
		if text := strings.TrimSpace(s.Plan.TextOf(k)); text != "" && s.item(k).Role == conversation.Assistant {
			return text
		}
	}
	return ""
}

// answered are the lines of the agent's message that a short reply answers: the option that it names and the last
// question near the end, quoted; nothing if there is neither.
func answered(message, reply string) (lead string) {
	const words, longest, near = 12, 400, 6
	if len(strings.Fields(reply)) > words || len(reply) > longest || strings.HasSuffix(reply, "?") || isCommand.MatchString(reply) {
		return ""
	}
	pick, question := named.FindStringSubmatch(reply), ""
	lines := strings.Split(message, "\n")
	for n, l := range slices.Backward(lines) {
		m := option.FindStringSubmatch(l)
		switch quoted := "> " + strings.TrimRight(l, " \t\r") + "\n"; {
		case len(l) > longest:
		case pick != nil && m != nil && lead == "" && strings.EqualFold(m[1], pick[1]):
			lead = quoted
		case question == "" && len(lines)-n <= near && strings.HasSuffix(strings.TrimRight(l, " *_`\")"), "?"):
			question = quoted
		}
	}
	return lead + question
}
