package spoken

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/bench/cputime"
)

func TestShortRepliesAreToldWithWhatTheyAnswer(t *testing.T) {
	f := func(message, reply string, want ...string) {
		t.Helper()
		if got := leadOf(message, reply); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q to %.60q answers %q, want %q", reply, message, got, want)
		}
	}
	const list = "Two ways are left.\n\n1. Keep the lock.\n2. Drop the lock.\n\nWhich one shall I take?\n"
	f(list, "2", "2. Drop the lock.", "Which one shall I take?")
	f(list, "the second", "2. Drop the lock.", "Which one shall I take?")
	f(list, "2 does seem right, though we may want to improve on it in some later release", "2. Drop the lock.",
		"Which one shall I take?")
	f(list, "neither", "Which one shall I take?")
	f(list, "3", "Which one shall I take?")
	f(list, "Rewrite the whole of the parser so that it reads the file only once.")
	f(list, strings.Repeat("2 is good. ", 30))
	f("| # | Title |\n|---|---|\n| 5 | Review |\n| 7 | Clean up |\n\n---\n\nReply with a number.", "7", "| 7 | Clean up |")
	f("**Option A:** wait.\n**Option B:** go.\n", "option b", "**Option B:** go.")
	f("I have read it.\nShall I push it now?\n\n- it has 3 commits", "yes", "Shall I push it now?")
	f("All tests pass. Next is the release.", "go on", "All tests pass. Next is the release.")
	f("All tests pass. Next is the release.", "commit it all")
	f("It is done. What would you like to work on?", "the docs")
	f(list, "2. Strengthen the tests of refunds - add three cases")
	f("設定を直しました。再起動してよろしいですか。", "はい", "設定を直しました。再起動してよろしいですか。")
	f("配置已修复，要重启服务吗？", "好的", "配置已修复，要重启服务吗？")
	f("Der Dienst läuft. Soll ich ihn neu starten?", "ja, bitte", "Der Dienst läuft. Soll ich ihn neu starten?")
	f("Служба работает.", "да", "Служба работает.")
	f("", "yes")
	f("Shall I?", "")
}

func TestRepliesAreReadInLinearTime(t *testing.T) {
	text := strings.Repeat("1. a row? ", 1<<18) + strings.Repeat("\n7. row", 1<<18)
	if got := leadOf(text, "7"); len(got) != 1 || got[0] != "7. row" {
		t.Errorf("%.200q", got)
	}
}

func TestCommandsAreToldAsTheUserTypedThem(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, ok := commandIn(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q", text, got)
		}
	}
	f("<command-message>shop:check</command-message>\n<command-name>/shop:check</command-name>", "/shop:check")
	f("<command-name>/review</command-name>\n  <command-message>review</command-message>\n  <command-args>pull 7</command-args>",
		"/review pull 7")
	f("<bash-input>ls -l</bash-input>", "!ls -l")
	f("What does <command-name>/review</command-name> do?", "")
	f("<command-name>/review</command-name> is what I typed", "")
	f("<command-name>", "")
	f("<command-name>/skill:x</command-name><skill-format>true</skill-format>", "/skill:x")
	// what the user writes beside it is not lost
	f("<bash-input>ls -l</bash-input>\nMend what it shows.", "")
	f("<command-name>/review</command-name>\nMend it, and close each <p>", "")
	f("", "")
}

func TestNotesOfClientsAreNoWordsOfTheUser(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		if isNote(text) != want {
			t.Errorf("%q is a note: %v", text, !want)
		}
	}
	f("[Request interrupted by user for tool use]", true)
	f("<turn_aborted>\nThe user stopped it.\n</turn_aborted>", true)
	f("Base directory for this skill: /skills/pdf\n\nAlways use it.", false)
	f("<turn_aborted> is what I see", false)
	f("Why was the [Request interrupted by user]?", false)
	if !isSkill("Base directory for this skill: /skills/pdf\n\nAlways use it.") || isSkill("Use a <skill>") ||
		!isSkill("<skill>\n<name>pdf</name>\nAlways use it.\n</skill>") {
		t.Error("what a skill says is not the user's, and what the user says of one is")
	}
}

