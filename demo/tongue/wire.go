package tongue

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"epitome/scripted/messages/rules"
	"epitome/scripted/value"
)

// The paths of both dialects.
const (
	chatPath = "/chat/completions"
	path     = "/messages"
)

// Client is what an agent asks with: of chat completions, which it turns into Messages if it is to.
func Client(messages bool) *http.Client {
	direct := &http.Transport{Proxy: nil}
	if !messages {
		return &http.Client{Transport: direct}
	}
	return &http.Client{Transport: &mouth{direct}}
}

// mouth turns requests into Messages, and answers back.
type mouth struct{ *http.Transport }

// RoundTrip asks in Messages. An error of the API comes as it is.
func (m *mouth) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = fromChat(body)
	}
	if err != nil {
		return nil, err
	}
	to := strings.TrimSuffix(r.URL.String(), chatPath) + path
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Anthropic-Version", "2023-06-01")
	out.Header.Set("X-Api-Key", "none")
	resp, err := m.Transport.RoundTrip(out)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := hear(resp.Body)
	if err != nil {
		return nil, err
	}
	piece := value.Encode(map[string]any{"choices": []any{map[string]any{"delta": said}}})
	resp.Body = io.NopCloser(strings.NewReader("data: " + string(piece) + "\n\ndata: [DONE]\n\n"))
	return resp, nil
}

// event is one of a stream, as far as it says something.
type event struct {
	Type  string `json:"type"`
	Block block  `json:"content_block"`
	Delta struct {
		Text  string `json:"text"`
		Input string `json:"partial_json"`
	} `json:"delta"`
}

// hear puts a streamed answer together.
func hear(from io.Reader) (said chatMessage, err error) {
	said.Role = "assistant"
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return said, fmt.Errorf("cannot read an event: %w", err)
		}
		last := len(said.Calls) - 1
		switch {
		case e.Type == "content_block_start" && e.Block.Type == "tool_use":
			said.Calls = append(said.Calls, chatCall{Index: last + 1, ID: e.Block.ID, Type: "function",
				Function: chatFunction{Name: e.Block.Name}})
		case e.Type == "content_block_delta" && e.Delta.Text != "":
			said.Content += e.Delta.Text
		case e.Type == "content_block_delta" && last >= 0:
			said.Calls[last].Function.Arguments += e.Delta.Input
		case e.Type == "message_stop":
			return said, nil
		}
	}
	if err = lines.Err(); err == nil {
		err = errNoAnswer
	}
	return said, err
}

// Serve listens on a free port for a model that speaks chat completions, and turns what it is asked in Messages into
// that if it is to. It returns the base URL, with /v1.
func Serve(messages bool, model http.HandlerFunc) (*http.Server, string, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen for the model: %w", err)
	}
	mux := http.NewServeMux()
	if messages {
		mux.Handle("POST /v1"+path, ear{model})
	} else {
		mux.HandleFunc("POST /v1"+chatPath, model)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }() // it ends with its owner
	return server, "http://" + ln.Addr().String() + "/v1", nil
}

// ear turns requests of Messages into chat completions, and answers back.
type ear struct{ model http.HandlerFunc }

// anyModel is one that serves what any does.
func anyModel(string) rules.Model { return rules.ModelOf("") }

func (e ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	asked, refused := rules.Read(r.Header, body, false, anyModel)
	if refused != nil {
		refuse(w, refused)
		return
	}
	if body, err = toChat(body); err != nil {
		refuse(w, rules.Flaw("%v", err))
		return
	}
	inner, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		panic("BUG: a request that cannot be made: " + err.Error())
	}
	heard := &heardAnswer{head: http.Header{}}
	e.model(heard, inner)
	if heard.refused {
		refuse(w, refusalOf(heard.body.Bytes()))
		return
	}
	answer(w, heard.body.Bytes(), asked.Streamed)
}

// heardAnswer is what the model writes as its answer.
type heardAnswer struct {
	head    http.Header
	refused bool
	body    bytes.Buffer
}

func (h *heardAnswer) Header() http.Header         { return h.head }
func (h *heardAnswer) WriteHeader(status int)      { h.refused = status != http.StatusOK }
func (h *heardAnswer) Write(b []byte) (int, error) { return h.body.Write(b) }

func refuse(w http.ResponseWriter, refused *rules.Refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(refused.Status)
	_, _ = w.Write(refused.Body())
}

// tooLong is how the model tells that a request does not fit.
var tooLong = regexp.MustCompile(`maximum context length is (\d+) tokens\. However, you\D+(\d+) tokens`)

// refusalOf words a refusal of the model as the API does.
func refusalOf(body []byte) *rules.Refusal {
	var f struct{ Error struct{ Message string } }
	if err := json.Unmarshal(body, &f); err != nil {
		f.Error.Message = err.Error()
	}
	if m := tooLong.FindStringSubmatch(f.Error.Message); m != nil {
		return rules.Flaw("prompt is too long: %s tokens > %s maximum", m[2], m[1])
	}
	return rules.Flaw("%s", f.Error.Message)
}
