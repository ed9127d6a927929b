package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
)

// takesBack reports whether a message of the span, or behind it, has the result of a command of git.
func (s *spanFacts) takesBack(message int, command string) bool {
	callers := s.was.Callers()
	for i := s.from; i < len(s.was.Items); i++ {
		at := callers[i-s.was.Head]
		if s.was.Items[i].Role != conversation.Tool || conversation.NumberOf(s.was, i) != message || at < 0 {
			continue
		}
		for _, c := range s.was.Items[s.was.Head+at].Calls {
			called := oneLine(action.ArgumentTexts(c.ArgumentsIn(s.was.Body), c.FreeText))
			if strings.Contains(command, "git ") && strings.Contains(called, oneLine(strings.TrimSuffix(command, "…"))) {
				return true
			}
		}
	}
	return false
}

// summarised is the summary of an agent's work of which the last step stands behind it, and the number of that message.
func summarised(t *testing.T, first, last func(a *agent)) (text string, message int) {
	t.Helper()
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.limits.KeepTail = 600
	first(a)
	for _, tokens := range []int{3_000, 400} {
		a.says("", fmt.Sprintf("make %d", tokens), a.output(tokens)+"exit code: 0")
	}
	last(a)
	text, _ = summaryIn(t, a.compactNow(t))
	return text, len(a.items) - 1
}

// A command may end behind the span: how it ended is told, but the line that says so stands there anyway.
func TestOfAResultBehindTheSpanNoLineIsTold(t *testing.T) {
	text, _ := summarised(t, func(a *agent) {
		a.does("exec_command", `{"cmd":"make shop"}`, "Process running with session ID 7\nOutput:\ncompiling\n")
	}, func(a *agent) {
		a.does("write_stdin", `{"session_id":7,"chars":""}`, "Process exited with code 0\nOutput:\nok  \tshop/ledger\t0.010s\n")
	})
	if got := partOf(text, "commands"); !strings.Contains(got, "ended with exit code 0:\nmake 3000\nmake shop") ||
		strings.Contains(got, "0.010s") {
		t.Errorf("%s", text)
	}
}

// What takes an edit back may stand behind the span, too, and is told with its message.
func TestAnEditMayBeTakenBackBehindTheSpan(t *testing.T) {
	text, message := summarised(t, func(a *agent) {
		a.does("edit", `{"path":"shop/init.py","old":"import logging","new":"import decimal"}`, "edited")
	}, func(a *agent) {
		a.says("", "git stash && git checkout main", "Saved working directory and index state\nSwitched to branch 'main'")
	})
	row := fmt.Sprintf("taken back since, if git had the file:\nshop/init.py, message %d: git stash && git checkout main", message)
	if !strings.Contains(partOf(text, "files"), row) {
		t.Errorf("%s", text)
	}
}
