package summarize_test

import (
	"reflect"
	"strings"
	"testing"

	"epitome/dialect/activity"
	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/dialect/messages"
	"epitome/dialect/responses"
	"epitome/summarize"
)

// Calls that the provider ran stand in transcripts and lists of calls like others, with how they ended. To all that
// pairs calls with results they are a part of the answer.
func TestCallsThatTheProviderRan(t *testing.T) {
	f := func(dialect conversation.Dialect, list, items string, lines ...string) {
		t.Helper()
		s := spanOf(t, dialect, `{"model":"m","`+list+`":[`+items+`]}`)
		r, calls, end := s.Request, s.Calls, s.To
		if flaws := r.Check().Flaws; len(flaws) > 0 {
			t.Errorf("%s: %q", dialect.API().Name, flaws)
		}
		transcript := string(summarize.Transcript(r, calls, 0, end, "source"))
		id := transcript[1:9]
		if got := strings.ReplaceAll(transcript, id, "id"); !has(got, lines...) {
			t.Errorf("%s: the transcript is\n%s", dialect.API().Name, got)
		}
		if strings.Contains(transcript, "AAAA") {
			t.Errorf("%s: the transcript has what is encrypted", dialect.API().Name)
		}
		text, _ := summarize.Text(s, summarize.Says{}, "")
		for _, row := range []string{"next.js cache", "id:7", "make"} {
			if dialect.API().Name != "chat" && !strings.Contains(text, row) {
				t.Errorf("%s: the list of calls has no %s:\n%s", dialect.API().Name, row, text)
			}
		}
		grown, err := conversation.Read(dialect, []byte(`{"model":"m","`+list+`":[`+items+`,{"role":"user","content":"More."}]}`), r)
		if err != nil || grown.Reused == 0 {
			t.Fatal(err, grown.Reused)
		}
		if got, want := activity.Of(grown, calls), calls; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: after another message the calls are\n%+v\nnot\n%+v", dialect.API().Name, got, want)
		}
		said := ""
		for _, e := range summarize.Entries(r, calls, r.Head, end) {
			said += e.Speaker + "\n"
		}
		if !has(said, "call of run", "message 3: result of run `make all`, failed, exit code 2") {
			t.Errorf("%s: the speakers are\n%s", dialect.API().Name, said)
		}
	}
	f(messages.Dialect{}, "messages", `{"role":"user","content":"Go."},{"role":"assistant","content":[
		{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"next.js cache"}},
		{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"Cache life",
			"url":"https://a.example/b","encrypted_content":"AAAA"}]},
		{"type":"server_tool_use","id":"s2","name":"web_fetch","input":{"url":"https://a.example/b"}},
		{"type":"web_fetch_tool_result","tool_use_id":"s2","content":{"type":"web_fetch_tool_result_error",
			"error_code":"url_not_accessible"}},
		{"type":"mcp_tool_use","id":"s3","name":"issue","server_name":"hub","input":{"id":7,"state":"open"}},
		{"type":"mcp_tool_result","tool_use_id":"s3","is_error":true,
			"content":[{"type":"text","text":"No such issue"}]},
		{"type":"server_tool_use","id":"s4","name":"bash_code_execution","input":{"command":"make"}},
		{"type":"bash_code_execution_tool_result","tool_use_id":"s4","content":{"type":"bash_code_execution_result",
			"stdout":"no rule","stderr":"","return_code":3,"content":[]}},
		{"type":"server_tool_use","id":"s5","name":"web_search","input":{"query":"later"}},
		{"type":"tool_use","id":"c1","name":"run","input":{"command":"make all"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"exit code 2"}]},
		{"role":"assistant","content":"So."}`,
		"[id: call of run]", "make all",
		"[id: call of web_search, ok]", "next.js cache", "Cache life",
		"https://a.example/b", "[id: call of web_fetch, failed]", "https://a.example/b", "url_not_accessible",
		"[id: call of hub.issue, failed]", "7", "open", "No such issue",
		"[id: call of bash_code_execution, failed, exit code 3]", "make", "no rule",
		"[id: call of web_search, unclear]", "later",
		"[id: message 3: result of run `make all`, failed, exit code 2]")
	f(responses.Dialect{}, "input", `{"role":"user","content":"Go."},
		{"type":"reasoning","id":"r","summary":[]},
		{"type":"web_search_call","id":"s1","status":"completed","action":{"type":"search","query":"next.js cache"}},
		{"type":"file_search_call","id":"s2","status":"completed","queries":["rates","fees"],
			"results":[{"file_id":"f","text":"Fees are 3 %"}]},
		{"type":"mcp_call","id":"s3","server_label":"hub","name":"issue","arguments":"{\"id\":7,\"state\":\"open\"}",
			"output":null,"error":"No such issue"},
		{"type":"mcp_call","id":"s4","server_label":"hub","name":"close","arguments":"{}",
			"status":"completed","output":"done"},
		{"type":"function_call","call_id":"c1","name":"run","arguments":"{\"command\":\"make all\"}"},
		{"type":"code_interpreter_call","id":"s5","status":"failed","code":"print(1)","container_id":"c",
			"outputs":[{"type":"logs","logs":"no memory"}]},
		{"type":"mcp_call","id":"s6","name":"poll","arguments":"{}","status":"in_progress"},
		{"type":"function_call_output","call_id":"c1","output":"exit code 2"},
		{"role":"assistant","content":"So."}`,
		"[id: call of run]", "make all",
		"[id: call of web_search, ok]", "next.js cache",
		"[id: call of file_search, ok]", "rates", "fees", "Fees are 3 %",
		"[id: call of hub.issue, failed]", "7", "open", "No such issue",
		"[id: call of hub.close, ok]", "done",
		"[id: call of code_interpreter, failed]", "print(1)", "no memory",
		"[id: call of poll, unclear]",
		"[id: message 3: result of run `make all`, failed, exit code 2]")
	f(chat.Dialect{}, "messages", `{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"command\":\"make all\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"exit code 2"},{"role":"assistant","content":"So."}`,
		"[id: call of run]", "make all", "[id: message 3: result of run `make all`, failed, exit code 2]")
}