func TestAnswersAreReadAsClientsHandThemOn(t *testing.T) {
	f := func(arguments, said, lead, words string) {
		t.Helper()
		a := handedOn([]byte(arguments), said)
		if got := strings.Join(a.lead, "|"); got != lead || a.words != words {
			t.Errorf("%s: %q to %q, want %q to %q", said, a.words, got, words, lead)
		}
	}
	const one, two = `{"questions":[{"question":"Which port?"}]}`, `{"questions":[{"id":"p","question":"Which port?"},{"id":"h","question":"Which host?"}]}`
	f(one, `User has answered your questions: "Which port?"="8080". You can now continue with the user's answers in mind.`,
		"Which port?", "8080")
	f(one, `User has answered your questions: "Which port?"="say "no"" user notes: say "no". You can now continue with the user's answers in mind.`,
		"Which port?", `say "no"`)
	f(two, `User has answered your questions: "Which port?"="8080", "Which host?"="north". You can now continue with the user's answers in mind.`,
		"Which port?", "8080\n> Which host?\nnorth")
	f(two, `{"answers":{"h":{"answers":["north"]},"p":{"answers":["8080","the old one"]}}}`, "Which port?",
		"8080\nthe old one\n> Which host?\nnorth")
	f(two, "It was left open.", "Which port?|Which host?", "It was left open.")
	f(`{"question":"How far?","choices":["a"]}`, "User responded: not far", "How far?", "not far")
	f(`{"question":"How far?"}`, "<answer>\nnot far\n</answer>", "How far?", "not far")
	f(`{"question":"How far?"}`, "use <answer>far</answer>, and never more", "How far?", "use <answer>far</answer>, and never more")
	f(`{"question":"How far?"}`, "<answer>\nclose with </answer>\n</answer>", "How far?", "close with </answer>")
	f(`{"question":"How far?"}`, "Consider it.\n<feedback>\nnot far\n</feedback>\n", "How far?", "not far")
	f(`{"plan":"# Plan\n\n1. Mend it.\n"}`, "User has approved your plan. You can now start coding.\n\nMore.", "# Plan|1. Mend it.",
		"User has approved your plan. You can now start coding.")
	f("{}", "{", "", "{")
}

// Sixteen times as many answers take about sixteen times as long.
func TestAnswersByTheirIDsAreReadInLinearTime(t *testing.T) {
	least := func(n int) time.Duration {
		var asked, said strings.Builder
		for k := range n {
			fmt.Fprintf(&asked, `,{"id":"q%d"}`, k)
			said.WriteString(`"z":1,`)
		}
		arguments := []byte(`{"questions":[{"question":"Which?"}` + asked.String() + `]}`)
		result := `{"answers":{` + said.String() + `"y":1}}`
		best := time.Hour
		for range 9 {
			var words string
			best = min(best, cputime.Of(func() { words = handedOn(arguments, result).words }))
			if words != result {
				t.Fatalf("%.80q", words)
			}
		}
		return best
	}
	if few, many := least(1_000), least(16_000); many > 80*few { // 256 times if each question reads all
		t.Errorf("%v, and for sixteen times as many %v", few, many)
	}
}

func TestRulesInOtherLanguagesGoFirst(t *testing.T) {
	for _, rule := range []string{
		"Regel für alles: in der Produktion wird nichts gelöscht", "Règle : la base attend 18 h", "No toques nunca la cola",
		"La regra: não apagar mensagens", "Никогда не очищай таблицу", "ルール: 本番には書き込まないこと", "规则：不要删除主题", "항상 먼저 물어봐",
	} {
		all := []Quote{{Item: 1, Text: rule}, {Item: 2, Text: "and now the pages"}, {Item: 3, Text: "und jetzt die Seiten"}}
		if got := byRank(all); got[0].Text != rule {
			t.Errorf("%q goes behind %q", rule, got[0].Text)
		}
	}
}
