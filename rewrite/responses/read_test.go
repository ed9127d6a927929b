package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

const (
	task     = `{"role":"user","content":"do"}`
	reasoned = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gA"}`
	call     = `{"type":"function_call","id":"fc_1","call_id":"1","name":"a","arguments":"{}"}`
	output   = `{"type":"function_call_output","call_id":"1","output":"r"}`
	other    = `{"type":"function_call","call_id":"2","name":"a","arguments":""}`
	second   = `{"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"r"}]}`
	done     = `{"role":"assistant","content":"done"}`
	odd      = `{"type":"hologram"}`
	shell    = `{"type":"local_shell_call","id":"ls_1","call_id":"1","action":{"command":["ls"]}}`
)

func bodyOf(entries ...string) string {
	return `{"model":"gpt-5.6","input":[` + strings.Join(entries, ",") + `]}`
}

func mustRead(tb testing.TB, body string) *conversation.Request {
	tb.Helper()
	r, err := Dialect{}.Read([]byte(body), nil)
	if err != nil {
		tb.Fatalf("%.200s: %v", body, err)
	}
	return r
}

// describe writes what was read of an item in one line.
func describe(r *conversation.Request, it *conversation.Item) string {
	line := it.Role.String()
	for _, p := range it.Parts {
		kind := [...]string{"other", "text", "image", "audio", "file"}[p.Kind]
		line += fmt.Sprintf(" %s %s", kind, p.Value.Of(r.Body))
	}
	for _, c := range it.Calls {
		line += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Arguments.Of(r.Body))
	}
	if it.Role == conversation.Tool {
		line += " of " + it.Name + " answers " + it.Answers
	}
	for _, m := range it.Marks {
		line += fmt.Sprintf(" mark %s", m.Of(r.Body))
	}
	for _, flag := range []struct {
		is   bool
		name string
	}{
		{it.StartsAnswer, "starts"}, {it.Locked, "locked"}, {it.Compaction, "compaction"},
		{it.IsError, "failed"}, {!it.Content.Empty(), "replaceable"},
	} {
		if flag.is {
			line += " " + flag.name
		}
	}
	return line
}

func TestEntriesBecomeItems(t *testing.T) {
	f := func(want string, entries ...string) {
		t.Helper()
		r, got := mustRead(t, bodyOf(entries...)), []string{}
		for i := range r.Items {
			got = append(got, describe(r, &r.Items[i]))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", entries, strings.Join(got, "; "), want)
		}
	}
	user := func(parts string) string { return `{"type":"message","role":"user","content":[` + parts + `]}` }
	f(`user text "do" replaceable`, task)
	f(`user text "a" text "b" mark ,"prompt_cache_breakpoint":{} replaceable`,
		user(`{"type":"input_text","text":"a"}, {"type":"text","text":"b","prompt_cache_breakpoint":{}}`))
	f(`user image "u" image "f" file "d" audio "s" other {"x":1} replaceable`,
		user(`{"type":"input_image","image_url":"u"},{"type":"input_image","image_url":null,"file_id":"f"},`+
			`{"type":"input_file","file_data":"d"},{"type":"input_audio","input_audio":{"data":"s"}},{"x":1}`))
	f(`system text "a" replaceable`, `{"type":"message","role":"developer","content":"a"}`)
	f(`unknown text "x" locked replaceable`, `{"role":"critic","content":"x"}`)
	f(`system other {"type":"additional_tools","tools":[]} locked`, `{"type":"additional_tools","tools":[]}`)
	// An answer is one item.
	f(`assistant text "done" call 1 a "{}" call 2 a "" starts; `+
		`tool text "r" of  answers 2 replaceable`, reasoned, done, call, other, second)
	f(`assistant text "done" text "no" starts`, done, `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`)
	f(`assistant call 1 m.x "y" starts`, `{"type":"custom_tool_call","call_id":"1","namespace":"m","name":"x","input":"y"}`)
	f(`assistant other {"type":"web_search_call"} image "iVBO" starts`,
		`{"type":"web_search_call"},{"type":"image_generation_call","result":"iVBO"}`)
	f(`assistant call 2 x "{}" starts locked`,
		`{"type":"function_call","call_id":"2","name":"x","arguments":"{}","async":true}`)
	// Results.
	f(`tool text "r" of monitor answers  failed replaceable`,
		`{"type":"function_call_output","name":"monitor","output":"r","status":"incomplete"}`)
	f(`assistant call 1 local_shell {"command":["ls"]} starts; tool text "\"x\"" of  answers 1 replaceable`,
		shell, `{"type":"local_shell_call_output","id":"1","output":"\"x\""}`)
	f(`assistant call 1 local_shell {"command":["ls"]} starts; tool of  answers 1`,
		shell, `{"type":"local_shell_call_output","id":"1"}`)
	f(`tool text "a" text "b" of  answers 1 replaceable`,
		`{"type":"shell_call_output","call_id":"1","output":[{"stdout":"a","stderr":"b","outcome":{"type":"timeout"}}]}`)
	f(`tool image "u" of  answers 1`,
		`{"type":"computer_call_output","call_id":"1","output":{"type":"computer_screenshot","image_url":"u"}}`)
	// What a program calls continues the program's answer, and what is encrypted is not shown.
	f(`assistant call p program  starts; tool text "r" of  answers 0 replaceable; `+
		`assistant call 1 x "{}"; tool of  answers p`,
		`{"type":"program","call_id":"p","code":"secret"}`, strings.Replace(output, `"1"`, `"0"`, 1),
		`{"type":"function_call","call_id":"1","name":"x","arguments":"{}","caller":{"caller_id":"p"}}`,
		`{"type":"program_output","call_id":"p","result":"x"}`)
	f(`unknown locked compaction`, `{"type":"compaction","encrypted_content":"gA"}`)
	// Without a search for tools they are gone, so it stays with the answers around it, as all unknown entries do.
	const search, found = `{"type":"tool_search_call","call_id":"1"}`, `{"type":"tool_search_output","call_id":"1"}`
	f(`assistant text "done" other `+search+` other `+found+` call 1 a "{}" starts locked; `+
		`tool text "r" of  answers 1 replaceable`, done, search, found, call, output)
	// An unknown entry within an answer is a part of it, and locks it.
	f(`user text "do" replaceable; unknown other {"type":"hologram"} locked; user text "do" replaceable`, task, odd, task)
	f(`assistant other {"id":"rs_1"} call 1 a "{}" starts locked; tool text "r" of  answers 1 replaceable`,
		`{"id":"rs_1"}`, call, output)
}

