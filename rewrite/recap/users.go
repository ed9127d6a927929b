package recap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// ofClient matches texts in the user's messages that their client put there.
var ofClient = regexp.MustCompile(`(?s)^\s*(?:<(?:system-reminder|task-notification|local-command-\w+|bash-\w+|` +
	`environment_\w+|skill|turn_aborted|subagent_notification|user-prompt-submit-hook)\b|` +
	`<command-(?:name|message)>.*<command-args>\s*</command-args>\s*$|` +
	`Caveat: The messages below|Base directory for this skill: |\[Request interrupted by user)`)

// isCommand matches a command that the user typed, for which the client puts a long text behind it.
var isCommand = regexp.MustCompile(`^\s*<command-message>`)

// users writes the newest messages of the user that fit, oldest first, and which others there are.
func (s *summary) users() {
	const frame, maxOthers = 14, 20 // tokens of a message and of the line above it; numbers of those left out
	var list, others []string
	called, isNewest, users, latest := byResult(s.Calls), true, s.Budgets.Users, s.Budgets.Latest
	for i := s.End - 1; i >= s.From; i-- {
		it, text, media := &s.Request.Items[i], "", ""
		switch c := called[i]; {
		case it.Role == conversation.User:
			text, media = s.ownWords(i), it.Media()
		case c != nil && c.Kind == activity.Ask:
			text = strings.TrimSpace(s.Request.TextOf(it))
		}
		if text == "" && media == "" {
			continue
		}
		note, room := "", &users
		if isNewest && i < s.To {
			note, room = ", the newest: go on with it unless it is done", &latest
		}
		if isNewest = false; i >= s.To {
			continue
		}
		if text == "" || len(text) > 8**room || frame+s.Count(text) > *room { // tokens of 8 bytes are rare
			others = append(others, fmt.Sprint(s.number[i]))
			continue
		}
		*room -= frame + s.Count(text)
		if media != "" {
			note += ", with " + media + ", not shown here"
		}
		question := s.question(i, text)
		if question != "" {
			note = ", in answer to your lines after >" + note
		}
		list = append(list, fmt.Sprintf("-- %s: message %d%s\n%s%s\n", s.id, s.number[i], note, question, text))
	}
	if n := len(others) - maxOthers; n > 0 {
		others = append(others[:maxOthers], fmt.Sprintf("and %d older ones", n))
	}
	if len(others) > 0 {
		list = append(list, fmt.Sprintf("-- %s: not shown here: message %s\n", s.id, strings.Join(others, ", ")))
	}
	slices.Reverse(list)
	s.section("the user's messages, word for word, oldest first; rules in them still hold", strings.Join(list, ""))
}

// ownWords is what the user says in item i, without what the client put in: notices, and the text behind a command.
func (s *summary) ownWords(i int) string {
	before := ""
	if i > 0 && s.Request.Items[i-1].Role == conversation.User {
		before = s.Request.TextOf(&s.Request.Items[i-1])
	}
	var own []string
	for _, p := range s.Request.Items[i].Parts {
		if p.Kind != conversation.TextPart {
			continue
		}
		text := conversation.OwnWords(string(jsonspan.TextOf(p.Value.Of(s.Request.Body))))
		if text != "" && !isCommand.MatchString(before) && !ofClient.MatchString(text) {
			own = append(own, text)
		}
		before = text
	}
	return strings.Join(own, "\n")
}

// optionNamed matches a reply that names an option, and option the line that offers one.
var (
	optionNamed = regexp.MustCompile(`(?i)(?:^|\b(?:option|choice|number|approach) )(\d\d?|[a-h])(?:[\s.,:)]|$)`)
	option      = regexp.MustCompile(`(?i)^[\s|>*_(#-]*(?:option |choice |approach )?(\d\d?|[a-h])[*_]*\s*[.):|–—-]`)
)

// question returns the lines of the agent's that the user's item i answers, if it is short: the option that it names,
// and the last question near the end, quoted.
func (s *summary) question(i int, reply string) (lines string) {
	const maxWords, maxBytes, near = 12, 400, 6
	isShort := len(reply) <= maxBytes && len(strings.Fields(reply)) <= maxWords
	if !isShort || strings.HasSuffix(reply, "?") || isCommand.MatchString(reply) ||
		s.Request.Items[i].Role != conversation.User {
		return ""
	}
	picked, asked := optionNamed.FindStringSubmatch(reply), ""
	said := strings.Split(s.saidBefore(i), "\n")
	for n, l := range slices.Backward(said) {
		l = strings.TrimRight(l, " \t\r")
		offered := option.FindStringSubmatch(l)
		switch {
		case len(l) > maxBytes:
		case picked != nil && offered != nil && lines == "" && strings.EqualFold(offered[1], picked[1]):
			lines = "> " + l + "\n"
		case asked == "" && len(said)-n <= near && strings.HasSuffix(strings.TrimRight(l, "*_`\") "), "?"):
			asked = "> " + l + "\n"
		}
	}
	return lines + asked
}

// saidBefore is what the agent said last before item i.
func (s *summary) saidBefore(i int) string {
	const near = 8 // items
	for k := i - 1; k >= max(0, i-near) && s.Request.Items[k].Role != conversation.User; k-- {
		text := strings.TrimSpace(s.Request.TextOf(&s.Request.Items[k]))
		if text != "" && s.Request.Items[k].Role == conversation.Assistant {
			return text
		}
	}
	return ""
}
