package responses

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/responses/rules"
)

// maxBytes is the most of a body where Options does not say.
const maxBytes = 50 << 20

// Options say what a Server is like. The zero value is a server that says "Done." and knows models by ModelOf.
type Options struct {
	Models    map[string]rules.Model // by name, before ModelOf
	Bytes     int                    // the most of a body; 0 for 50 MB
	Key       string                 // that requests must have as a bearer; "" for any
	Count     func(text string) int  // tokens of a text; nil for one in four bytes
	Otherwise func(Received) Turn    // answers when no turn is scripted
}

// A Server plays the Responses API. Its methods may be called from any goroutine.
type Server struct {
	*fakeapi.Stage[Turn, Received]
	options Options
	count   func(string) int

	mu            sync.Mutex // guards what follows
	cache         *rules.Cache
	book          *rules.Book
	speaker       speaker
	kept          map[string]*answer // by id
	answers       int
	conversations int
}

// Received is one request, as it arrived, and what was made of it.
type Received struct {
	N        int // from 1
	Method   string
	Target   string // with the query
	Header   http.Header
	Body     []byte // decompressed
	Model    string
	Purpose  rules.Purpose
	Refusal  *rules.Refusal // also as an event of a stream; nil where it was answered
	Judged   bool           // the refusal is by a rule and not by a Turn
	Tokens   int            // of the input, 0 where it was refused before they were counted
	Usage    rules.Usage    // of the answer
	Answered int            // how many requests were answered before
}

// New returns a server that listens nowhere.
func New(o Options) *Server {
	s := &Server{Stage: fakeapi.NewStage[Turn, Received](), options: o, count: o.Count,
		cache: rules.NewCache(), book: rules.NewBook(), kept: map[string]*answer{}}
	if s.count == nil {
		s.count = rules.CountText
	}
	s.speaker.count = s.count
	return s
}

// Start returns a server on a free port of 127.0.0.1, until Close.
func Start(o Options) (*Server, error) {
	s := New(o)
	if err := s.Open(s); err != nil {
		return nil, fmt.Errorf("cannot start a server of responses: %w", err)
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
	return s.judge(header, body, rules.Answer).refused
}

// Adopt takes for issued what a body has of opaque strings and ids, and the response that it goes on from. It is for
// conversations that were made up, or begun elsewhere.
func (s *Server) Adopt(body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused := s.book.Adopt(body); refused != nil {
		return fmt.Errorf("cannot adopt a request: %w", refused)
	}
	return nil
}

// verdict is what is known of a request once it was judged.
type verdict struct {
	q         *rules.Request
	refused   *rules.Refusal
	positions []rules.Position // nil where they were not counted
	tokens    int
}

// judge holds a body to all rules, in the order that the package doc tells. The lock is held.
func (s *Server) judge(header http.Header, body []byte, purpose rules.Purpose) verdict {
	if len(body) > cmp.Or(s.options.Bytes, maxBytes) {
		return verdict{refused: rules.Oversize()}
	}
	if want := s.options.Key; want != "" && strings.TrimPrefix(header.Get("Authorization"), "Bearer ") != want {
		return verdict{refused: rules.BadKey()}
	}
	q, refused := rules.Read(header, body, purpose, s.options.modelOf)
	v := verdict{q: q, refused: refused}
	if refused != nil {
		return v
	}
	for _, check := range []func() *rules.Refusal{
		func() *rules.Refusal { return s.book.Expand(q) },
		func() *rules.Refusal { return rules.CheckPairs(q.Items) },
		func() *rules.Refusal { return s.book.Check(q) },
	} {
		if v.refused = check(); v.refused != nil {
			return v
		}
	}
	v.positions = rules.Prompt(q, rules.Counter{Text: s.count, Opaque: rules.Tokens})
	v.tokens = rules.Sum(v.positions)
	if purpose != rules.Count {
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
