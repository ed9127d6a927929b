package tongue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"epitome/scripted/value"
)

// chatPath is that of chat completions.
const chatPath = "/chat/completions"

// Client is what an agent asks with: of chat completions, which it turns into the tongue's API if there is one.
func Client(in Tongue) *http.Client {
	direct := &http.Transport{Proxy: nil}
	if in == nil {
		return &http.Client{Transport: direct}
	}
	return &http.Client{Transport: &mouth{direct, in}}
}

// mouth turns requests into the API, and answers back.
type mouth struct {
	*http.Transport
	in Tongue
}

// RoundTrip asks in the API. An error of the API comes as it is.
func (m *mouth) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = m.in.fromChat(body)
	}
	if err != nil {
		return nil, err
	}
	to := strings.TrimSuffix(r.URL.String(), chatPath) + m.in.path()
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header.Set("Content-Type", "application/json")
	for _, h := range m.in.head() {
		out.Header.Set(h[0], h[1])
	}
	resp, err := m.Transport.RoundTrip(out)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := m.in.hear(resp.Body)
	if err != nil {
		return nil, err
	}
	piece := value.Encode(map[string]any{"choices": []any{map[string]any{"delta": said}}})
	resp.Body = io.NopCloser(strings.NewReader("data: " + string(piece) + "\n\ndata: [DONE]\n\n"))
	return resp, nil
}

// Serve listens at an address, or on a free port of loopback if that is empty, for a model that speaks chat
// completions, and turns what it is asked in the tongue's API into that if there is one. It returns the base URL, with
// /v1.
func Serve(address string, in Tongue, model http.HandlerFunc) (*http.Server, string, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen for the model: %w", err)
	}
	mux := http.NewServeMux()
	if in != nil {
		mux.Handle("POST /v1"+in.path(), ear{model, in})
	} else {
		mux.HandleFunc("POST /v1"+chatPath, model)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }() // it ends with its owner
	return server, "http://" + ln.Addr().String() + "/v1", nil
}

// ear turns requests of the API into chat completions, and answers back.
type ear struct {
	model http.HandlerFunc
	in    Tongue
}

func (e ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	streamed, refused := e.in.judge(r.Header, body)
	if refused == nil {
		if body, err = e.in.toChat(body); err != nil {
			refused = e.in.words(err.Error())
		}
	}
	if refused != nil {
		refuse(w, refused)
		return
	}
	inner, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		panic("BUG: a request that cannot be made: " + err.Error())
	}
	heard := &heardAnswer{head: http.Header{}}
	e.model(heard, inner)
	var said chatAnswer
	err = json.Unmarshal(heard.body.Bytes(), &said)
	switch {
	case heard.refused:
		refuse(w, e.in.words(complaintOf(heard.body.Bytes())))
	case err != nil || len(said.Choices) == 0:
		refuse(w, e.in.words(fmt.Sprintf("the model says nothing that could be read: %v", err)))
	default:
		e.in.answer(w, said, streamed)
	}
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

func refuse(w http.ResponseWriter, refused *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(refused.status)
	_, _ = w.Write(refused.body)
}

// complaintOf is what the model complains of as it refuses a request.
func complaintOf(body []byte) string {
	var f struct{ Error struct{ Message string } }
	if err := json.Unmarshal(body, &f); err != nil {
		return err.Error()
	}
	return f.Error.Message
}