func TestReadsSettings(t *testing.T) {
	r := mustRead(t, ` { "stream":true, "input" : [ `+task+` ], "instructions":"be good", "model" : "gpt-\u0035",`+
		`"max_output_tokens":100,"tools":[{"x":1}],"truncation":"auto","reasoning":{"effort":"low"},"text":null}`)
	got := fmt.Sprintf("%s %v %d %s %s %d %v", r.Model, r.Stream, r.MaxOutput, r.Tools.Of(r.Body), r.System.Of(r.Body),
		len(r.Settings), r.Truncates)
	if want := `gpt-5 true 100 [{"x":1}] "be good" 1 true`; got != want || len(r.Prompts) != 1 {
		t.Errorf("got %s, want %s", got, want)
	}
	f := func(settings string, want conversation.Upkeep, state string, entries ...string) {
		t.Helper()
		r := mustRead(t, `{"input":[`+strings.Join(entries, ",")+`]`+settings+`}`)
		if got := string(r.ServerState.Of(r.Body)); r.Upkeep != want || got != state {
			t.Errorf("%s %s: upkeep %d, state %s; want %d, %s", settings, entries, r.Upkeep, got, want, state)
		}
	}
	f(`,"previous_response_id":null,"context_management":[],"truncation":"auto"`, conversation.NobodyElse, "", task)
	f(`,"previous_response_id":"resp_1","prompt":{"id":"p"}`, conversation.ProviderRemembers, `"resp_1"`, output)
	f(`,"conversation":{"id":"c"}`, conversation.ProviderRemembers, `{"id":"c"}`, task)
	f(`,"context_management":[{"compact_threshold":9}]`, conversation.ProviderClears, "", task)
	f("", conversation.ClientSummarizes, "", task, `{"type":"compaction_trigger"}`)
	f("", conversation.ClientSummarizes, "", task,
		`{"role":"user","content":[{"type":"input_text","text":"You are performing a CONTEXT CHECKPOINT COMPACTION. Do"}]}`)
	f(`,"client_metadata":{"x-codex-turn-metadata":"{\"request_kind\":\"compaction\"}"}`,
		conversation.ClientSummarizes, "", task)
}

func TestHeadEndsWhereTheModelSpeaks(t *testing.T) {
	f := func(lead, head int, entries ...string) {
		t.Helper()
		r := mustRead(t, bodyOf(entries...))
		if r.Lead != lead || r.Head != head {
			t.Errorf("%s: lead %d, head %d; want %d, %d", entries, r.Lead, r.Head, lead, head)
		}
	}
	const rules, made = `{"role":"developer","content":"x"}`, `{"type":"compaction","encrypted_content":"gA"}`
	const where = `{"role":"user","content":"<environment_context>x</environment_context>"}`
	f(1, 3, rules, where, task, call, output)
	f(0, 5, task, call, output, made, task)
	f(0, 3, task, made, task, call) // messages that the provider has kept
}

func TestRefusesWhatIsBetterLeftAlone(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if _, err := (Dialect{}).Read([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want one that says %q", body, err, want)
		}
	}
	f(``, "not a JSON object")
	f(`{"input":[`, "not JSON")
	f(`{"model":"m"}`, "no input")
	f(`{"input":{}}`, "not a list")
	f(`{"input":[7]}`, "item 0: it is not a JSON object")
	f(`{"input":[{"role":"user","role":"user"}]}`, "item 0: a key stands twice")
	f(bodyOf(`{"role":"user","content":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`), "too deep")
}

