package responses

import (
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Every kind of output gives way to a text in its own form, and can be made again.
func TestOutputsGiveWayToATextInTheirOwnForm(t *testing.T) {
	f := func(call, was, want string, at conversation.Place) {
		t.Helper()
		r := mustRead(t, task, call, was, done)
		it := &r.Items[2]
		v := r.WholeContent(it)
		if at != conversation.WholeContent {
			v = r.TextSpans(it)[0]
		}
		out, err := span.Splice(r.Body, []span.Edit{{Span: v, With: Dialect{}.Value(nil, v.Of(r.Body), at, "a \"stub\"")}})
		if err != nil || string(out) != bodyOf(task, call, want, done) {
			t.Errorf("got\n%s\nwant\n%s (%v)", out, bodyOf(task, call, want, done), err)
			return
		}
		if back, err := read(string(out)); err != nil || conversation.Worse(r, back) != nil {
			t.Errorf("%s: %v, %v", out, err, conversation.Worse(r, back))
		}
	}
	as := func(output string) string {
		return `{"type":"function_call_output","call_id":"1","output":` + output + `,"status":"completed"}`
	}
	const whole = conversation.WholeContent
	f(call, as(`"long"`), as(`"a \"stub\""`), whole)
	f(call, as(`[{"type":"input_text","text":"long","prompt_cache_breakpoint":{}}]`), as(`[{"type":"input_text","text":"a \"stub\"","prompt_cache_breakpoint":{}}]`), whole)
	f(call, as(`[{"type":"input_text","text":"a"}, {"type":"input_image","image_url":"u"}]`), as(`[{"type":"input_text","text":"a \"stub\""}]`), whole)
	f(call, as(`[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"b":1}},{"type":"input_text","text":"c"}]`),
		as(`[{"type":"input_text","text":"a \"stub\"","prompt_cache_breakpoint":{"b":1}}]`), whole)
	f(call, as(`[{"type":"input_text","text":"a","prompt_cache_breakpoint":null},{"type":"input_text","text":"c"}]`),
		as(`[{"type":"input_text","text":"a \"stub\""}]`), whole)
	shell := `{"type":"shell_call","call_id":"1","action":{}}`
	chunks := func(a, b, c string) string {
		return `{"type":"shell_call_output","call_id":"1","output":[ {"stdout":` + a + `, "stderr":` + b +
			`,"outcome":{"type":"exit","exit_code":1}},{"outcome":{"type":"timeout"},"stdout":` + c + `}],"max_output_length":9}`
	}
	f(shell, chunks(`"x"`, `"y"`, `"z"`), chunks(`"a \"stub\""`, `""`, `""`), whole)
	local := `{"type":"local_shell_call","id":"ls_1","call_id":"1","action":{}}`
	f(local, `{"type":"local_shell_call_output","id":"ls_1","output":"{\"output\":\"x\"}","status":"completed"}`,
		`{"type":"local_shell_call_output","id":"ls_1","output":"\"a \\\"stub\\\"\"","status":"completed"}`, conversation.EncodedText)
}

func TestInputsOfCallsStayWhatTheyAre(t *testing.T) {
	f := func(was, text, want string) {
		t.Helper()
		if got := string((Dialect{}).Value(nil, []byte(was), conversation.CallInput, text)); got != want {
			t.Errorf("%s becomes %s, want %s", was, got, want)
		}
	}
	f(`"{\"a\":1}"`, `{"a":2}`, `"{\"a\":2}"`)
	f(`{"a":1}`, `{"a":2}`, `{"a":2}`)
}

func TestTextsComeBehindWhatTheUserSays(t *testing.T) {
	f := func(was, want string) {
		t.Helper()
		r := mustRead(t, was)
		e, ok := Dialect{}.Append(r, &r.Items[0], "\nb")
		if ok != (want != "") {
			t.Errorf("%s: a text can be put behind it: %v", was, ok)
		}
		if !ok {
			return
		}
		got, err := span.Splice(r.Body, []span.Edit{e})
		if err != nil || string(got) != bodyOf(want) {
			t.Errorf("got %s, want %s (%v)", got, bodyOf(want), err)
		}
	}
	f(`{"role":"user","content":"a"}`, `{"role":"user","content":"a\nb"}`)
	f(`{"role":"user","content":[{"type":"input_text","text":"a"} ],"id":"x"}`, `{"role":"user","content":[{"type":"input_text","text":"a"} ,{"type":"input_text","text":"\nb"}],"id":"x"}`)
	f(`{"role":"user","content":[ ]}`, "")
	f(`{"role":"user"}`, "")
	f(done, "")
	f(`{"role":"developer","content":"a"}`, "")
}

func TestMessagesAreMadeForWhomTheyCanBeMade(t *testing.T) {
	f := func(role conversation.Role, want string) {
		t.Helper()
		got := Dialect{}.Message(role, "a\n")
		if string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if want == "" {
			return
		}
		r, err := Dialect{}.ReadMessage(got)
		if err != nil || len(r.Items) != 1 || r.Items[0].Role != role || len(mustRead(t, string(got)).Flaws()) > 0 {
			t.Errorf("%s is read back as %v (%v)", got, r.Items, err)
		}
	}
	f(conversation.User, `{"type":"message","role":"user","content":[{"type":"input_text","text":"a\n"}]}`)
	f(conversation.System, `{"type":"message","role":"developer","content":[{"type":"input_text","text":"a\n"}]}`)
	f(conversation.Assistant, "") // its id is the server's to give
}

// Promise 7: a link names exactly the items of its prefix, but for what moves by itself.
func TestChainNamesThePrefixAndNothingElse(t *testing.T) {
	link := func(body string) conversation.Link {
		t.Helper()
		r, err := read(body)
		if err != nil {
			t.Fatal(err)
		}
		chain := r.ChainFrom(nil)
		return chain[len(chain)-1]
	}
	l := bodyOf
	f := func(same bool, a, b string) {
		t.Helper()
		if (link(a) == link(b)) != same {
			t.Errorf("the links of %v and %v are the same: %v", a, b, !same)
		}
	}
	user := func(parts string) string {
		return `{"type":"message","id":"msg_7","role":"user","content":[` + parts + `]}`
	}
	text := func(s string) string { return `{"type":"input_text","text":"` + s + `"}` }
	again := strings.NewReplacer(`"rs_1"`, `"rs_2"`, `"fc_1"`, `"fc_2"`)

	f(true, l(task), l(user(text("do"))))
	f(true, l(task), `{"input":"do"}`)
	f(true, l(task), l(`{"type":"developer"}`[:0]+`{"role":"developer","content":"it is 10:00"}`, task))
	f(true, l(user(text("a")+","+text("b"))), l(user(strings.TrimSuffix(text("a"), "}")+`,"prompt_cache_breakpoint":{"mode":"explicit"}},`+text("b"))))
	f(true, l(task, reasoned, call, output), l(task, again.Replace(reasoned), again.Replace(call), output))
	f(true, l(task, reasoned, call, output), l(task, call, output)) // clients send it back or do not
	f(true, l(task, output), l(task, `{"output":[{"text":"r","type":"input_text"}],"type":"function_call_output","id":"fco_9","call_id":"1"}`))
	f(true, l(`{"role":"assistant","content":[{"type":"output_text","text":"done","annotations":[],"logprobs":[]}]}`), l(done))

	f(false, l(task), l(user(text("do "))))
	f(false, l(task), `{"input":"do "}`)
	f(false, l(task), l(strings.Replace(task, "user", "assistant", 1)))
	f(false, l(call), l(strings.Replace(call, `"call_id":"1"`, `"call_id":"2"`, 1)))
	f(false, l(output), l(strings.Replace(output, `"call_id":"1"`, `"call_id":"2"`, 1)))
	f(false, l(task, `{"id":"rs_1"}`), l(task, `{"id":"rs_2"}`))
	f(false, l(task, `{"type":"local_shell_call_output","id":"1","output":"{}"}`), l(task, `{"type":"local_shell_call_output","id":"2","output":"{}"}`))
	f(false, l(user(text("do")+`,{"type":"input_image","image_url":"a"}`)), l(user(text("do")+`,{"type":"input_image","image_url":"b"}`)))
	f(false, l(task), `{"input":[`+task+`],"previous_response_id":"resp_1"}`)
	f(false, `{"input":[`+task+`],"previous_response_id":"resp_2"}`, `{"input":[`+task+`],"previous_response_id":"resp_1"}`)
	f(false, l(task, `{"type":"compaction","encrypted_content":"a"}`), l(task, `{"type":"compaction","encrypted_content":"b"}`))
}

func TestWhoElseKeepsTheConversationIsKnown(t *testing.T) {
	f := func(settings string, want conversation.Keeper, entries ...string) {
		t.Helper()
		r, err := read(`{"input":[` + strings.Join(entries, ",") + `]` + settings + `}`)
		if err != nil || r.Upkeep.By != want {
			t.Errorf("%s %s: %v (%v), want %v", settings, entries, r.Upkeep.By, err, want)
		}
	}
	f("", conversation.NobodyElse, task)
	f(`,"previous_response_id":"resp_1"`, conversation.ProviderRemembers, output)
	f(`,"previous_response_id":null,"conversation":null,"prompt":null`, conversation.NobodyElse, task)
	f(`,"conversation":{"id":"conv_1"}`, conversation.ProviderRemembers, task)
	f(`,"prompt":{"id":"pmpt_1"}`, conversation.ProviderRemembers, task)
	f(`,"context_management":[{"type":"compaction","compact_threshold":9}]`, conversation.ProviderClears, task)
	f(`,"context_management":[]`, conversation.NobodyElse, task)
	f(`,"truncation":"auto","store":true`, conversation.NobodyElse, task)
	f("", conversation.ClientSummarises, task, `{"type":"compaction_trigger"}`)
	f("", conversation.ClientSummarises, task, `{"role":"user","content":[{"type":"input_text","text":"You are performing a CONTEXT CHECKPOINT COMPACTION. Do"}]}`)
	f("", conversation.ClientSummarises, task, `{"role":"user","content":"Please create a detailed summary of the conversation so far. The"}`)
	f(`,"client_metadata":{"x-codex-turn-metadata":"{\"request_kind\":\"compaction\"}"}`, conversation.ClientSummarises, task)
	f(`,"client_metadata":{"x-codex-turn-metadata":"{\"request_kind\":\"turn\"}"}`, conversation.NobodyElse, task)
}

func TestTheHeadEndsBehindAProvidersCompaction(t *testing.T) {
	f := func(fixed, dead, preface int, entries ...string) {
		t.Helper()
		r := mustRead(t, entries...)
		u := r.Upkeep
		if u.Fixed != fixed || conversation.Dead(r) != dead || u.Preface != preface {
			t.Errorf("%s: %d items are fixed, %d dead, %d the client's; want %d, %d and %d",
				entries, u.Fixed, conversation.Dead(r), u.Preface, fixed, dead, preface)
		}
	}
	const made, where = `{"type":"compaction","encrypted_content":"gA"}`, `{"role":"user","content":"<environment_context>here</environment_context>"}`
	const rules = `{"role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"}]}`
	f(0, 0, 0, task, call, output)
	f(4, 3, 0, task, call, output, made, task)
	f(2, 0, 0, task, made, task) // what the provider kept of the user's words
	f(2, 0, 1, task, made, where, task)
	f(0, 0, 2, where, rules, task, call, output)
	f(0, 0, 0, where, call, output)
}
