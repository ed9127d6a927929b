package responses

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/reply"
)

const asked = "Sum it\nup"

// asking is the message that asks.
func asking() string { return string(Dialect{}.Message(conversation.User, asked)) }

func TestConversationIsContinuedAndAllElseStays(t *testing.T) {
	f := func(form prose.Form, body, want string) {
		t.Helper()
		want = strings.ReplaceAll(want, "QUESTION", asking())
		got, err := Dialect{}.Continue([]byte(body), asked, form)
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	usual := prose.Form{MaxOutput: 900}
	told := string(Dialect{}.Message(conversation.System, asked))
	const end = `,"store":false,"max_output_tokens":900}`
	f(usual, `{"input":[]}`, `{"input":[QUESTION]`+end)
	f(usual, ` { "input" : [ ] } `, ` { "input" : [ QUESTION],"store":false,"max_output_tokens":900 } `)
	f(usual, `{"model":"m","input":[{"role":"user","content":"h\u0069"}],"temperature":0.70}`,
		`{"model":"m","input":[{"role":"user","content":"h\u0069"},QUESTION],"temperature":0.70`+end)
	// What the cache hangs on stays: instructions, tools, how much is thought, and the key.
	f(usual, `{"instructions":"i","input":[1],"tools":[{"x":1}],"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"low","summary":"auto"},"prompt_cache_key":"k","client_metadata":{"b":1,"a":2}}`,
		`{"instructions":"i","input":[1,QUESTION],"tools":[{"x":1}],"tool_choice":"none","parallel_tool_calls":true,"reasoning":{"effort":"low","summary":"auto"},"prompt_cache_key":"k","client_metadata":{"b":1,"a":2}`+end)
	f(usual, `{"input":[1],"tools":[{"x":1}],"tool_choice":{"type":"function","name":"x"}}`,
		`{"input":[1,QUESTION],"tools":[{"x":1}],"tool_choice":"none"`+end)
	f(usual, `{"input":[1],"tools":[{"x":1}]}`, `{"input":[1,QUESTION],"tools":[{"x":1}],"tool_choice":"none"`+end)
	f(usual, `{"input":[1],"tools":[],"tool_choice":"auto"}`, `{"input":[1,QUESTION],"tools":[]`+end)
	f(usual, `{"input":[{"type":"additional_tools","role":"developer","tools":[{"x":1}]}],"tool_choice":"auto"}`,
		`{"input":[{"type":"additional_tools","role":"developer","tools":[{"x":1}]},QUESTION],"tool_choice":"none"`+end)
	// What would keep the answer from being one plain text goes.
	f(usual, `{"stream":true,"input":[1],"stream_options":{"include_obfuscation":true},"background":false,"include":["x"],"truncation":"auto","context_management":[{"type":"compaction"}],"max_tool_calls":3,"metadata":{"a":"b"},"top_logprobs":3}`,
		`{"input":[1,QUESTION]`+end)
	f(usual, `{"input":[1],"previous_response_id":null,"conversation":null,"prompt":null}`,
		`{"input":[1,QUESTION]`+end)
	f(usual, `{"input":[1],"text":{"format":{"type":"json_schema"},"verbosity":"low"}}`, `{"input":[1,QUESTION],"text":{"verbosity":"low"}`+end)
	f(usual, `{"input":[1],"text":{"verbosity":"low", "format":{"type":"text"}}}`, `{"input":[1,QUESTION],"text":{"verbosity":"low"}`+end)
	f(usual, `{"input":[1],"text":{"format":{"type":"text"}}}`, `{"input":[1,QUESTION],"text":{}`+end)
	f(usual, `{"input":[1],"text":{ }}`, `{"input":[1,QUESTION],"text":{ }`+end)
	f(usual, `{"input":[1],"prompt_cache_options":{"mode":"explicit","prewarm":true}}`, `{"input":[1,QUESTION],"prompt_cache_options":{"mode":"explicit"}`+end)
	// The provider keeps nothing, and answers no longer than it is to.
	f(usual, `{"store":true,"max_output_tokens" : 5 ,"input":[1]}`, `{"store":false,"max_output_tokens" : 900 ,"input":[1,QUESTION]}`)
	f(prose.Form{MaxOutput: 900, OtherCap: true}, `{"max_output_tokens":5,"input":[1]}`, `{"input":[1,QUESTION],"store":false}`)
	f(prose.Form{MaxOutput: 900, Stream: true}, `{"stream":false,"input":[1]}`, `{"stream":true,"input":[1,QUESTION]`+end)
	// What the model called was answered, wherever the answer stands.
	const call = `{"type":"function_call","call_id":"a"},{"type":"function_call","call_id":"b"}`
	const given = `{"type":"function_call_output","call_id":"b"},{"type":"function_call_output","call_id":"a"}`
	f(usual, `{"input":[`+call+`,`+given+`]}`, `{"input":[`+call+`,`+given+`,QUESTION]`+end)
	const shell = `{"type":"local_shell_call","id":"l","call_id":"c"},{"type":"local_shell_call_output","id":"l","output":"{}"}`
	f(usual, `{"input":[`+shell+`]}`, `{"input":[`+shell+`,QUESTION]`+end)
	// What the model thought since the user spoke stays where it was cached.
	const user, sealed, open = `{"role":"user","content":"a"}`, `{"type":"reasoning","encrypted_content":"gAAA"},{"type":"message","role":"assistant"}`,
		`{"type":"reasoning","content":[]},{"type":"message","role":"assistant"}`
	f(usual, `{"input":[`+user+`,`+sealed+`]}`, strings.Replace(`{"input":[`+user+`,`+sealed+`,QUESTION]`+end, "QUESTION", told, 1))
	f(usual, `{"input":[`+user+`,`+sealed+`,`+user+`]}`, `{"input":[`+user+`,`+sealed+`,`+user+`,QUESTION]`+end)
	f(usual, `{"input":[`+user+`,`+open+`]}`, `{"input":[`+user+`,`+open+`,QUESTION]`+end)
	f(usual, `{"input":[{"type":"function_call_output","output":"told"}]}`, `{"input":[{"type":"function_call_output","output":"told"},QUESTION]`+end)
}

func TestWhatCannotBeContinuedIsAnError(t *testing.T) {
	f := func(body string, want error) {
		t.Helper()
		got, err := Dialect{}.Continue([]byte(body), asked, prose.Form{MaxOutput: 9})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
	f(``, nil)
	f(`[]`, nil)
	f(`{"input":[1]`, nil)
	f(`{}`, errNoList)
	f(`{"input":"Hello"}`, errNoList)
	f(`{"input":null}`, errNoList)
	f(`{"input":[1],"previous_response_id":"resp_1"}`, errElsewhere)
	f(`{"input":[1],"conversation":{"id":"conv_1"}}`, errElsewhere)
	f(`{"input":[1],"prompt":{"id":"p"}}`, errElsewhere)
	f(`{"input":[{"type":"function_call","call_id":"a"}]}`, errOpen)
	f(`{"input":[{"type":"function_call","call_id":"a"},{"type":"custom_tool_call","call_id":"b"},{"type":"function_call_output","call_id":"a"}]}`, errOpen)
	f(`{"input":[{"type":"reasoning","id":"rs"}]}`, errOpen)
	f(`{"input":[1,{"type":"compaction_trigger"}]}`, errOpen)
}

func TestPromptsAreRequests(t *testing.T) {
	forms := []prose.Form{{MaxOutput: 900}, {MaxOutput: 900, OtherCap: true}, {MaxOutput: 900, Stream: true}}
	for _, form := range forms {
		body := Dialect{}.Prompt("m\"1", "Be brief.", "Hello\n", form)
		var r struct {
			Model, Instructions string
			Input               []struct{ Role string }
			Store               *bool
			Stream              bool
			Cap                 int `json:"max_output_tokens"`
		}
		if err := json.Unmarshal(body, &r); err != nil || r.Model != `m"1` || r.Instructions != "Be brief." || len(r.Input) != 1 ||
			r.Input[0].Role != "user" || r.Store == nil || *r.Store || r.Stream != form.Stream ||
			(r.Cap == 900) == form.OtherCap {
			t.Errorf("%+v: %s (%v)", form, body, err)
		}
	}
}

func TestFormsAreAdaptedToComplaints(t *testing.T) {
	f := func(refusal string, form, want prose.Form) {
		t.Helper()
		got, ok := Dialect{}.Adapt(form, []byte(`{"error":{"message":"`+refusal+`"}}`))
		if ok != (got != form) || got != want {
			t.Errorf("%s: %+v becomes %+v, %v", refusal, form, got, ok)
		}
	}
	usual := prose.Form{MaxOutput: 9_000}
	f("Stream must be set to true", usual, prose.Form{MaxOutput: 9_000, Stream: true})
	f("Stream must be set to true", prose.Form{Stream: true}, prose.Form{Stream: true})
	f("upstream error", usual, usual)
	f("Unsupported parameter: max_output_tokens", usual, prose.Form{MaxOutput: 9_000, OtherCap: true})
	f("Unsupported parameter: 'max_output_tokens' is not supported with this model.", usual, prose.Form{MaxOutput: 9_000, OtherCap: true})
	f("Unsupported parameter: max_output_tokens", prose.Form{OtherCap: true}, prose.Form{OtherCap: true})
	f("Unsupported parameter: 'temperature' is not supported with this model.", usual, usual)
	f("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 4096, but got 9000 instead.", usual, prose.Form{MaxOutput: 4_096})
	f("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 4096, but got 900 instead.", prose.Form{MaxOutput: 900}, prose.Form{MaxOutput: 900})
}

func TestCapIsLoweredOnly(t *testing.T) {
	f := func(body string, tokens int, want string) {
		t.Helper()
		got, ok := Wire{}.CapOutput([]byte(body), tokens)
		if ok != (body != want) || string(got) != want {
			t.Errorf("%s to %d: %s, %v", body, tokens, got, ok)
		}
	}
	f(`{"max_output_tokens" : 9000,"input":[]}`, 500, `{"max_output_tokens" : 500,"input":[]}`)
	f(`{"max_output_tokens":500}`, 500, `{"max_output_tokens":500}`)
	f(`{"max_output_tokens":null}`, 500, `{"max_output_tokens":null}`)
	f(`{"max_tokens":9000}`, 500, `{"max_tokens":9000}`)
	f(`{"max_output_tokens":9000}`, 0, `{"max_output_tokens":9000}`)
	f(`{"max_output_tokens":9000`, 500, `{"max_output_tokens":9000`)
	f(`[]`, 500, `[]`)
}

const (
	saidWell = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done "},{"type":"output_text","text":"well."}]}`
	thought  = `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"}`
	cost     = `"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":4},"output_tokens":7}`
)

func TestAnswersAreRead(t *testing.T) {
	f := func(body string, want prose.Answer) {
		t.Helper()
		got, err := Dialect{}.ReadAnswer("application/json", iotest.OneByteReader(strings.NewReader(body)))
		if failed := len(got.Error) > 0; failed != (len(want.Error) > 0) || err != nil {
			t.Errorf("%s: error %s, %v", body, got.Error, err)
		}
		got.Error, want.Error = nil, nil
		if got.Text != want.Text || got.Cut != want.Cut || got.Refused != want.Refused || got.Called != want.Called ||
			got.Input != want.Input || got.Cached != want.Cached || got.Written != want.Written ||
			got.Output != want.Output {
			t.Errorf("%s:\n got %+v\nwant %+v", body, got, want)
		}
	}
	well := prose.Answer{Text: "Done well.", Input: 30, Cached: 20, Written: 4, Output: 7}
	change := func(by func(*prose.Answer)) prose.Answer {
		a := well
		by(&a)
		return a
	}
	f(`{"object":"response","status":"completed","error":null,"output":[`+thought+`,`+saidWell+`],`+cost+`}`, well)
	f(`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+saidWell+`],`+cost+`}`,
		change(func(a *prose.Answer) { a.Cut = true }))
	f(`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[`+saidWell+`],`+cost+`}`,
		change(func(a *prose.Answer) { a.Refused = true }))
	f(`{"status":"completed","output":[`+saidWell+`,{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}],`+cost+`}`,
		change(func(a *prose.Answer) { a.Called = true }))
	f(`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`, prose.Answer{Refused: true})
	f(`{"status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`, prose.Answer{Error: []byte("x")})
	f(`{"error":{"message":"x"}}`, prose.Answer{Error: []byte("x")})
	// Streams: by pieces, by items, by the end, and by all of them.
	stream := func(events ...string) string {
		var b strings.Builder
		for _, e := range events {
			_, kind, _ := strings.Cut(e, `"type":"`)
			kind, _, _ = strings.Cut(kind, `"`)
			b.WriteString("event: " + kind + "\ndata: " + e + "\n\n")
		}
		return b.String()
	}
	const begun = `{"type":"response.created","response":{"output":[],"usage":null}}`
	pieces := []string{`{"type":"response.output_text.delta","delta":"Done "}`, `{"type":"response.output_text.delta","delta":"well."}`}
	const item = `{"type":"response.output_item.done","item":` + saidWell + `}`
	const end = `{"type":"response.completed","response":{"status":"completed","output":[` + saidWell + `],` + cost + `}}`
	const bare = `{"type":"response.completed","response":{"status":"completed","output":[],` + cost + `}}`
	f(stream(begun, pieces[0], pieces[1], item, end), well)
	f(stream(begun, pieces[0], pieces[1], bare), well)
	f(stream(begun, item, bare), well)
	f(stream(begun, item, end), well)
	f(stream(begun, end), well)
	f(stream(begun, `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c"}}`, item, bare),
		change(func(a *prose.Answer) { a.Called = true }))
	f(stream(begun, pieces[0], `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`),
		prose.Answer{Text: "Done ", Error: []byte("x")})
	f(stream(begun, `{"type":"error","code":"x","message":"y"}`), prose.Answer{Error: []byte("x")})
	f(stream(begun, pieces[0], pieces[1], strings.ReplaceAll(bare, `completed"`, `incomplete"`)),
		change(func(a *prose.Answer) { a.Cut = true }))
	for _, body := range []string{"", stream(begun), stream(begun, pieces[0]), stream(begun) + "data: [DONE]\n\n", stream(begun, item)} {
		if a, err := (Dialect{}).ReadAnswer("text/event-stream", strings.NewReader(body)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q ends well: %+v, %v", body, a, err)
		}
	}
	tooLong := stream(`{"type":"response.output_text.delta","delta":"` + strings.Repeat("a", reply.MostText+1) + `"}`)
	for _, body := range []string{"nonsense", "data: nonsense\n\n", tooLong} {
		if a, err := (Dialect{}).ReadAnswer("", strings.NewReader(body)); err == nil {
			t.Errorf("%.40q is read: %.40s", body, a.Text)
		}
	}
}
