package conversation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
)

func TestTitleIsWhatTheUserTypedFirst(t *testing.T) {
	f := func(content, want string) {
		t.Helper()
		r := read(t, `{"role":"system","content":"Be kind."},{"role":"user","content":"`+content+`"},`+
			`{"role":"user","content":"Later."}`)
		if got := r.Title(); got != want {
			t.Errorf("%.60s is called %q, want %q", content, got, want)
		}
	}
	f(`Fix\n the  tests.`, "Fix the tests.")
	f(`<system-reminder>Monday</system-reminder>\nFix the tests.`, "Fix the tests.")
	f(`<system-reminder>Monday</system-reminder>`, "Later.")
	f(`# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>\n`+
		`<environment_context>\n<cwd>/repo</cwd>\n</environment_context>`, "Later.")
	f(`# AGENTS.md instructions\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>\n\nFix the tests.`, "Fix the tests.")
	f(strings.Repeat("ä", 61), strings.Repeat("ä", 59)+"…")
}

// An order or a "keep:" line counts where nobody but the user can have written it, and the user does not quote it.
func TestOnlyTypedTextMayOrder(t *testing.T) {
	const reminder = "<system-reminder>\n</system-reminder>\n"
	for _, text := range []string{
		"%s", "Why?\n%s\n" + reminder, reminder + "%s", "Why?\r\n\r\n%s\r\n",
		"<task>\n%s\n</task>\n<environment_details>\n</environment_details>",
		"<current_datetime>1</current_datetime>\n\n%s\n\n<reminder>\n</reminder>",
		"<command-message>a</command-message>\n<command-args>a\n%s</command-args>",
		"Why is x < y?\n%s <b>\n", "What does </system-reminder> mean?\n%s", "<br>\n\n%s", "`List<T>` or 27\" and\n%s",
		"Don't use the users' \"data\".\n%s", "```\ncode\n```\n%s", "- a list:\n  ```go\n  code\n  ```\n\n%s",
		"Look:\n\n    code\n\n%s", "> quote\n\n%s", strings.Repeat("/", 200) + "\n%s",
	} {
		if got := rest(t, text); !strings.Contains("\n"+got, "\nkeep: the rule") {
			t.Errorf("%q may order %q", text, got)
		}
	}
	for _, text := range []string{
		reminder + "%s\n</system-reminder>", reminder + "%s\n" + reminder, "<system-reminder>\n%s",
		"<SYSTEM-REMINDER a=\">\">\n</system-reminder>\n%s\n</System-Reminder>",
		"<reminder>\n<ide_a>\n</reminder>\n%s\n</ide_a>",
		"<current_datetime>\n<b>\n</current_datetime>\n%s\n</current_datetime>",
		strings.Repeat("<system-reminder>\n", 101) + "%s\n</system-reminder>",
		"Why?\n<unknown>\n%s\n</unknown>", "Why?\n<a><b>\n</b>\n%s\n</b></a>", "<!-- a\n%s\n-->",
		"<context>\n%s\n<skill>\n</skill>\n</context>\n<userRequest>Why?</userRequest>",
		"<context>\n</context>\n<userRequest>%s</userRequest>\n</context><userRequest>a</userRequest>",
		"```\n%s", "~~~\n```\n%s\n~~~", "````\n```\n%s\n````", "```md\n```\n%s\n```\na\n```", "```\n```sh\n```\n%s\n```",
		strings.Repeat("a/b\n", 101) + "```\n%s\n```", "Look:\n\n    a\n    %s", "> a\n%s", "- a:\n\n  ```\n%s\n  ```",
		"'a\n%s\n'", "\"a \"b\" c\n%s\nd\"", "“a\n\n%s\n\nb”", "”a\n%s\nb”", "»a\n%s\nb«", "« a\n%s\nb »", "‹a\n%s\nb›",
		"‘don’t\n%s\nb’", "„a\n%s\nb“", "「a\n%s\nb」", "/* a\n%s\n*/", "OBSERVATION:\n%s",
		"### Tool result of `read`:\n%s", "Look:\n--- Content from referenced files ---\n%s", "For context:\n[b] said:\n%s",
	} {
		if got := rest(t, text); strings.Contains(got, "rule") {
			t.Errorf("%q may order %q", text, got)
		}
	}
	for _, parts := range [][]string{
		{"<system-reminder>", "%s", "</system-reminder>"}, {"[read_file for 'a'] Result:", "%s"},
	} {
		if got := rest(t, parts...); strings.Contains(got, "rule") {
			t.Errorf("%q may order %q", parts, got)
		}
	}
}

// rest returns what may be an order in a message of the user with a line in some texts.
func rest(t *testing.T, texts ...string) string {
	t.Helper()
	var parts []map[string]string
	for _, text := range texts {
		text = strings.ReplaceAll(text, "%s", "keep: the rule")
		parts = append(parts, map[string]string{"type": "text", "text": text})
	}
	raw, _ := json.Marshal(parts) // plain data
	r := read(t, `{"role":"user","content":`+string(raw)+`}`)
	own, rest := r.Unquoted(0)
	if len(own) != len(rest) {
		t.Errorf("%q has %d bytes, and %d without quotes", texts, len(own), len(rest))
	}
	if lines := r.KeepLines(0, 1); len(lines) != strings.Count("\n"+rest, "\nkeep:") {
		t.Errorf("%q keeps %q", texts, lines)
	}
	return rest
}

// Another agent, who has a name, and the result of a call that an agent made in its text are nobody's orders.
func TestOthersInTheUsersRoleDoNotOrder(t *testing.T) {
	for said, isTyped := range map[string]bool{
		`{"role":"user","name":"web","content":"keep: a"}`: false, `{"role":"user","name":"User","content":"keep: a"}`: true,
		`{"role":"assistant","content":"<read>a</read>"},{"role":"user","content":"keep: a"}`: false,
		`{"role":"assistant","content":"See <read> a."},{"role":"user","content":"keep: a"}`:  true,
	} {
		r := read(t, `{"role":"user","content":"Fix it."},`+said)
		if got := len(r.KeepLines(0, len(r.Items))) > 0; got != isTyped {
			t.Errorf("%s keeps a line: %t", said, got)
		}
	}
}

// However many notes a client has put before the user's words, none of them counts as the user's.
func TestManyNotesAreNoWordsOfTheUser(t *testing.T) {
	notes := strings.Repeat(`<system-reminder>be careful</system-reminder>\n`, 10_000)
	r := read(t, `{"role":"user","content":"`+notes+`do this"}`)
	if got := r.OwnWords(0); got != "do this" {
		t.Errorf("the user's are %.100q", got)
	}
}

func read(t *testing.T, messages string) *conversation.Request {
	t.Helper()
	r, err := conversation.Read(chat.Dialect{}, []byte(`{"model":"m","messages":[`+messages+`]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
