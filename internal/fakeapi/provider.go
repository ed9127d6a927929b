package fakeapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

// An API is one that a Provider serves.
type API int

// A Provider tells the APIs apart by the path.
const (
	Chat      API = iota // OpenAI Chat Completions: /v1/chat/completions
	Messages             // Anthropic Messages: /v1/messages, /v1/messages/count_tokens
	Responses            // OpenAI Responses: /v1/responses, /v1/responses/input_tokens, /v1/responses/compact
)

// Options configure a Provider. The zero value takes any key, and answers "Done.".
type Options struct {
	Models map[string]Model        // by name; others are ModelOf(name)
	Key    string                  // the API key that requests must have; "" for any
	Count  func(text string) int   // tokens of a text; nil for a token per four bytes
	Answer func(Exchange) []Part   // what the model says
	Refuse func(Exchange) *Refusal // refuses a sound request; nil for none
	Adopts bool                    // takes signatures and opaque strings of others for its own

	Compaction Compaction // of Responses
}

// Compaction is how a provider of Responses takes what asks for a compaction, and the items that one leaves.
type Compaction int

// Ways to take them. All but the first answer 404 to /compact.
const (
	Compacts          Compaction = iota // in OpenAI's way
	RefusesCompaction                   // 400, as for any type of items and any parameter that the API does not know
	IgnoresCompaction                   // answered as if the item or the parameter were not there
)

// An Exchange is a request that a Provider received, and its outcome.
type Exchange struct {
	N              int // from 1, in the order of arrival
	Method, Target string
	Header         http.Header
	Body           []byte // decompressed
	API            API
	Counting       bool     // the request asks for a number of tokens
	Tokens         int      // of the input; 0 where a rule was broken before they were counted
	Usage          Usage    // zero where there was no answer
	Refusal        *Refusal // nil where the request was answered; it may have come within a stream
	Judged         bool     // a rule or the window refused it, not Options.Refuse
}

// Usage counts the tokens of an answered request.
type Usage struct {
	Input   int // all, with those of the cache
	Read    int // of Input, from the cache
	Written int // of Input, to the cache
	Hour    int // of Written, for an hour
	Output  int
}

// A Part is a piece of an answer.
type Part struct {
	kind, id, name, text string
}

// Text is what the model says.
func Text(text string) Part { return Part{kind: "text", text: text} }

// Think is what the model thinks. A request that asks for no thinking is answered without it.
func Think(text string) Part { return Part{kind: "thinking", text: text} }

// Call calls a tool. Its arguments are a JSON object; an empty id stands for the provider's next one.
func Call(id, name, arguments string) Part {
	return Part{kind: "call", id: id, name: name, text: arguments}
}

// Custom calls a tool that takes free text. Only Responses has such tools.
func Custom(name, input string) Part { return Part{kind: "custom", name: name, text: input} }

// Raw is an item of Responses as it stands, a JSON object with an id.
func Raw(item string) Part { return Part{kind: "raw", text: item} }

// A Provider serves the three APIs on a port of loopback. It refuses what the real APIs refuse, in their words.
type Provider struct {
	URL     string
	options Options

	mu        sync.Mutex // guards what follows
	exchanges []Exchange
	ids       int                  // given to answers, items and calls so far
	cached    map[string]time.Time // until when, by the digest of a prefix of prompts
	thoughts  map[string]thought
	thinkers  map[string]bool // IDs of calls whose answer began with thinking
	book      book
}

// StartProvider serves until the test ends. A refusal does not fail the test; see Refusals.
func StartProvider(tb testing.TB, o Options) *Provider {
	tb.Helper()
	p := NewProvider(o)
	server := httptest.NewServer(p)
	p.URL = server.URL
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if tb.Failed() {
			tb.Logf("the provider refused: %v", p.Refusals())
		}
	})
	return p
}

