package strict

import (
	"fmt"
	"net/http"
	"time"

	"epitome/internal/fakeapi/responses/rules"
)

// Responses is a server of that API, for one conversation. It is used by one goroutine at a time.
type Responses struct {
	count  rules.Counter
	cache  *rules.Cache
	book   *rules.Book // of the whole conversation; nothing is written to it
	before time.Time   // of the request before
	forget bool        // entries die, by the times of requests
}

// NewResponses returns a server that has seen nothing, and has issued all that a conversation's last request has of ids
// and of what is sealed.
func NewResponses(last []byte, count func(text string) int, forget bool) (*Responses, error) {
	s := &Responses{count: rules.Counter{Text: count, Opaque: func(string) int { return 0 }},
		cache: rules.NewCache(), book: rules.NewBook(), forget: forget}
	if refused := s.book.Adopt(last); refused != nil {
		return nil, fmt.Errorf("cannot read a conversation: %w", refused)
	}
	return s, nil
}

// Clone returns a server that has seen the same, and goes its own way from here on.
func (s *Responses) Clone() Judge {
	other := *s
	other.cache = s.cache.Clone()
	return &other
}

// Take takes a request that was made at some time; zero if nobody knows. An error says why it is refused; it is
// accounted all the same, as far as it can be read.
func (s *Responses) Take(body []byte, at time.Time) (u Usage, err error) {
	if s.forget && !at.IsZero() && !s.before.IsZero() && at.After(s.before) {
		s.cache.Advance(at.Sub(s.before))
	}
	if !at.IsZero() {
		s.before = at
	}
	q, refused := rules.Read(http.Header{}, body, rules.Answer, rules.ModelOf)
	if refused != nil {
		return u, refused
	}
	spent := s.cache.Account(q, rules.Prompt(q, s.count))
	u = Usage{New: spent.Input - spent.Cached - spent.Written, Read: spent.Cached, Written: spent.Written}
	if refused = s.book.Expand(q); refused == nil {
		refused = rules.CheckPairs(q.Items)
	}
	if refused == nil {
		refused = s.book.Check(q)
	}
	if refused != nil {
		return u, refused
	}
	return u, nil
}

// Hear hears an answer: nothing hangs on it.
func (s *Responses) Hear(...[]byte) error { return nil }
