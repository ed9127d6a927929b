package responses

import (
	"strings"
	"testing"

	"epitome/dialect/conversation"
)

const (
	task     = `{"role":"user","content":"do"}`
	reasoned = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],` +
		`"encrypted_content":"gA"}`
	call   = `{"type":"function_call","id":"fc_1","call_id":"1","name":"a","arguments":"{}"}`
	output = `{"type":"function_call_output","call_id":"1","output":"r"}`
	other  = `{"type":"function_call","call_id":"2","name":"a","arguments":""}`
	second = `{"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"r"}]}`
	done   = `{"role":"assistant","content":"done"}`
	odd    = `{"type":"hologram"}`
	shell  = `{"type":"local_shell_call","id":"ls_1","call_id":"1","action":{"command":["ls"]}}`
)

func bodyOf(entries ...string) string {
	return `{"model":"gpt-5.6","input":[` + strings.Join(entries, ",") + `]}`
}

func mustRead(tb testing.TB, body string) *conversation.Request {
	tb.Helper()
	r, err := conversation.Read(Dialect{}, []byte(body), nil)
	if err != nil {
		tb.Fatalf("%.200s: %v", body, err)
	}
	return r
}

func TestWhoElseShortensTheConversation(t *testing.T) {
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
		`{"role":"user","content":[{"type":"input_text",`+
			`"text":"You are performing a CONTEXT CHECKPOINT COMPACTION. Do"}]}`)
	f(`,"client_metadata":{"x-codex-turn-metadata":"{\"request_kind\":\"compaction\"}"}`,
		conversation.ClientSummarizes, "", task)
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
	f(true, l(`{"role":"developer","content":"10:00"}`, task), l(`{"role":"developer","content":"11:00"}`, task))
	f(true, l(user(part+image)), l(user(strings.TrimSuffix(part, "}")+`,"prompt_cache_breakpoint":{}}`+image)))
	f(true, l(task, reasoned, call, output), l(task, strings.Replace(call, "fc_1", "fc_2", 1), output))

	f(false, l(task), l(strings.Replace(task, "do", "do ", 1)))
	f(false, l(shell, `{"type":"local_shell_call_output","id":"1","output":"{}"}`),
		l(shell, `{"type":"local_shell_call_output","id":"2","output":"{}"}`))
	f(false, l(user(part+image)), l(user(part+strings.Replace(image, `"a"`, `"b"`, 1))))
	f(false, l(task), `{"input":[`+task+`],"previous_response_id":"resp_1"}`)
	f(true, `{"input":[`+task+`],"instructions":"a"}`, `{"input":[`+task+`],"instructions":"b"}`)
}
