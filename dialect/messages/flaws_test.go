package messages

import (
	"strings"
	"testing"
)

func TestFlaws(t *testing.T) {
	list := func(m ...string) string { return `"messages":[` + strings.Join(m, ",") + `]` }
	both := user(result, result2)
	const manual = `,"thinking":{"type":"enabled","budget_tokens":1024}`
	for _, c := range []struct{ want, body string }{
		{"", list(task, said(text("so"), call, call2), both, done, done)},
		{"", list(task, said(call, call2), user(result), user(result2, text("x")), done)}, // two messages are one
		{"unanswered (1) unanswered (2)", list(task, said(call, call2))},
		{"unanswered (2)", list(task, said(call, call2), user(result), done)},
		{"orphan (1)", list(task, user(result))},
		{"orphan (1)", list(task, said(call), user(result), user(result))},
		{"orphan (1)", list(task, said(call), user(result), done, user(result))},
		{"unanswered (1) orphan (1)", list(task, said(call), user(text("x"), result))},
		{"first", list(done, task)},
		{"nothing", list(task, said(), task)},
		{"", list(task, said())}, // the last one may be empty
		{"blank", list(user(text(` \n`)))},
		{"blank", list(task, said(call), user(`{"type":"tool_result","tool_use_id":"1","content":[`+text("")+`]}`))},
		{"", list(task, aside, aside, done, task, aside)},
		{"system", list(task, done, aside)},
		{"system first", list(aside, done)},
		{"", list(task, said(call), user(result), done) + manual},
		{"thinking", list(task, said(call), user(result)) + manual},
		{"", list(task, said(thought, call), user(result), said(thought, call2), user(result2)) + manual},
		{"thinking", list(task, said(call), user(result), said(thought, call2), user(result2)) + manual},
	} {
		r, err := read(`{` + c.body + `}`)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Check().Flaws {
			got = append(got, names.Replace(f))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s\nhas %s, want %s", c.body, got, c.want)
		}
	}
}

// names are the short names of flaws.
var names = strings.NewReplacer("a tool's result answers no call that waits for it", "orphan",
	"a call is not answered", "unanswered",
	"a message says nothing", "nothing", "a text is blank", "blank", "the first message is not the user's", "first",
	"a message of the system stands where none may", "system",
	"an answer with thoughts does not begin with one", "thinking")
