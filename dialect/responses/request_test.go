package responses

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"epitome/dialect/answer"
	"epitome/event"
)

func TestEventsOfAStream(t *testing.T) {
	f := func(data string, want answer.Step) {
		t.Helper()
		if got := answer.StepOf(Dialect{}, answer.Event{Data: []byte(data)}); got != want {
			t.Errorf("%s: step %v, want %v", data, got, want)
		}
	}
	for _, name := range []string{"response.created", "response.in_progress", "keepalive", "codex.rate_limits"} {
		f(`{"type":"`+name+`","response":{"id":"r","error":null,"output":[]}}`, answer.FrameStep)
	}
	f(`{"type":"response.output_item.added","item":{"type":"message","role":"assistant","content":[]}}`,
		answer.FrameStep)
	f(`{"type":"response.output_text.delta","delta":""}`, answer.FrameStep)
	f(`{"type":"response.output_text.delta","delta":"a"}`, answer.SaidStep)
	f(`{"type":"response.content_part.added","part":{"type":"refusal","refusal":"no"}}`, answer.SaidStep)
	f(`{"type":"response.output_item.added","item":{"type":"function_call"}}`, answer.SaidStep)
	f(`{"choices":[{"delta":{}}]}`, answer.SaidStep) // an event of another API must not be held
	f(`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":""}}}`,
		answer.ErrorStep)
	f(`{"type":"error","code":"context_length_exceeded","message":"m","param":null}`, answer.ErrorStep)
	f(`{"error":"too long"}`, answer.ErrorStep)
	f(`{"type":"response.completed","response":{"output":[]}}`, answer.EndStep)
}

const (
	said  = `{"type":"message","content":[{"type":"output_text","text":"Done "},{"type":"output_text","text":"well."}]}`
	usage = `"prompt_cache_options":{"mode":"implicit","ttl":"30m"},"prompt_cache_retention":"24h",` +
		`"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":4},` +
		`"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":37}`
	tools = `"tools":[{"parameters":{"properties":{"usage":{"type":"object"}}}}]`
	begun = `{"type":"response.created","response":{"output":[],"usage":null}}`
	item  = `{"type":"response.output_item.done","item":` + said + `}`
)

// ended is the last event of an answer with those items.
func ended(how, items string) string {
	return `{"type":"response.` + how + `","response":{"status":"` + how + `","output":[` + items + `],` +
		usage + `,` + tools + `}}`
}

func stream(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

func TestReadsAnswers(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		a, err := answer.Read(Dialect{}, []byte(body))
		got := a.Text
		for _, flag := range []struct {
			is   bool
			name string
		}{
			{a.Cut, "cut"}, {a.Refused, "refused"}, {a.Called, "called"}, {len(a.Error) > 0, "failed"},
			{a.Input == 30 && a.Cached == 20 && a.Written == 4 && a.Output == 7, "counted"},
			{errors.Is(err, io.ErrUnexpectedEOF), "broken"},
		} {
			if flag.is {
				got += " " + flag.name
			}
		}
		if got != want || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s:\ngot  %s (%v)\nwant %s", body, got, err, want)
		}
	}
	f(`{"status":"completed","output":[`+reasoned+`,`+said+`],`+usage+`}`, "Done well. counted")
	f(`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`, " refused")
	f(`{"status":"failed","error":{"message":"x"},"output":[]}`, " failed")
	f(stream(begun, item, ended("completed", said)), "Done well. counted")
	f(stream(begun, item, ended("completed", "")), "Done well. counted")
	f(stream(begun, ended("incomplete", said)), "Done well. cut counted")
	f(stream(begun, `{"type":"response.output_item.done","item":{"type":"function_call"}}`, item,
		ended("completed", "")),
		"Done well. called counted")
	f(stream(begun, `{"type":"response.failed","response":{"error":{"message":"x"}}}`), " failed")
	f("", " broken")
}

func TestReadsUsage(t *testing.T) {
	f := func(heard string, want int) {
		t.Helper()
		u, input := Dialect{}.Usage([]byte(heard))
		full := event.Usage{Source: event.UsageProvider, Input: 30, Read: 20, Write5m: 4, Output: 7, Reasoning: 3,
			Life: 30 * time.Minute}
		if input != want || want == 30 && u != full {
			t.Errorf("%s: got %d, %+v; want %d", heard, input, u, want)
		}
	}
	f(`{"output":[],`+usage+`,`+tools+`}`, 30)
	f(`text."}]}],`+usage+`,"user":null}`, 30)
	f(`"tools":[{"parameters":{"properties":{"usage":{"type":"object","properties":{"input_tokens":{}}}}}}],"top_p":1}`,
		0)
	for _, how := range []string{"completed", "incomplete", "failed"} {
		all := stream(begun, ended(how, said))
		f(all, 30)
		f(all[120:]+"data: [DONE]\n\n", 30)
		f(strings.ReplaceAll(all, "\n", "\r\n"), 30)
	}
}

func TestContinuesConversation(t *testing.T) {
	const question = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Sum it\nup"}]}`
	const end = `,"max_output_tokens":900,"store":false}`
	f := func(form answer.Form, body, want string) {
		t.Helper()
		got, err := Dialect{}.Continue([]byte(body), "Sum it\nup", form)
		want = strings.ReplaceAll(want, "QUESTION", question)
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	usual := answer.Form{MaxOutput: 900}
	f(usual, `{"input":[`+task+`],"tools":[{"x":1}],"tool_choice":"auto","reasoning":{"effort":"low"}}`,
		`{"input":[`+task+`,QUESTION],"tools":[{"x":1}],"reasoning":{"effort":"low"},"tool_choice":"none"`+end)
	f(usual, `{"input":[{"type":"additional_tools"}]}`,
		`{"input":[{"type":"additional_tools"},QUESTION],"tool_choice":"none"`+end)
	f(usual, `{"stream":true,"input":[],"include":["x"],"text":{"format":{},"verbosity":"low"}}`,
		`{"input":[QUESTION],"text":{"verbosity":"low"}`+end)
	f(answer.Form{OtherCap: true, Stream: true}, `{"max_output_tokens":5,"stream":false,"input":[]}`,
		`{"input":[QUESTION],"stream":true,"store":false}`)
	// Encrypted reasoning stays in the cache only if nobody but the developer speaks.
	f(usual, `{"input":[`+task+`,`+reasoned+`,`+done+`]}`,
		`{"input":[`+task+`,`+reasoned+`,`+done+`,`+strings.Replace(question, `"user"`, `"developer"`, 1)+`]`+end)
	for _, body := range []string{``, `{}`, `{"input":"Hello"}`} {
		f(usual, body, "")
	}
}
