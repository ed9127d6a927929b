package rewrite

import (
	"regexp"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
)

// replied holds what the user says in answer to something: the lines with > before it are the agent's. What stands in a
// result is told as it stands there, and what a client put in for a command as well.
func (s *spanFacts) replied(number int, body, note, media string, latest bool) {
	s.Helper()
	if strings.Contains(note, "your client") {
		if words := s.textsOfAll(s.items(number, conversation.User)); !strings.Contains(words+"\n", body) {
			s.Fatalf("promise 8: message %d does not say %q", number, body)
		}
		return
	}
	results := s.items(number, conversation.Tool)
	agent := s.called + "\n" + s.saidBefore(number)
	isLead := true
	words := ""
	for l := range strings.Lines(body) {
		quote, quoted := strings.CutPrefix(strings.TrimSuffix(l, "\n"), "> ")
		if name, _, ok := strings.Cut(quote, " `"); quoted && ok && s.names[name] {
			continue // the call that was refused
		}
		if isLead = quoted && (isLead || len(results) > 0); !isLead {
			words += l
		} else if !strings.Contains(agent, quote) {
			s.Fatalf("promise 8: the agent does not say %q before message %d", quote, number)
		}
	}
	if len(results) == 0 {
		s.message(number, words, media, latest)
		return
	}
	for l := range strings.Lines(words) {
		if said := s.textsOfAll(results); !strings.Contains(said, strings.TrimSuffix(l, "\n")) {
			s.Fatalf("promise 8: the result in message %d does not say %q", number, l)
		}
	}
}

// saidBefore is what the agent says before a message.
func (s *spanFacts) saidBefore(number int) string {
	var all []string
	for i := range s.was.Items {
		if s.was.Items[i].Role == conversation.Assistant && conversation.NumberOf(s.was, i) < number {
			all = append(all, textsOf(s.was, &s.was.Items[i])...)
		}
	}
	return strings.Join(all, "\n")
}

// asTyped is a command as the user typed it, of the text that a client makes of it.
func asTyped(text string) string {
	if m := regexp.MustCompile(`(?s)^<bash-input>(.*)</bash-input>$`).FindStringSubmatch(text); m != nil {
		return "!" + m[1]
	}
	m := regexp.MustCompile(`(?s)<command-name>/?(.*?)</command-name>`).FindStringSubmatch(text)
	if m == nil {
		return text
	}
	line := "/" + m[1]
	if a := regexp.MustCompile(`(?s)<command-args>(.*?)</command-args>`).FindStringSubmatch(text); a != nil {
		line += " " + a[1]
	}
	return strings.TrimSpace(line)
}

// isOfClient reports whether a text in a user's message is a note of the client's.
func isOfClient(text string) bool {
	return strings.HasPrefix(text, "[Request interrupted by user") || strings.HasPrefix(text, "<turn_aborted>") ||
		ofCallInText.MatchString(text)
}

// ofCallInText finds what a client says of a call that stands in a text of the agent's.
var ofCallInText = regexp.MustCompile(`(?s)^(?:\[[a-z_]+(?: for .*)?\] Result:|I ran this command:\n|# \d+ SEARCH/REPLACE block|` +
	`I committed the changes with git hash |I have \*added these files)`)

// saysWithin reports whether what a client says of a call has words of the user's in an element.
func saysWithin(words, body string) bool {
	for _, name := range []string{"feedback", "answer", "user_message"} {
		if ofCallInText.MatchString(words) && strings.Contains(words, "<"+name+">\n"+body+"</"+name+">") {
			return true
		}
	}
	return false
}

// inTexts holds what is told of calls in texts of the agent's: under rows that epitome writes stand names of these, and
// whole lines of what the client says of them.
func (s *spanFacts) inTexts(body string) {
	s.Helper()
	all := make([]int, 0, s.to-s.from)
	for i := s.from; i < s.to; i++ {
		all = append(all, i)
	}
	said := s.textsOfAll(all)
	for l := range strings.Lines(body) {
		l = strings.TrimSuffix(l, "\n")
		quote, _ := strings.CutPrefix(l, "> ")
		name := regexp.MustCompile(`, message \d+$`).ReplaceAllString(quote, "")
		_, about, _ := strings.Cut(strings.TrimSuffix(name, "`"), " `")
		isGroup := !strings.HasPrefix(l, "> ") && strings.HasSuffix(l, ":") || sawMore.MatchString(l)
		if !isGroup && !strings.Contains(said, name) && !(about != "" && strings.Contains(said, about)) &&
			!strings.Contains(said, strings.Replace(name, " ", " & commit msg: ", 1)) {
			s.Fatalf("promise 8: no text of the span says %q", l)
		}
	}
}

// isBody reports whether item i is what a client puts behind a command that the user has typed.
func (s *spanFacts) isBody(i int) bool {
	return i > s.was.Head && s.was.Items[i-1].Role == conversation.User &&
		strings.Contains(strings.Join(textsOf(s.was, &s.was.Items[i-1]), "\n"), "<command-name>")
}

// tasks holds the agent's list of tasks: each is one that a call names.
func (s *spanFacts) tasks(body string) {
	s.Helper()
	all := ""
	for i := s.was.Head; i < len(s.was.Items); i++ {
		for _, c := range s.was.Items[i].Calls {
			all += action.ArgumentTexts(c.ArgumentsIn(s.was.Body), c.FreeText)
		}
	}
	head := regexp.MustCompile(`^(under way|open|done)(, the (first|last) \d+ of \d+(?: or more)?)?:$`)
	for l := range strings.Lines(body) {
		l = strings.TrimSuffix(l, "\n")
		quote, quoted := strings.CutPrefix(l, "> ")
		if quoted && !strings.Contains(all, strings.TrimSuffix(quote, "…")) || !quoted && !head.MatchString(l) {
			s.Fatalf("promise 8: no call has the task %q", l)
		}
	}
}

// calls reports whether a call of the span says a line, on one or on several that go on.
func (s *spanFacts) calls(line string) bool {
	return strings.Contains(oneLine(s.called), line) ||
		strings.Contains(oneLine(strings.ReplaceAll(s.called, "\\\n", " ")), line)
}

// inFull are the rows of a part with the beginning of commands that is told once above them.
func inFull(rows string) string {
	rest, is := strings.CutPrefix(rows, "… stands for:\n")
	entry, rest, _ := strings.Cut(rest, "\n")
	if !is {
		return rows
	}
	var s strings.Builder
	for l := range strings.Lines(rest) {
		if command, isShort := strings.CutPrefix(l, "… "); isShort {
			l = entry + " " + command
		}
		s.WriteString(l)
	}
	return s.String()
}

// oneLine is a text as a long line of a call is told: on one line, with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// items are those of a message of the span that have the role.
func (s *spanFacts) items(number int, role conversation.Role) (list []int) {
	for i := s.from; i < s.to; i++ {
		if s.was.Items[i].Role == role && conversation.NumberOf(s.was, i) == number {
			list = append(list, i)
		}
	}
	return list
}

// texts are those of all the items.
func (s *spanFacts) textsOfAll(items []int) string {
	var all []string
	for _, i := range items {
		all = append(all, textsOf(s.was, &s.was.Items[i])...)
	}
	return strings.Join(all, "\n")
}
