package messages

import (
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

func spliced(tb testing.TB, r *conversation.Request, edits ...jsonspan.Edit) string {
	tb.Helper()
	out, err := jsonspan.Splice(r.Body, edits)
	if err != nil || !jsonspan.Valid(out) {
		tb.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestReplaceContent(t *testing.T) {
	const keeps = `"is_error":true,"toolset_name":"x","cache_control":{"type":"ephemeral","ttl":"1h"}`
	of := func(content string) string { return `{"type":"tool_result","tool_use_id":"1",` + content + `}` }
	image := `{"type":"image","source":{"type":"url","url":"u"}}`
	for _, c := range []struct{ was, want string }{
		{of(keeps + `,"content":"long"`), of(keeps + `,"content":"stub"`)},
		{of(`"content":[` + marked(text("long")) + `]`), of(`"content":[` + marked(text("stub")) + `]`)},
		{of(`"content":[` + text("a") + `, ` + image + `]`), of(`"content":"stub"`)},
		{of(`"content":[` + text("a") + `,` + marked(image) + `]`), of(`"content":"stub"`)},
		{text("a"), text("stub")},
		{text("a") + ", " + marked(text("b")), text("stub")},
		{image, text("stub")},
	} {
		r := mustRead(t, task, said(call), user(result2, c.was))
		got := spliced(t, r, r.Dialect.ReplaceContent(r, &r.Items[3], "stub")...)
		if want := bodyOf(task, said(call), user(result2, c.want)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	r := mustRead(t, task)
	if got := spliced(t, r, r.Dialect.ReplaceContent(r, &r.Items[0], "stub")...); !strings.Contains(got, `"content":"stub"`) {
		t.Error(got)
	}
}

func TestDroppedItemsLeaveAllElse(t *testing.T) {
	r := mustRead(t, task, said(thought, text("so"), call), user(result, result2, text("go")), done, task)
	for _, c := range []struct {
		drop conversation.Drop
		want string
	}{
		{conversation.Drop{First: 2, Count: 1}, bodyOf(task, said(thought, text("so"), call), user(result2, text("go")), done, task)},
		{conversation.Drop{First: 1, Count: 4}, bodyOf(task, done, task)},
		{conversation.Drop{First: 1, Count: 5, Message: Dialect{}.UserMessage("sum")},
			bodyOf(task, `{"role":"user","content":"sum"}`, task)},
	} {
		edits, err := conversation.DropItems(r, []conversation.Drop{c.drop})
		if err != nil {
			t.Fatal(err)
		}
		if got := spliced(t, r, edits...); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	want := bodyOf(task, said(text("so"), call), user(result, result2, text("go")), done, task)
	if got := spliced(t, r, conversation.DropThinking(r, &r.Items[1])...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ was, want string }{
		{task, `{"role":"user","content":"do\nmore"}`},
		{user(text("a") + " "), user(text("a"), text(`\nmore`)+" ")},
		{user(result, `{"type":"image"}`), user(result, `{"type":"image"}`, text(`\nmore`))},
		{user(), ""},
		{user(`{"type":"hologram"}`), ""},
		{user(result), ""},
		{done, ""},
		{aside, ""},
	} {
		r := mustRead(t, c.was)
		e, ok := r.Dialect.Append(r, &r.Items[len(r.Items)-1], "\nmore")
		if ok != (c.want != "") || ok && spliced(t, r, e) != bodyOf(c.want) {
			t.Errorf("%s: %v, %s", c.was, ok, e.With)
		}
	}
}

func TestAppendSystem(t *testing.T) {
	for was, want := range map[string]string{
		`{"messages":[` + task + `]}`:                              `{"system":"more","messages":[` + task + `]}`,
		`{"system":null,"messages":[` + task + `]}`:                `{"system":"more","messages":[` + task + `]}`,
		`{"system":"s","messages":[` + task + `]}`:                 `{"system":"s\n\nmore","messages":[` + task + `]}`,
		`{"system":[` + text("s") + `],"messages":[` + task + `]}`: `{"system":[` + text("s") + `,` + text("more") + `],"messages":[` + task + `]}`,
	} {
		r, err := read(was)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := r.Dialect.AppendSystem(r, "more")
		if got := spliced(t, r, e); !ok || got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