// Promise 7: a link names exactly the items of its prefix, except for what clients change on their own.
func TestChainNamesPrefix(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		last := func(body string) conversation.Link {
			chain := mustRead(t, body).Chain()
			return chain[len(chain)-1]
		}
		if (last(a) == last(b)) != same {
			t.Errorf("%s and %s have the same link: %v", a, b, !same)
		}
	}
	l := bodyOf
	user := func(parts string) string {
		return `{"type":"message","id":"m","role":"user","content":[` + parts + `]}`
	}
	const part, image = `{"type":"input_text","text":"do"}`, `,{"type":"input_image","image_url":"a"}`
	f(true, l(task), l(user(part)))
	f(true, l(task), `{"input":"do"}`)
	f(true, l(`{"role":"developer","content":"10:00"}`, task), l(`{"role":"developer","content":"11:00"}`, task))
	f(true, l(user(part+image)), l(user(strings.TrimSuffix(part, "}")+`,"prompt_cache_breakpoint":{}}`+image)))
	f(true, l(task, reasoned, call, output), l(task, strings.Replace(call, "fc_1", "fc_2", 1), output))
	f(true, l(second), l(`{"output":"r","type":"function_call_output","id":"fco_9","call_id":"2"}`))
	f(true, l(`{"role":"assistant","content":[{"type":"output_text","text":"done","annotations":[],"logprobs":[]}]}`), l(done))

	f(false, l(task), l(strings.Replace(task, "do", "do ", 1)))
	f(false, l(task), l(strings.Replace(task, "user", "assistant", 1)))
	f(false, l(call), l(strings.Replace(call, `"1"`, `"2"`, 1)))
	f(false, l(task, `{"id":"rs_1"}`), l(task, `{"id":"rs_2"}`))
	f(false, l(shell, `{"type":"local_shell_call_output","id":"1","output":"{}"}`),
		l(shell, `{"type":"local_shell_call_output","id":"2","output":"{}"}`))
	f(false, l(user(part+image)), l(user(part+strings.Replace(image, `"a"`, `"b"`, 1))))
	f(false, l(task), `{"input":[`+task+`],"previous_response_id":"resp_1"}`)
	f(false, `{"input":[`+task+`],"instructions":"a"}`, `{"input":[`+task+`],"instructions":"b"}`)
}

// A request that continues a known one is read as if nothing were known.
func TestReadsOnFromKnownRequest(t *testing.T) {
	var entries []string
	var known *conversation.Request
	var reused bool
	for _, more := range [...][]string{
		{task}, {reasoned, done}, {call}, {output, odd}, {other}, {done}, {second}, {task, done, odd, call}, {output},
		{strings.ReplaceAll(shell, "1", "3")}, {`{"type":"local_shell_call_output","id":"3","output":"\"x\""}`}, {done},
	} {
		entries = append(entries, more...)
		body := []byte(bodyOf(entries...))
		want := mustRead(t, string(body))
		got, err := Dialect{}.Read(body, known)
		if err != nil || fmt.Sprintf("%+v", got.Items) != fmt.Sprintf("%+v", want.Items) || got.Head != want.Head {
			t.Fatalf("%s (%v)\ngot  %+v\nwant %+v", body, err, got.Items, want.Items)
		}
		reused, known = reused || got.Reused > 2, got
	}
	if !reused {
		t.Error("no items were taken from a known request")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(bodyOf(task, reasoned, call, output, other, second, done)), []byte(bodyOf(task, reasoned, call, odd)))
	f.Add([]byte(bodyOf(shell, `{"type":"local_shell_call_output","id":7}`)), []byte(`{"input":"x"}`))
	f.Fuzz(func(t *testing.T, body, before []byte) {
		known, _ := Dialect{}.Read(before, nil)
		r, err := Dialect{}.Read(body, known)
		if err != nil {
			return
		}
		Dialect{}.Flaws(r)
		at, count := 0, 0
		for i := range r.Items {
			it := &r.Items[i]
			if it.Start < at || it.Start >= it.End || it.End > len(body) {
				t.Fatalf("item at %v behind %d", it.Span, at)
			}
			at = it.End
			list := fmt.Appendf(nil, "[%s]", it.Of(body))
			_, _ = jsonspan.Elements(list, 0, func(i int) (int, error) {
				count++
				return jsonspan.EndOfValue(list, i)
			})
			if _, err := jsonspan.Splice(body, Dialect{}.ReplaceContent(r, it, "x")); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.Chain()) != len(r.Items)+1 {
			t.Fatalf("%d links for %d items", len(r.Chain()), len(r.Items))
		}
		var std struct{ Input []json.RawMessage }
		if json.Unmarshal(body, &std) == nil && count != len(std.Input) {
			t.Fatalf("%d entries, encoding/json has %d", count, len(std.Input))
		}
	})
}
