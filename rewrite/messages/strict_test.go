package messages

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"epitome/event"
	"epitome/prose"
	server "epitome/scripted/messages"
	"epitome/scripted/messages/rules"
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
	req.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), answer
}

func TestStrictServerTakesWhatAModelIsAsked(t *testing.T) {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"context-management-2025-06-27"}}
	newest := func(string) rules.Model { return rules.ModelOf("claude-opus-5-5") }
	judge := func(body []byte) *rules.Refusal {
		_, refused := rules.Read(header, body, false, newest)
		return refused
	}
	if refused := judge(Dialect{}.Prompt("m", "s", "u", prose.Form{MaxOutput: 9, Stream: true})); refused != nil {
		t.Errorf("a request of its own is refused: %v", refused)
	}
	taken := 0
	realBodies(t, func(name string, body []byte) {
		out, err := Dialect{}.Continue(body, asked, prose.Form{MaxOutput: 900})
		if err != nil || judge(body) != nil {
			return
		}
		if taken++; judge(out) != nil {
			t.Errorf("%s: continued it is refused: %v", name, judge(out))
		}
	})
	if taken < 5 {
		t.Errorf("only %d bodies were judged", taken)
	}
}

// session is a conversation that marks the end of each request, as clients do, and its turns so far.
type session struct {
	model    string
	settings string
	turns    []string
}

func (s *session) body(mark bool) string {
	list := strings.Join(s.turns, ",")
	if at, ok := strings.CutSuffix(list, "}]}"); ok && mark {
		list = at + `,"cache_control":{"type":"ephemeral"}}]}`
	}
	return `{"model":"` + s.model + `",` + s.settings + `"max_tokens":2000,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],` +
		`"system":[{"type":"text","text":"` + strings.Repeat("Be good. ", 500) + `","cache_control":{"type":"ephemeral"}}],"messages":[` + list + `]}`
}

// The instruction comes behind what is cached, wherever the span ends that is asked about.
func TestAskedForASummaryAServerReadsWhatItHasCached(t *testing.T) {
	f := func(model, settings string) {
		t.Helper()
		s := scriptedtest.StartMessages(t, server.Options{})
		c := session{model: model, settings: settings, turns: []string{`{"role":"user","content":[{"type":"text","text":"Look."}]}`}}
		spanned := ""
		for n := range 6 {
			id := fmt.Sprintf("toolu_%d", n)
			s.Next(server.Turn{Blocks: []server.Block{server.Think("hm"), server.Call(id, "Bash", `{"n":1}`)}})
			status, _, answer := posted(t, s, c.body(true))
			content, ok := bytes.CutPrefix(answer[bytes.Index(answer, []byte(`"content":`)):], []byte(`"content":`))
			if status != 200 || !ok {
				t.Fatalf("%d %s", status, answer)
			}
			content = content[:bytes.LastIndex(content, []byte(`],"`))+1]
			if end := bytes.Index(content, []byte(`}],"`)); end >= 0 {
				content = content[:end+2]
			}
			c.turns = append(c.turns, `{"role":"assistant","content":`+string(content)+`}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"`+strings.Repeat("line ", 800)+`"}]}`)
			if n == 3 {
				spanned = c.body(false) // the mark has gone on since
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
		if rest := a.Input - a.Cached; rest > 100 {
			t.Errorf("%s: of %d tokens %d were read from the cache", model, a.Input, a.Cached)
		}
		if len(s.Refusals()) > 0 {
			t.Errorf("%s: refused %v", model, s.Refusals())
		}
	}
	f("claude-opus-5-5", "")
	f("claude-opus-5-5", `"thinking":{"type":"disabled"},`)
	f("claude-opus-4-6", `"thinking":{"type":"enabled","budget_tokens":1024},`)
	f("claude-sonnet-4-5", "") // with thinking it would forget what it thought, as a user's text begins another turn
}

// What a server says is heard alike in a stream, whole, and of its end alone.
func TestAnswersOfAStrictServerAreHeard(t *testing.T) {
	s := scriptedtest.StartMessages(t, server.Options{})
	for _, stream := range []string{"", `"stream":true,`} {
		c := session{model: "claude-opus-5-5", settings: stream, turns: []string{`{"role":"user","content":[{"type":"text","text":"Look."}]}`}}
		s.Next(server.Turn{Blocks: []server.Block{server.Think("hm"), server.Text(strings.Repeat("said ", 1400))}})
		_, kind, answer := posted(t, s, c.body(true))
		a, err := Dialect{}.ReadAnswer(kind, bytes.NewReader(answer))
		all := s.Received()
		used := all[len(all)-1].Usage
		if err != nil || a.Text != strings.Repeat("said ", 1400) || a.Input != used.Total() || a.Cached != used.Read ||
			a.Output != used.Output {
			t.Errorf("%q: %d bytes, %d of %d tokens cached, %d out, %v; the server has %+v",
				stream, len(a.Text), a.Cached, a.Input, a.Output, err, used)
		}
		const end = 4 << 10
		for _, heard := range [][]byte{answer, answer[len(answer)-end:]} {
			u, got := (Wire{}).Usage(heard, Wire{}.Opening(answer[:1<<10]))
			want := event.Usage{
				Source: event.UsageProvider, Input: used.Total(), Read: used.Read, Write5m: used.Written,
				Output: used.Output,
			}
			if got != used.Total() || u != want {
				t.Errorf("%q: used %d of %d bytes heard, want %d; %+v", stream, got, len(heard), used.Total(), u)
			}
		}
	}
}

// A stream that refuses its request is told from one that answers by its first events.
func TestStreamsOfAStrictServerBeginOrFail(t *testing.T) {
	f := func(turn server.Turn, overflow rules.Overflow, window int, want string) {
		t.Helper()
		m := rules.ModelOf("claude-opus-5-5")
		m.Overflow, m.Window = overflow, window
		s := scriptedtest.StartMessages(t, server.Options{Models: map[string]rules.Model{"claude-opus-5-5": m}})
		s.Next(turn)
		c := session{model: "claude-opus-5-5", settings: `"stream":true,`, turns: []string{`{"role":"user","content":[{"type":"text","text":"Look."}]}`}}
		_, _, answer := posted(t, s, c.body(true))
		got, kind := "nothing", []byte(nil)
		for line := range sse.Fields(answer) {
			if string(line.Name) == "event" {
				kind = line.Value
			}
			if string(line.Name) != "data" {
				continue
			}
			if (Wire{}).Fails(kind, line.Value) {
				got = "fails"
				break
			}
			if (Wire{}).Begins(kind, line.Value) {
				got = "begins"
				break
			}
		}
		if got != want {
			t.Errorf("%s, want %s: %s", got, want, answer)
		}
	}
	f(server.Say("so"), rules.TooLong, 1_000_000, "begins")
	f(server.Turn{Blocks: []server.Block{server.Think("hm"), server.Text("so")}}, rules.TooLong, 1_000_000, "begins")
	f(server.Turn{Blocks: []server.Block{server.Call("t", "Bash", "{}")}}, rules.TooLong, 1_000_000, "begins")
	f(server.Turn{Blocks: []server.Block{server.Text("so")}, Fail: rules.Overloaded()}, rules.TooLong, 1_000_000, "fails")
	f(server.Say("so"), rules.FailsInStream, 1_000, "fails")
	f(server.Say("so"), rules.StopsAtOnce, 1_000, "fails")
}
