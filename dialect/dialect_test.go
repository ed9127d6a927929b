package dialect

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/conversation"
	"epitome/tokenize"
)

func TestDialectsAreToldByTheirBodies(t *testing.T) {
	f := func(name, body, want string) {
		t.Helper()
		if d, err := Of(name, []byte(body)); err != nil || d.API().Name != want {
			t.Errorf("%q, %s: %v, %v; want %s", name, body, d, err, want)
		}
	}
	const plain, both = `{"messages":[{"role":"user","content":"a"}]}`,
		`{"system":"b","messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}]}`
	f("", plain, "chat")
	f("", both, "messages")
	f("messages", plain, "messages")
	f("chat", both, "chat")
	f("", `{"messages":[{"role":"system","content":"b"}]}`, "chat")
	f("", `{"thinking":{"type":"enabled"},"tools":[{"type":"function","function":{"name":"ls"}}],"messages":[]}`,
		"chat")
	f("", `{"model":"m","input":[{"role":"user","content":"a"}]}`, "responses")
	f("", `hello`, "chat")
	if _, err := Of("latin", []byte(plain)); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}

// A body that is odd enough to be read otherwise by its server is left alone, with the reason.
func TestOddBodiesAreErrors(t *testing.T) {
	f := func(name, body, want string) {
		t.Helper()
		d, _ := Of(name, nil)
		if _, err := conversation.Read(d, []byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %.80q: error %v, want one that says %q", name, body, err, want)
		}
	}
	deep := strings.Repeat("[", 1_000_000)
	for name, list := range map[string]string{"chat": `"messages"`, "messages": `"messages"`, "responses": `"input"`} {
		f(name, ``, "not a JSON object")
		f(name, `[]`, "not a JSON object")
		f(name, `{`+list+`:[{"role":"user"`, "not JSON")
		f(name, `{`+list+`:[]} x`, "not JSON")
		for _, body := range []string{`{"model":"m"}`, `{` + list + `:{}}`, `{` + list + `:null}`} {
			f(name, body, "no list of "+strings.Trim(list, `"`))
		}
		f(name, `{`+list+`:[{"role":"user"},7]}`, "item 1: it is not a JSON object")
		f(name, `{`+list+`:[{"role":"user","role":"system"}]}`, "item 0: a key stands twice")
		f(name, `{"a":`+deep, "too deep")
		f(name, `{`+list+`:[{"a":`+deep, "too deep")
		f(name, `{`+list+`:[],"a":[`+strings.Repeat("0,", 700_000)+`0]}`, "more than 700000 commas")
		d, _ := Of(name, nil)
		table := `{` + list + `:[{"role":"user","content":"` + strings.Repeat(`\"0,`, 700_001) + `"}]}`
		if _, err := conversation.Read(d, []byte(table), nil); err != nil {
			t.Errorf("%s, a text with many commas: %v", name, err)
		}
	}
	f("chat", `{"messages":[{"role":"assistant","tool_calls":[{"id":"1","id":"2"}]}]}`, "twice")
	f("chat", `{"mess\u0061ges":[]}`, "escapes")
	f("messages", `{"messages":[{"role":"user","content":[{"type":"text","type":"x"}]}]}`, "twice")
}

func TestPathsSayWhatIsAskedFor(t *testing.T) {
	f := func(name, path string, serves, counts, compacts bool) {
		t.Helper()
		api, _ := Of(name, nil)
		d, p := api.API(), []byte(path)
		if d.Serves(p) != serves || d.Counts(p) != counts || d.Compacts(p) != compacts || !d.Serves([]byte(d.Path)) {
			t.Errorf("%s, %s: %v, %v, %v", name, path, d.Serves(p), d.Counts(p), d.Compacts(p))
		}
	}
	f("chat", "/api/v1/chat/completions", true, false, false)
	f("messages", "/api/anthropic/v1/messages", true, false, false)
	f("messages", "/v1/messages/count_tokens", false, true, false)
	f("messages", "/v1/threads/t/messages", false, false, false) // another API
	f("responses", "/openai/v1/responses", true, false, false)   // Azure
	f("responses", "/v1/responses/input_tokens", false, true, false)
	f("responses", "/backend-api/codex/responses/compact", false, false, true)
}

// A request has the same count however its client escapes letters: providers read the JSON. Else a summary may be larger
// than the calls that it stands for.
func TestEscapesOfLettersAreNotCounted(t *testing.T) {
	count := func(letters string) int {
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":"%s"},{"role":"assistant","content":[{"type":
			"tool_use","id":"t","name":"write","input":{"a\\u003cb":["%[1]s\n\u0001\""]}}]}]}`,
			strings.Repeat(letters, 20))
		d, _ := Of("messages", nil)
		r, err := conversation.Read(d, []byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Count(conversation.Scale{Model: tokenize.ModelOf("m"), Memo: tokenize.NewMemo(9), Ratio: 1})
		return r.Items[0].Size.Total() + r.Items[1].Size.Total()
	}
	if plain, escaped := count("<ok> 数据 🙂 "), count(`\u003Cok\u003e \u6570\u636E \ud83d\ude42 `); plain != escaped {
		t.Errorf("%d tokens, and %d with escapes", plain, escaped)
	}
}

// A text has the same count whatever stands before it, so that a memo may keep it.
func TestTextsCountTheSameEverywhere(t *testing.T) {
	var counts [2]int
	for i, before := range []string{"", strings.Repeat("0 ", 1<<20)} {
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":%q},{"role":"user","content":%q}]}`, before,
			strings.Repeat("word ", 10_000)+strings.Repeat("zqxj9", 10_000))
		d, _ := Of("chat", nil)
		r, _ := conversation.Read(d, []byte(body), nil) // plain data
		r.Count(conversation.Scale{Model: tokenize.ModelOf("m"), Memo: tokenize.NewMemo(9), Ratio: 1})
		counts[i] = r.Items[1].Size.Total()
	}
	if counts[0] != counts[1] {
		t.Errorf("%d tokens, and %d behind a million others", counts[0], counts[1])
	}
}