// NewProvider returns one that serves by ServeHTTP alone.
func NewProvider(o Options) *Provider {
	if o.Count == nil {
		o.Count = func(text string) int { return (len(text) + 3) / 4 }
	}
	return &Provider{options: o, cached: map[string]time.Time{}, thoughts: map[string]thought{}, thinkers: map[string]bool{},
		book: newBook()}
}

// Judge returns how a provider refuses a request's body, nil where it accepts it. Signatures, opaque strings and IDs of
// items that original has count as issued by the provider. The model may be told what to begin its answer with, and has
// system messages, whichever it is.
func Judge(api API, body, original []byte) error {
	name := gjson.GetBytes(body, "model").Str
	model := ModelOf(name)
	model.Prefill, model.InlineSystem = true, true
	p := NewProvider(Options{Models: map[string]Model{name: model}})
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	issued := gjson.ParseBytes(original)
	p.adoptThoughts(issued)
	p.book.adopt(issued)
	if _, refused := p.read(&Exchange{API: api, Header: header, Body: body}); refused != nil {
		return refused
	}
	return nil
}

// Exchanges returns all exchanges so far.
func (p *Provider) Exchanges() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.exchanges)
}

// Last returns the body of the newest request.
func (p *Provider) Last() string {
	all := p.Exchanges()
	return string(all[len(all)-1].Body)
}

// Refusals returns what rules and windows refused so far.
func (p *Provider) Refusals() (all []*Refusal) {
	for _, x := range p.Exchanges() {
		if x.Judged {
			all = append(all, x.Refusal)
		}
	}
	return all
}

// ServeHTTP answers a request.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	x := Exchange{Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	p.mu.Lock()
	x.N = len(p.exchanges) + 1
	answer := p.answer(r.URL.Path, &x)
	p.exchanges = append(p.exchanges, x)
	p.mu.Unlock()
	w.Header().Set("request-id", fmt.Sprintf("req_%024d", x.N))
	w.Header().Set("x-request-id", fmt.Sprintf("req_%024d", x.N))
	answer.write(w)
}

// readBody reads a body and decompresses it.
func readBody(r *http.Request) ([]byte, error) {
	var plain io.Reader = r.Body
	var err error
	switch r.Header.Get("Content-Encoding") {
	case "zstd":
		plain, err = zstd.NewReader(r.Body)
	case "gzip":
		plain, err = gzip.NewReader(r.Body)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a request's body: %w", err)
	}
	return io.ReadAll(plain)
}

// A reply is sent whole, or as a stream where it has events.
type reply struct {
	status int
	body   []byte
	events []serverEvent
}

// serverEvent is an event of a stream; its type goes into its data. Those of Chat Completions have no type, and the
// last has no data.
type serverEvent struct {
	kind string
	data object
}

type object = map[string]any

