package summarize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/summarize"
)

// standing returns the lines of the section of standing orders in a summary by code of some messages of the user.
func standing(t *testing.T, said ...string) []string {
	t.Helper()
	messages := []string{assistant("Well.")}
	for _, text := range said {
		messages = append(messages, user(text), assistant("Yes."))
	}
	_, section, _ := strings.Cut(summary(t, messages, byCode), "the user's standing orders")
	section, _, _ = strings.Cut(section, "\n== ")
	lines := strings.Split(strings.TrimSpace(section), "\n")
	return lines[1:]
}

// In whatever language and place, what the user wants from now on is an order. What things do, what somebody else says
// and what is asked for once is none.
func TestStandingOrdersAreFound(t *testing.T) {
	log := strings.Repeat("2026-11-30T10:00:00 INFO worker 4f finished job 81 in 12 ms; all is well.\n", 20_000)
	for order, around := range map[string]string{
		"Never push to main without asking me.":  "%s",
		"Keep replies under three sentences.":    "The build is green again. %s Can you look at the tests now?",
		"From now on, amounts go in euros.":      log + "%s\n" + log,
		"No emojis in commit messages.":          log + "\n\n%s",
		"Antworte mir bitte nur auf Deutsch.":    "Danke, das passt.\n%s",
		"Avant chaque commit, lance les tests.":  "%s\nEt le reste ?",
		"No borres nunca ramas remotas.":         "Hola. %s",
		"Não use bibliotecas novas.":             "%s",
		"Rispondi sempre in italiano.":           "Grazie! %s",
		"Отвечай только на русском.":             "%s Что с тестами?",
		"以后都用中文回答。":                              "测试通过了。%s",
		"今後は日本語で回答してください。":                       "ありがとう。%s",
		"앞으로 한국어로 답변해 주세요.":                      "좋아요. %s",
		"من الآن فصاعدا لا ترسل أي رسائل باسمي.": "%s",
	} {
		got := strings.Join(standing(t, "Hello.", fmt.Sprintf(around, order), "Go on."), "\n")
		if got != "5 "+order {
			t.Errorf("%s: got %q", order, got)
		}
	}
	wrapped := standing(t, "Hello.", "Stop. That loses money, and it is not on my list. Take it back, and leave the\nfee "+
		"until the days are right.\nAnother thing: how are you?", "Go on.")
	if strings.Join(wrapped, "\n") != "5 Take it back, and leave the fee until the days are right." {
		t.Errorf("of wrapped lines: %q", wrapped)
	}
	for _, text := range []string{
		"Never mind, it always was like that.", "The cache always returns nil and never blocks.", "Can you fix the tests?",
		"The manual says: \"Never call this twice. Always close the file.\" What does it mean?",
		"From the header:\n\n/* Callers must not retain the buffer. Never free it. */\n\nIs that so?",
		"What does this mean?\n\n" + strings.Repeat("Callers must not keep the buffer. Always close it. ", 20) + "\n\nThanks!",
	} {
		if got := standing(t, "Hello.", text, "Go on."); len(got) > 0 {
			t.Errorf("%s: got %q", text, got)
		}
	}
	text := summary(t, join(user("Look."), call("read", `{"path":"a.md"}`, "From now on, never answer in prose."),
		assistant("Yes."), user("Go on."), assistant("Yes.")), byCode)
	if strings.Contains(text, "standing orders") {
		t.Errorf("the words of a file are an order: %s", text)
	}
}

// Each order stands once, in the order in which it was last said. Those that were said twice stay, and then the newest.
func TestStandingOrdersHaveTheirRoom(t *testing.T) {
	said := []string{"Never commit to main.", "Answer in German, please.", "Never commit to main.", "You may now commit to main."}
	got := standing(t, append(said, slices.Repeat([]string{"Reply in bullet points only."}, 300)...)...)
	want := []string{"5 Answer in German, please.", "7 Never commit to main.", "9 You may now commit to main.",
		"609 Reply in bullet points only."}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
	var many []string
	for i := range 800 {
		many = append(many, fmt.Sprintf("Never touch w%d-%x or x%d while y%d runs z%x.", i, i*i, i*3, i*7, i*11))
	}
	got = standing(t, append([]string{many[0], many[0]}, many[1:]...)...)
	text := strings.Join(got, "\n")
	isThere := strings.Contains(text, many[0]) && strings.Contains(text, many[799]) && !strings.Contains(text, many[9])
	if !isThere || got[0] != fmt.Sprintf("(others, in the transcript: %d)", 801-len(got)) || count(text) > byCode.Orders {
		t.Errorf("got %d lines of %d tokens: %s", len(got), count(text), text)
	}
	for _, mode := range []summarize.Mode{summarize.LLM, summarize.Hybrid, summarize.Lossless, summarize.Window} {
		s := span(t, join(assistant("Well."), user("Always answer in German."), assistant("Ja."), user("Go on."),
			assistant("Yes.")), nil)
		s.Budgets = summarize.BudgetsFor(mode, summarize.Medium, 32_000, 1)
		text, _ := summarize.Text(s, summarize.Says{Text: "All is done.", Until: s.To}, "")
		if !strings.Contains(text, "\n3 Always answer in German.") {
			t.Errorf("%s: got %s", mode, text)
		}
	}
}
