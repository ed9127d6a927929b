package responses

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/prose"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/spent"
	server "epitome/scripted/responses"
	"epitome/scripted/responses/rules"
	"epitome/scripted/scriptedtest"
	"epitome/sse"
)

// These tests hold what is asked and heard to a server that checks what the real one does.

// posted sends a body to a strict server, and returns its answer with its type.
func posted(t *testing.T, s *server.Server, body string) (status int, kind string, answer []byte) {
	t.Helper()
	to := s.URL() + Dialect{}.Path()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), answer
}

// realBodies gives f the requests of this dialect that real clients have sent.
func realBodies(t *testing.T, f func(name string, body []byte)) {
	t.Helper()
	rewritetest.ClientBodies(t, func(_ string, body []byte) bool { return Claims(body) }, f)
}

func TestStrictServerTakesWhatAModelIsAsked(t *testing.T) {
	for _, form := range []prose.Form{{MaxOutput: 900}, {MaxOutput: 900, Stream: true}, {OtherCap: true}} {
		body := Dialect{}.Prompt("gpt-5", "s", "u", form)
		if refused := server.New(server.Options{}).Judge(http.Header{}, body); refused != nil {
			t.Errorf("a request of its own is refused: %v", refused)
		}
	}
	taken := 0
	realBodies(t, func(name string, body []byte) {
		s := server.New(server.Options{})
		out, err := Dialect{}.Continue(body, asked, prose.Form{MaxOutput: 900})
		if err != nil || s.Adopt(body) != nil || s.Judge(http.Header{}, body) != nil {
			return
		}
		if taken++; s.Judge(http.Header{}, out) != nil {
			t.Errorf("%s: continued it is refused: %v", name, s.Judge(http.Header{}, out))
		}
	})
	if taken < 5 {
		t.Errorf("only %d bodies were judged", taken)
	}
}

// talk is a conversation whose every item comes back with each request.
type talk struct {
	model, settings string
	items           []string
}

func (c *talk) body() string {
	return `{"model":"` + c.model + `",` + c.settings + `"store":false,` +
		`"prompt_cache_key":"k","tools":[{"type":"function","name":"bash","parameters":{"type":"object"}}],` +
		`"instructions":"` + strings.Repeat("Be good. ", 500) + `","input":[` + strings.Join(c.items, ",") + `]}`
}

const thinking = `"include":["reasoning.encrypted_content"],`