func (a reply) write(w http.ResponseWriter) {
	if a.events == nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range a.events {
		switch {
		case e.kind != "":
			e.data["type"] = e.kind
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.kind, encode(e.data))
		case e.data != nil:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", encode(e.data))
		default:
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// answer judges a request and answers it.
func (p *Provider) answer(path string, x *Exchange) reply {
	path, compact := strings.CutSuffix(path, "/compact")
	path, counts := strings.CutSuffix(path, "/count_tokens")
	path, sizes := strings.CutSuffix(path, "/input_tokens")
	x.Counting = counts || sizes
	switch {
	case path == "/" && x.Method != http.MethodPost: // clients look whether anybody is there
		return reply{status: http.StatusOK}
	case x.Method == http.MethodPost && strings.HasSuffix(path, "/v1/chat/completions"):
		x.API = Chat
	case x.Method == http.MethodPost && strings.HasSuffix(path, "/v1/messages"):
		x.API = Messages
	case x.Method == http.MethodPost && strings.HasSuffix(path, "/v1/responses") &&
		(!compact || p.options.Compaction == Compacts):
		x.API = Responses
	default:
		refused := &Refusal{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not found"}
		return x.refuse(refused, x.Method == http.MethodPost)
	}
	q, refused := p.read(x)
	if q != nil {
		x.Tokens = q.tokens()
		if !x.Counting {
			refused = q.checkWindow(x.API)
		}
	}
	if refused != nil {
		r := x.refuse(refused, true)
		if q != nil && q.stream && q.model.Overflow.streams() {
			r.events = p.failing(q, x)
		}
		return r
	}
	if p.options.Refuse != nil {
		if refused := p.options.Refuse(*x); refused != nil {
			return x.refuse(refused, false)
		}
	}
	if x.Counting {
		counted := object{"object": "response.input_tokens", "input_tokens": x.Tokens}
		return reply{status: http.StatusOK, body: encode(counted)}
	}
	x.Usage = p.account(q)
	q.compacts = q.compacts || compact
	parts := p.parts(q, *x)
	for _, part := range parts {
		x.Usage.Output += p.options.Count(part.text + part.name)
	}
	whole, events := p.say(q, x, parts)
	if q.stream {
		return reply{events: events}
	}
	return reply{status: http.StatusOK, body: encode(whole)}
}

// refuse notes a refusal and returns the reply that says so.
func (x *Exchange) refuse(r *Refusal, judged bool) reply {
	x.Refusal, x.Judged = r, judged
	return reply{status: r.Status, body: r.body(x.API)}
}

// read reads a request and holds it to the rules of its API. The request is nil where it broke one.
func (p *Provider) read(x *Exchange) (*request, *Refusal) {
	q := &request{body: gjson.ParseBytes(x.Body), header: x.Header, counting: x.Counting,
		scope: x.Header.Get("x-api-key") + strings.TrimPrefix(x.Header.Get("Authorization"), "Bearer ")}
	q.name = q.body.Get("model").Str
	q.model = p.modelOf(q.name)
	q.stream = q.body.Get("stream").Bool()
	switch {
	case p.options.Key != "" && q.scope != p.options.Key:
		return nil, &Refusal{Status: 401, Type: "authentication_error", Code: "invalid_api_key",
			Message: "invalid API key"}
	case !gjson.ValidBytes(x.Body):
		return nil, flaw("The request body is not valid JSON: %v", json.Unmarshal(x.Body, new(any)))
	case !q.body.IsObject():
		return nil, flaw("The request body is not an object")
	}
	if p.options.Adopts {
		p.adoptThoughts(q.body)
		p.book.adopt(q.body)
	}
	read := map[API]func(*request) *Refusal{Chat: p.readChat, Messages: p.readMessages, Responses: p.readResponses}
	if refused := read[x.API](q); refused != nil {
		return nil, refused
	}
	return q, nil
}

// A Refusal is an error in the words of an API.
type Refusal struct {
	Status  int
	Type    string
	Param   string // Responses alone
	Code    string // Responses alone
	Message string
	foreign string // the whole body, where a gateway words it
}

// Error returns the status and the message.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// TooLong reports whether the request exceeded the window.
func (r *Refusal) TooLong() bool {
	return r.Code == "context_length_exceeded" || strings.HasPrefix(r.Message, "prompt is too long")
}

// Overloaded returns the refusal of a provider that has too much to do.
func Overloaded() *Refusal {
	return &Refusal{Status: 503, Type: "overloaded_error", Code: "server_is_overloaded", Message: "Overloaded"}
}

// flaw refuses a request that breaks a rule.
func flaw(format string, args ...any) *Refusal {
	return &Refusal{Status: 400, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

// fields are the members of a Responses error.
func (r *Refusal) fields() object {
	all := object{"message": r.Message, "type": r.Type, "param": nil, "code": nil}
	if r.Param != "" {
		all["param"] = r.Param
	}
	if r.Code != "" {
		all["code"] = r.Code
	}
	return all
}

func (r *Refusal) body(api API) []byte {
	switch {
	case r.foreign != "":
		return []byte(r.foreign)
	case api == Messages:
		return encode(object{"type": "error", "error": object{"type": r.Type, "message": r.Message}})
	}
	return encode(object{"error": r.fields()})
}

// encode writes JSON with sorted keys and without the escapes of HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
