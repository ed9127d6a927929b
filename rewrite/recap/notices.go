package recap

import (
	"strings"
	"unicode"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/past"
)

// notices are what the client says of tasks that have ended, by the names of these, to the end of what is decided: the
// newest of each. Of one behind the span no word is told: it stands there anyway.
func notices(s *past.Span) map[string]string {
	list := map[string]string{}
	for i := s.From; i < s.Plan.End; i++ {
		if s.ItemAt(i).Role != conversation.User {
			continue
		}
		for _, text := range plan.TextsOf(s.Plan, i) {
			n, ok := conversation.NoticeIn(text)
			if !ok || n.Status == "running" {
				continue
			}
			if i >= s.To {
				n.Summary = ""
			}
			list[n.Task] = n.Summary
		}
	}
	return list
}

// noticeOf is the sentence in which the client says that a task has ended; empty if it is long or of several lines.
func (c *calls) noticeOf(task string) (sentence string, hasEnded bool) {
	const longest = 300 // bytes
	sentence, hasEnded = c.notices[task]
	if len(sentence) > longest || strings.ContainsFunc(sentence, unicode.IsControl) {
		sentence = ""
	}
	return sentence, hasEnded
}