const look = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]}`

// work has the model call a tool, and get its result.
func (c *talk) work(t *testing.T, s *server.Server) {
	t.Helper()
	s.Next(server.Turn{Items: []server.Item{server.Think("hm"), server.Text("So."), server.Call("", "bash", `{"n":1}`)}})
	status, _, answer := posted(t, s, c.body())
	if status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	for _, item := range gjson.GetBytes(answer, "output").Array() {
		c.items = append(c.items, item.Raw)
		if id := item.Get("call_id").Str; id != "" {
			c.items = append(c.items, `{"type":"function_call_output","call_id":"`+id+`","output":"`+strings.Repeat("line ", 800)+`"}`)
		}
	}
}

// The instruction comes behind what is cached, wherever the span ends that is asked about: also where the model has
// thought since the user spoke.
func TestAskedForASummaryAServerReadsWhatItHasCached(t *testing.T) {
	f := func(model string, often bool) {
		t.Helper()
		s := scriptedtest.StartResponses(t, server.Options{})
		c, spanned := talk{model: model, items: []string{look}}, ""
		if !strings.HasPrefix(model, "gpt-4") {
			c.settings = thinking
		}
		for n := range 6 {
			if c.work(t, s); often {
				c.items = append(c.items, look)
			}
			if n == 4 {
				spanned = c.body()
			}
		}
		out, err := Dialect{}.Continue([]byte(spanned), asked, prose.Form{MaxOutput: 900})
		if err != nil {
			t.Fatal(err)
		}
		s.Next(server.Say("## Goal\nnone"))
		status, kind, answer := posted(t, s, string(out))
		a, err := Dialect{}.ReadAnswer(kind, bytes.NewReader(answer))
		if status != 200 || err != nil || a.Text != "## Goal\nnone" {
			t.Fatalf("%s: %d %s (%v)", model, status, answer, err)
		}
		if rest := a.Input - a.Cached; rest > 300 {
			t.Errorf("%s, often %v: of %d tokens %d were read from the cache", model, often, a.Input, a.Cached)
		}
		if len(s.Refusals()) > 0 {
			t.Errorf("%s: refused %v", model, s.Refusals())
		}
	}
	f("gpt-5", false)
	f("gpt-5.6", false)
	f("gpt-4.1", true)
	f("gpt-5", true)
}

// What a server says is heard alike in a stream, whole, and of its end alone.
func TestAnswersOfAStrictServerAreHeard(t *testing.T) {
	s := scriptedtest.StartResponses(t, server.Options{})
	for _, stream := range []string{"", `"stream":true,`} {
		c := talk{model: "gpt-5", settings: stream, items: []string{look}}
		s.Next(server.Turn{Items: []server.Item{server.Think("hm"), server.Text(strings.Repeat("said ", 1400))}})
		_, kind, answer := posted(t, s, c.body())
		a, err := Dialect{}.ReadAnswer(kind, bytes.NewReader(answer))
		all := s.Received()
		used := all[len(all)-1].Usage
		if err != nil || a.Text != strings.Repeat("said ", 1400) || a.Input != used.Input || a.Cached != used.Cached ||
			a.Output != used.Output || a.Called || a.Cut {
			t.Errorf("%q: %d bytes, %d of %d tokens cached, %d out, %v; the server has %+v",
				stream, len(a.Text), a.Cached, a.Input, a.Output, err, used)
		}
		const end = 4 << 10
		for _, heard := range [][]byte{answer, answer[len(answer)-end:]} {
			u, got := (Wire{}).Usage(heard, spent.Nothing())
			if got != used.Input || u.Input != used.Input || u.Read != used.Cached || u.Output != used.Output {
				t.Errorf("%q: used %d of %d bytes heard, want %d; %+v", stream, got, len(heard), used.Input, u)
			}
		}
	}
}

// A stream that refuses its request is told from one that answers by its first events.
func TestStreamsOfAStrictServerBeginOrFail(t *testing.T) {
	f := func(turn server.Turn, overflow rules.Overflow, window int, want string) {
		t.Helper()
		m := rules.ModelOf("gpt-5")
		m.Overflow, m.Window = overflow, window
		s := scriptedtest.StartResponses(t, server.Options{Models: map[string]rules.Model{"gpt-5": m}})
		s.Next(turn)
		c := talk{model: "gpt-5", settings: `"stream":true,`, items: []string{look}}
		_, _, answer := posted(t, s, c.body())
		got, kind := "nothing", []byte(nil)
		for line := range sse.Fields(answer) {
			if string(line.Name) == "event" {
				kind = line.Value
			}
			if string(line.Name) != "data" || got != "nothing" {
				continue
			}
			switch {
			case Wire{}.Fails(kind, line.Value):
				got = "fails"
			case Wire{}.Begins(kind, line.Value):
				got = "begins"
			}
		}
		if got != want {
			t.Errorf("%s, want %s: %s", got, want, answer)
		}
	}
	const room, none = 1_000_000, 1_000
	f(server.Say("so"), rules.TooLong, room, "begins")
	f(server.Turn{Items: []server.Item{server.Think("hm"), server.Text("so")}}, rules.TooLong, room, "begins")
	f(server.Turn{Items: []server.Item{server.Call("", "bash", "{}")}}, rules.TooLong, room, "begins")
	f(server.Turn{Fail: rules.Overloaded()}, rules.TooLong, room, "fails")
	f(server.Turn{Error: rules.Overloaded()}, rules.TooLong, room, "fails")
	for o := rules.FailsInStream; o <= rules.EndsAtOnce; o++ {
		f(server.Say("so"), o, none, "fails")
	}
}
