package messages

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/messages/rules"
)

// maxBytes is the most of a body where Options does not say.
const maxBytes = 32 << 20

// Options say what a Server is like. The zero value is a server that says "Done." and knows models by ModelOf.
type Options struct {
	Models    map[string]rules.Model // by name, before ModelOf
	Bytes     int                    // the most of a body; 0 for 32 MB
	Key       string                 // that requests must have, in x-api-key or as a bearer; "" for any
	Count     func(text string) int  // tokens of a text; nil for one in four bytes
	Otherwise func(Received) Turn    // answers when no turn is scripted
}

// A Server plays the Messages API. Its methods may be called from any goroutine.
type Server struct {
	*fakeapi.Stage[Turn, Received]
	options Options
	count   func(string) int

	mu         sync.Mutex // guards what follows
	cache      *rules.Cache
	thoughtful map[string]bool // ids of calls whose answer began with thinking
	answers    int
	calls      int
}

// Received is one request, as it arrived, and what was made of it.
type Received struct {
	N        int // from 1
	Method   string
	Target   string // with the query
	Header   http.Header
	Body     []byte
	Model    string
	Counting bool           // count_tokens
	Refusal  *rules.Refusal // also as an event of a stream; nil where it was answered
	Judged   bool           // the refusal is by a rule and not by a Turn
	Tokens   int            // of the input, 0 where it was refused before they were counted
	Usage    rules.Usage    // of the answer
	Dropped  int            // thinking blocks that the server left out
	Answered int            // how many requests were answered before
}

// New returns a server that listens nowhere.
func New(o Options) *Server {
	s := &Server{Stage: fakeapi.NewStage[Turn, Received](), options: o, count: o.Count,
		thoughtful: map[string]bool{}, cache: rules.NewCache()}
	if s.count == nil {
		s.count = rules.CountText
	}
	return s
}

// Start returns a server on a free port of 127.0.0.1, until Close.
func Start(o Options) (*Server, error) {
	s := New(o)
	if err := s.Open(s); err != nil {
		return nil, fmt.Errorf("cannot start a server of messages: %w", err)
	}
	return s, nil
}

// Advance moves the clock of the cache.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache.Advance(d)
}

// Refusals returns what was refused by a rule so far: of a proxy that does all things right it is empty but for what a
// client sends wrong itself, and for windows that nobody knew.
func (s *Server) Refusals() []*rules.Refusal {
	var all []*rules.Refusal
	for _, r := range s.Received() {
		if r.Judged {
			all = append(all, r.Refusal)
		}
	}
	return all
}

// Judge returns how a body with these headers is refused, nil where it is sound. Nothing is recorded, nothing cached.
func (s *Server) Judge(header http.Header, body []byte) *rules.Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.judge(header, body, false)
	return v.refused
}

// verdict is what is known of a request once it was judged.
type verdict struct {
	q         *rules.Request
	refused   *rules.Refusal
	thought   *rules.Walk
	positions []rules.Position
	tokens    int
}

// judge holds a body to all rules, in the order that the package doc tells. The lock is held.
func (s *Server) judge(header http.Header, body []byte, counting bool) verdict {
	if len(body) > cmp.Or(s.options.Bytes, maxBytes) {
		return verdict{refused: rules.Oversize()}
	}
	bearer := strings.TrimPrefix(header.Get("Authorization"), "Bearer ")
	if want := s.options.Key; want != "" && header.Get("x-api-key") != want && bearer != want {
		return verdict{refused: &rules.Refusal{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"}}
	}
	q, refused := rules.Read(header, body, counting, s.options.modelOf)
	v := verdict{q: q, refused: refused}
	if refused == nil {
		v.thought, v.refused = rules.Check(q, func(call string) bool { return s.thoughtful[call] })
	}
	if v.refused != nil {
		return v
	}
	v.positions = rules.Prompt(q, s.count)
	v.tokens = rules.Sum(v.positions)
	if !counting {
		v.refused = rules.CheckWindow(q, v.tokens)
	}
	return v
}

// modelOf is what the server does for a model.
func (o Options) modelOf(name string) rules.Model {
	if m, ok := o.Models[name]; ok {
		return m
	}
	return rules.ModelOf(name)
}

// nextCall is the id of the next call. The lock is held.
func (s *Server) nextCall() string {
	s.calls++
	return fmt.Sprintf("toolu_%022d", s.calls)
}

// Sign returns a request in which each thinking block is signed as if it had been thought where it stands, by the
// model that the request names; data of redacted_thinking likewise. Keys come out sorted. It is for conversations that
// were made up, or begun elsewhere.
func (s *Server) Sign(body []byte) ([]byte, error) {
	signed, calls, err := rules.Sign(body, s.options.modelOf, s.count)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range calls {
		s.thoughtful[call] = true
	}
	return signed, err
}
